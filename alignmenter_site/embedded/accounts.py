"""The account under which PostgreSQL runs. It refuses to run as root, so root needs another one.

No account is created, and nothing outside the service's own directory changes its owner or its
permissions. If the plain unprivileged account cannot reach the files, because the project or `var/`
lies in a directory closed to others (`/root`, say), it is lent what it needs to get there, and no more.
"""

import ctypes
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedServiceError
from .places import OTHER_SERVERS_HINT

CLONE_NEWUSER = 0x10000000
PR_SET_KEEPCAPS, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 8, 28, 38
SECBIT_NO_SETUID_FIXUP = 4
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
LINUX_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Account:
    """`become` is called in the forked child, just before it runs the program."""

    label: str
    uid: int  # the owner of its files, as seen from here
    gid: int
    become: Callable[[], None]


def choose_account(
    trial: Sequence[str | Path], directories: list[Path], preferred_uid: int | None
) -> Account:
    """The first account that can run the trial and write to the directories, which become its own.

    The trial is a command that makes the same checks as what is run later, and changes nothing.

    Files that are there already stay with their owner as long as that works.
    """
    candidates = sorted(_candidate_accounts(), key=lambda account: account.uid != preferred_uid)
    obstacles = []
    for account in candidates:
        obstacle = _find_obstacle(account, trial, directories)
        if obstacle is None:
            return account
        obstacles.append(f"{account.label}: {obstacle}")
    raise EmbeddedServiceError(
        "PostgreSQL does not run as root, and no other way to run it works here "
        f"({'; '.join(obstacles) or 'there is no unprivileged account'}): run this as an ordinary user, "
        f"move the project or ALIGNMENTER_VAR_DIR to where every user may go, {OTHER_SERVERS_HINT}."
    )


def _candidate_accounts() -> Iterator[Account]:
    uid, gid = os.geteuid(), os.getegid()
    if uid != 0:
        yield Account("this user", uid, gid, lambda: None)
        return
    nobody = _unprivileged_user()
    if nobody is None:
        return
    user, group = nobody.pw_uid, nobody.pw_gid
    yield Account(nobody.pw_name, user, group, lambda: _drop_privileges(user, group))
    # The weakest loan first: passing through and reading; then root's own files, without root's
    # powers; then writing anywhere, for containers that allow nothing else.
    yield Account(
        f"{nobody.pw_name} with CAP_DAC_READ_SEARCH",
        user,
        group,
        lambda: _drop_privileges(user, group, CAP_DAC_READ_SEARCH),
    )
    yield Account("a user namespace", uid, gid, lambda: _enter_user_namespace(user, group))
    yield Account(
        f"{nobody.pw_name} with CAP_DAC_OVERRIDE",
        user,
        group,
        lambda: _drop_privileges(user, group, CAP_DAC_OVERRIDE),
    )


def _unprivileged_user() -> pwd.struct_passwd | None:
    for name in ("nobody", "daemon"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return entry
    return None


def _find_obstacle(account: Account, trial: Sequence[str | Path], directories: list[Path]) -> str | None:
    def enter() -> None:
        account.become()
        if os.geteuid() == 0:
            raise PermissionError("still root")
        for directory in directories:
            probe = directory / ".probe"
            probe.touch(0o600)
            probe.unlink()

    try:
        for directory in directories:
            _chown_tree(directory, account)
        subprocess.run(
            trial,
            preexec_fn=report_child_errors(enter),
            env={},
            cwd="/",
            check=True,
            capture_output=True,
            text=True,
        )
    except OSError as error:
        return error.strerror or str(error)
    except subprocess.CalledProcessError as error:
        return str((error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1])
    return None


def report_child_errors(child_setup: Callable[[], None]) -> Callable[[], None]:
    """Write errors between fork and exec, which subprocess hides, to the child's stderr."""

    def wrapped() -> None:
        try:
            child_setup()
        except BaseException as error:
            os.write(2, f"{error}\n".encode())
            os._exit(126)

    return wrapped


def _chown_tree(directory: Path, account: Account) -> None:
    """Give the account one of our directories with its contents."""
    found = directory.lstat()
    if found.st_uid == account.uid:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{directory} isn't a directory")
    for parent, directories, files in os.walk(directory):
        for name in directories + files:
            os.chown(os.path.join(parent, name), account.uid, account.gid, follow_symlinks=False)
    os.chown(directory, account.uid, account.gid, follow_symlinks=False)


def _check_result(result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _prctl(option: int, *arguments: int) -> None:
    padded = [*arguments, 0, 0, 0, 0][:4]
    _check_result(_libc.prctl(option, *(ctypes.c_ulong(argument) for argument in padded)))


def _drop_privileges(uid: int, gid: int, capability: int | None = None) -> None:
    """Become that user permanently, keeping at most one capability."""
    if capability is not None:
        _prctl(PR_SET_KEEPCAPS, 1)
        # Otherwise access(2), by which initdb looks for postgres, ignores the capability.
        with suppress(OSError):  # a container may forbid it
            _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if capability is not None:
        _keep_capability(capability)
    if sys.platform == "linux":
        _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _keep_capability(capability: int) -> None:
    mask = 1 << capability
    header = (ctypes.c_uint32 * 2)(LINUX_CAPABILITY_VERSION_3, 0)
    # effective, permitted, inheritable; then the same again for capabilities from 32 on
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    _check_result(_libc.capset(header, sets))
    # An ambient capability is the kind that survives exec.
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def _enter_user_namespace(uid: int, gid: int) -> None:
    """Appear as `uid` in a separate namespace, without any of root's capabilities."""
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    _check_result(_libc.unshare(CLONE_NEWUSER))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{gid} {outside_gid} 1")
    Path("/proc/self/uid_map").write_text(f"{uid} {outside_uid} 1")
    # What was gained in the namespace is lost by exec, because nobody is root there.
    os.setgid(gid)
    os.setuid(uid)
