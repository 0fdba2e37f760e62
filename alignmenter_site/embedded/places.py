"""Where the embedded services keep their files, and who can read them."""

import errno
import hashlib
import os
import pwd
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedServiceError

PROJECT_DIR = Path(__file__).resolve().parents[2]
MAX_SOCKET_PATH_BYTES = 103  # macOS allows 104 bytes with the closing zero, Linux 108
REFERENCE_SOCKET_NAME = "postgres/.s.PGSQL.5432.lock"
# Fixed, because every process has to arrive at the same place whatever its TMPDIR says.
FALLBACK_SOCKET_DIR = Path("/tmp")  # a private folder is made in it # nosec B108
OTHER_SERVERS_HINT = "or use servers of your own: set DATABASE_URL and REDIS_URL"


def describe_user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


@dataclass(frozen=True)
class ServicePaths:
    var: Path

    @classmethod
    def from_var_dir(cls, var_dir: Path) -> "ServicePaths":
        return cls(Path(os.path.realpath(var_dir)))

    @property
    def run(self) -> Path:
        return self.var / "run"

    @property
    def log(self) -> Path:
        return self.var / "log"

    @property
    def postgres(self) -> Path:
        return self.var / "postgres"

    @property
    def valkey(self) -> Path:
        return self.var / "valkey"

    @property
    def sockets(self) -> Path:
        """`var/run`, unless no socket could be addressed there."""
        path = self.run / REFERENCE_SOCKET_NAME
        # libpq takes a comma in a host for a list of hosts.
        if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES and "," not in str(path):
            return self.run
        digest = hashlib.sha256(os.fsencode(self.var)).hexdigest()[:16]
        return FALLBACK_SOCKET_DIR / f"alignmenter-{os.geteuid()}-{digest}"

    @property
    def postgres_sockets(self) -> Path:
        return self.sockets / "postgres"

    @property
    def postgres_socket(self) -> Path:
        return self.postgres_sockets / ".s.PGSQL.5432"

    @property
    def valkey_socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def keeper_socket(self) -> Path:
        return self.sockets / "keeper.sock"

    @property
    def users_lock(self) -> Path:
        return self.run / "users.lock"

    def make(self) -> None:
        """Create missing directories; change no existing one."""
        try:
            self.var.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                _create_directory(self.var, _directory_mode())
            ensure_private_directory(self.run, _directory_mode())
            ensure_private_directory(self.log)
            for directory in (self.run, self.log):
                if not os.access(directory, os.W_OK):
                    raise PermissionError(errno.EACCES, f"no permission to write to {directory}")
        except OSError as error:
            raise EmbeddedServiceError(
                f"{self.var} cannot be used by {describe_user(os.geteuid())} ({error.strerror}): "
                f"set ALIGNMENTER_VAR_DIR to a directory of yours, {OTHER_SERVERS_HINT}."
            ) from error

    def create_socket_directory(self) -> str | None:
        """Make the directory of the sockets; the answer says so if it is not where one would look."""
        if self.sockets == self.run:
            return None
        news = not self.sockets.exists()
        ensure_private_directory(self.sockets, _directory_mode())
        if not news:
            return None
        return f"{self.run} is too long or unusual a path for sockets, so they are in {self.sockets}."


def _directory_mode() -> int:
    """PostgreSQL runs under another account when root starts it, and has to get through to its own
    directory; for anyone else there is nothing to see, and nothing to list even then."""
    return 0o711 if os.geteuid() == 0 else 0o700


def _create_directory(path: Path, mode: int) -> None:
    path.mkdir(mode)
    path.chmod(mode)  # whatever the umask took away


def ensure_private_directory(path: Path, mode: int = 0o700) -> None:
    """Make a directory, or make sure that the one there is ours and that only we can write to it."""
    try:
        _create_directory(path, mode)
        return
    except FileExistsError:
        found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise EmbeddedServiceError(
            f"{path} is in the way: it isn't a directory. Move it, {OTHER_SERVERS_HINT}."
        )
    if found.st_uid != os.geteuid():
        raise EmbeddedServiceError(
            f"{path} belongs to {describe_user(found.st_uid)}, this "
            f"is {describe_user(os.geteuid())}: run it as "
            f"{describe_user(found.st_uid)}, set ALIGNMENTER_VAR_DIR "
            f"to another directory, {OTHER_SERVERS_HINT}."
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise EmbeddedServiceError(f"{path} can be written to by others: chmod go-w {path}")
