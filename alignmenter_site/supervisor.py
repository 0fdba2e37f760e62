"""Everything that `make run` starts in the foreground of one terminal, and stops with it.

Each child leads a process group of its own: Ctrl-C reaches the supervisor alone, which ends the
children in good order, and what a child has started can be ended with it. A watchdog, a fork that
does nothing but read a pipe, does the same if the supervisor itself is killed.
"""

import errno
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn

from alignmenter_site.port_holder import find_port_holder

GRACE_SECONDS = 10.0
TICK_SECONDS = 0.1
MIN_RESTART_DELAY_SECONDS, MAX_RESTART_DELAY_SECONDS = 0.5, 30.0
# A child that ran this long had no trouble starting.
STABLE_AFTER_SECONDS = 30.0
MAX_FAILED_STARTS = 3
# The option of `manage.py run` that prepares nothing, and supervises.
SUPERVISE = "--supervise"


class SupervisorError(RuntimeError):
    """Nothing can be started; the message says what to do."""


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @classmethod
    def from_environment(cls) -> "Address":
        # Not HOST: shells and conda export that one with a meaning of their own.
        host = os.environ.get("ALIGNMENTER_HOST") or "127.0.0.1"
        port = os.environ.get("PORT") or "8000"
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise SupervisorError(f"PORT must be a number from 1 to 65535, got {port}: PORT=8001 make run")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def reachable(self) -> "Address":
        """The URL for a browser on this machine."""
        this_machine = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # binds to nothing # nosec B104
        return Address(this_machine.get(self.host, self.host), self.port)

    def check_free(self) -> None:
        try:
            family, kind, *_, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
        except socket.gaierror:
            raise SupervisorError(
                f"ALIGNMENTER_HOST {self.host} isn't an address of this machine: "
                "ALIGNMENTER_HOST=127.0.0.1 make run"
            ) from None
        except OSError as error:
            raise SupervisorError(self._describe_bind_error(error)) from None

    def _describe_bind_error(self, error: OSError) -> str:
        other = self.port + 1 if self.port < 65535 else 8001
        if error.errno == errno.EADDRINUSE:
            holder = find_port_holder(self.port)
            who = holder.describe() if holder else "by another program"
            return f"Port {self.port} is taken {who}. Or use another port: PORT={other} make run"
        if error.errno == errno.EACCES:
            return f"Port {self.port} is for root alone. Use one from 1024 on: PORT=8000 make run"
        return (
            f"The web server cannot listen on {self}: {error.strerror}. "
            "Try ALIGNMENTER_HOST=127.0.0.1 make run"
        )

    def answers(self) -> bool:
        """Whether a web server answers, with any HTTP status."""
        connection = http.client.HTTPConnection(self.reachable.host, self.port, timeout=2)
        try:
            connection.request("HEAD", "/")
            connection.getresponse()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return True


@dataclass
class Child:
    """`ready` makes it one without which the rest is of no use: if it keeps failing before it is
    ready, everything ends; when it is ready for the first time, `greeting` is printed."""

    name: str
    command: Sequence[str]
    ready: Callable[[], bool] | None = None
    greeting: str = ""
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)
    restart_at: float = field(default=0.0, init=False)
    is_ready: bool = field(default=False, init=False)
    was_ready: bool = field(default=False, init=False)
    restarts: int = field(default=0, init=False)  # since it last ran for long
    failed_starts: int = field(default=0, init=False)

    def pause(self) -> float:
        return min(MIN_RESTART_DELAY_SECONDS * 2.0**self.restarts, MAX_RESTART_DELAY_SECONDS)


def build_children(project: Path, address: Address, scratch: Path) -> list[Child]:
    """The web server; two workers and the scheduler, which share the memory of what they import."""
    manage = [sys.executable, str(project / "manage.py")]
    web = [sys.executable, "-m", "gunicorn", "alignmenter_site.wsgi:application", "--chdir", str(project)]
    web += ["--bind", str(address), "--workers", "2", "--worker-class", "gthread", "--threads", "4"]
    # Imported once, so that both workers share the memory of it.
    web += ["--preload", "--config", "python:alignmenter_site.gunicorn_settings"]
    # By default, gunicorn would create a folder in the home directory.
    web += ["--no-control-socket", "--worker-tmp-dir", str(scratch), "--log-level", "warning"]
    greeting = f"Alignmenter Datasets is at http://{address.reachable}/ (Ctrl-C stops it)"
    return [
        Child("web server", web, ready=address.answers, greeting=greeting),
        Child("workers", [*manage, "worker", "--processes", "2", "--scheduler"]),
    ]


def become_supervisor(project: Path, scratch: Path, kept: Iterable[int]) -> NoReturn:
    """Replace this process by one that supervises and has imported nothing for it, which takes 90 MB less.

    Descriptors in ``kept`` stay open: locks that are held for as long as the application runs.
    """
    for descriptor in kept:
        os.set_inheritable(descriptor, True)
    os.execv(sys.executable, [sys.executable, str(project / "manage.py"), "run", SUPERVISE, str(scratch)])


def main(scratch: str) -> int:
    """The program that :func:`become_supervisor` starts."""
    project = Path(__file__).resolve().parent.parent
    return supervise(build_children(project, Address.from_environment(), Path(scratch)))


def supervise(children: Sequence[Child]) -> int:
    """Run the children until Ctrl-C or SIGTERM (the answer is 0), or until an indispensable one cannot
    be started (1). Call it from a main thread."""
    return Supervisor(children).run()


class Supervisor:
    def __init__(self, children: Sequence[Child]) -> None:
        self.children = children
        self.stop_requests = 0
        self.watchdog = Watchdog()

    def run(self) -> int:
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self._request_stop) for number in signals}
        try:
            succeeded = self._watch()
        finally:
            self._stop_all()
            self.watchdog.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        print_message("Stopped.")
        return 0 if succeeded else 1

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requests += 1

    def _watch(self) -> bool:
        while not self.stop_requests:
            self.watchdog.ensure()
            for child in self.children:
                if child.process is None:
                    if time.monotonic() >= child.restart_at:
                        self._start(child)
                elif child.process.poll() is not None:
                    if not self._handle_exit(child):
                        return False
                elif child.ready and not child.is_ready and child.ready():
                    child.is_ready = child.was_ready = True
                    print_message(child.greeting)
            time.sleep(TICK_SECONDS)
        return True

    def _start(self, child: Child) -> None:
        # The children of a terminal's background may not read from it.
        child.process = subprocess.Popen(child.command, stdin=subprocess.DEVNULL, process_group=0)
        child.started_at = time.monotonic()
        self.watchdog.add(child.process.pid)

    def _handle_exit(self, child: Child) -> bool:
        """Schedule a restart; False if it would be of no use."""
        assert child.process is not None
        code = child.process.returncode
        ending = describe_exit(code)
        self._kill_group(child)
        settled = time.monotonic() - child.started_at > STABLE_AFTER_SECONDS
        child.restarts = 0 if settled else child.restarts + 1
        # One that was killed, or was ready once, can start; one that ended by itself before may never.
        could_start = child.is_ready or child.was_ready or code < 0
        child.failed_starts = 0 if could_start else child.failed_starts + 1
        if child.ready and child.failed_starts >= MAX_FAILED_STARTS:
            print_message(
                f"The {child.name} {ending}, {MAX_FAILED_STARTS} times in a row; its own message is above."
            )
            return False
        print_message(f"The {child.name} {ending}; it is started again in {child.pause():g} s.")
        if child.is_ready:
            child.greeting = f"The {child.name} is back."
        child.is_ready = False
        child.restart_at = time.monotonic() + child.pause()
        return True

    def _kill_group(self, child: Child) -> None:
        """Its children must not outlive it: old web workers would keep the port."""
        assert child.process is not None
        signal_group(child.process.pid, signal.SIGKILL)
        self.watchdog.remove(child.process.pid)
        child.process = None

    def _stop_all(self) -> None:
        running = [child for child in self.children if child.process is not None]
        self.stop_requests = 0  # from here on, another one means: at once
        stop_process_groups([child.process.pid for child in running if child.process], self._have_all_exited)
        for child in running:
            assert child.process is not None
            child.process.wait()
            self._kill_group(child)

    def _have_all_exited(self) -> bool:
        return self.stop_requests > 0 or all(
            child.process is None or child.process.poll() is not None for child in self.children
        )


def stop_process_groups(groups: Iterable[int], have_all_exited: Callable[[], bool]) -> None:
    """Stop the leaders of process groups cleanly, then kill what remains of the groups."""
    groups = list(groups)
    for leader in groups:
        with suppress(ProcessLookupError):
            os.kill(leader, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while not have_all_exited() and time.monotonic() < deadline:
        time.sleep(0.05)
    # A worker's job runs in a group of its own, which is found only as long as the worker lives.
    for pid in find_descendants(groups):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for leader in groups:
        signal_group(leader, signal.SIGKILL)


def signal_group(leader: int, number: int) -> None:
    # PermissionError is how macOS says that there are only zombies left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def find_descendants(ancestors: Iterable[int]) -> set[int]:
    """Their descendants, except those in another session, which are meant to stay."""
    session = os.getsid(0)
    below, found = set(ancestors), set[int]()
    while below:
        below = {pid for pid, parent in _list_parents() if parent in below} - found
        found |= below
    return {pid for pid in found if _get_session_id(pid) == session}


def _list_parents() -> list[tuple[int, int]]:
    """The parent of each process."""
    try:
        shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
        return [(int(pid), int(parent)) for pid, parent in (line.split() for line in shown.splitlines())]
    except FileNotFoundError:  # a slim Linux image
        return [
            (int(path.name), _read_parent(path)) for path in Path("/proc").iterdir() if path.name.isdecimal()
        ]


def _read_parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _get_session_id(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def describe_exit(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def print_message(message: str) -> None:
    # Writing to a closed terminal fails, but must not leave children behind.
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)


class Watchdog:
    """A forked process that ends the children if this one goes without ending them itself."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self._start()

    def _start(self) -> None:
        reading, self.writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.writing)
            self._watch(os.fdopen(reading, "rb"))
        os.close(reading)

    def ensure(self) -> None:
        """Start another one if this one is dead; the fork knows the groups there are by then."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            print_message(
                f"The watchdog {describe_exit(os.waitstatus_to_exitcode(status))}; starting another one."
            )
            os.close(self.writing)
            self._start()

    def add(self, group: int) -> None:
        self.groups.add(group)
        self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        self.groups.discard(group)
        self._tell(f"-{group}\n")

    def _tell(self, change: str) -> None:
        with suppress(BrokenPipeError):  # it is dead: `ensure` starts another one
            os.write(self.writing, change.encode())

    def close(self) -> None:
        os.close(self.writing)
        os.waitpid(self.pid, 0)

    def _watch(self, changes: BinaryIO) -> NoReturn:
        try:
            os.setpgid(0, 0)  # out of reach of Ctrl-C
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            groups = self.groups
            for change in changes:
                group = int(change[1:])
                groups.add(group) if change.startswith(b"+") else groups.discard(group)
            if groups:
                stop_process_groups(groups, lambda: not any(_get_session_id(group) for group in groups))
        finally:
            os._exit(0)
