"""The common part of both servers: a life cycle that survives the death of any process.

The server inherits a locked descriptor, so the lock is held for as long as any process of it lives.
That, not a process id in a file, tells whether it runs: a process id may have gone to another.
"""

import os
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from . import locks
from .errors import EmbeddedServiceError
from .places import ServicePaths

# A server replaying its log after a crash may take minutes, and is alive.
START_TIMEOUT_SECONDS = 300.0
GREETING_TIMEOUT_SECONDS = 5.0
STOP_TIMEOUT_SECONDS = 100.0
KILL_TIMEOUT_SECONDS = 10.0
RESTART_DELAY_SECONDS = 1.0
MAX_LOG_BYTES = 5_000_000


def open_for_append(log: Path) -> int:
    return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def write_log_line(log: Path, message: str) -> None:
    with suppress(OSError), open(open_for_append(log), "w", encoding="utf-8") as stream:
        stream.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {message}\n")


def rotate_log(log: Path) -> None:
    """Keep one older log. Writers append, so that a log can be emptied under them."""
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.with_suffix(".log.1").write_bytes(log.read_bytes()[-MAX_LOG_BYTES:])
        os.truncate(log, 0)


class Server(ABC):
    name = ""
    label = ""
    stop_signal = signal.SIGTERM
    last_signal = signal.SIGKILL
    # What a client says first, and last.
    greeting, goodbye = b"", b""

    def __init__(self, places: ServicePaths) -> None:
        self.places = places
        self.lock = places.run / f"{self.name}.lock"
        self.log = places.log / f"{self.name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.wanted = False
        self.started_at = 0.0
        self.notices: list[str] = []

    @property
    @abstractmethod
    def pid_file(self) -> Path:
        """Written by the server, removed when it stops cleanly."""

    @property
    @abstractmethod
    def socket_path(self) -> Path: ...

    @property
    def socket_files(self) -> list[Path]:
        return [self.socket_path]

    @abstractmethod
    def prepare(self, lock: int) -> None:
        """Create what the server needs, while no process of it is alive."""

    @abstractmethod
    def command(self) -> list[str]: ...

    def become(self) -> Callable[[], None] | None:
        """Runs in the forked child before the command."""
        return None

    @abstractmethod
    def is_ready_greeting(self, reply: bytes) -> bool:
        """Whether this is the answer of a server that is ready."""

    def _try_greeting(self) -> bytes:
        """The server's answer to a client; empty if it doesn't listen."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(GREETING_TIMEOUT_SECONDS)
                connection.connect(str(self.socket_path))
                connection.sendall(self.greeting)
                reply = connection.recv(1000)
                connection.sendall(self.goodbye)
                return reply
        except OSError:
            return b""

    def _is_ready(self) -> bool:
        return self.is_ready_greeting(self._try_greeting())

    def ensure(self) -> None:
        lock = self._lock_unless_ready()
        if lock is not None:
            if self.wanted:
                self._report(f"{self.label} had ended unexpectedly and was started again.")
            self._start(lock)
        self.wanted = True

    def restart_if_dead(self) -> None:
        """Restart it if it died while it is needed."""
        if self.process is not None:
            self.process.poll()  # else it would stay a zombie
        if not self.wanted or time.monotonic() - self.started_at < RESTART_DELAY_SECONDS:
            return
        lock = locks.try_acquire(self.lock)
        if lock is None:
            return
        self._report(f"{self.label} ended unexpectedly and was started again.")
        try:
            self._start(lock)
        except (EmbeddedServiceError, OSError) as error:
            # Not again and again: the next process that asks is told the reason.
            self.wanted = False
            self._report(f"{self.label} did not start again: {error}")

    def pop_notices(self) -> list[str]:
        taken, self.notices = self.notices, []
        return taken

    def _report(self, message: str) -> None:
        write_log_line(self.places.log / "keeper.log", message)
        self.notices = [*self.notices[-4:], message]

    def _lock_unless_ready(self) -> int | None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while (lock := locks.try_acquire(self.lock)) is None:
            if self._is_ready():
                return None
            if time.monotonic() > deadline:
                raise EmbeddedServiceError(
                    f"{self.label} runs but has not answered for "
                    f"{START_TIMEOUT_SECONDS:.0f} s: see {self.log}."
                )
            time.sleep(0.03)
        return lock

    def _start(self, lock: int) -> None:
        log = open_for_append(self.log)
        begin = os.fstat(log).st_size
        self.started_at = time.monotonic()
        try:
            self.prepare(lock)
            self._remove_stale_files()
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=clean_environment(),
                preexec_fn=self.become(),
                pass_fds=[lock],
            )
        finally:
            os.close(lock)
            os.close(log)
        self._wait_until_ready(begin)

    def _remove_stale_files(self) -> None:
        """Remove the pid file of a killed server: the number may belong to another process now."""
        if self.pid_file.exists() and not self.wanted:
            self._report(f"{self.label} was not stopped properly the last time; it recovers by itself.")
        for path in [self.pid_file, *self.socket_files]:
            path.unlink(missing_ok=True)

    def _wait_until_ready(self, begin: int) -> None:
        assert self.process is not None
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None:
                raise EmbeddedServiceError(
                    f"{self.label} did not start: {self._read_failure_reason(begin)} (see {self.log})"
                )
            if time.monotonic() > deadline:
                raise EmbeddedServiceError(
                    f"{self.label} did not come up within {START_TIMEOUT_SECONDS:.0f} s: see {self.log}."
                )
            time.sleep(0.02)

    def _read_failure_reason(self, begin: int) -> str:
        with self.log.open(encoding="utf-8", errors="replace") as stream:
            stream.seek(begin)
            return extract_failure_reason(stream.read())

    def stop(self) -> None:
        """Stop it cleanly, or kill it."""
        self.wanted = False
        for sign, seconds in (
            (self.stop_signal, STOP_TIMEOUT_SECONDS),
            (self.last_signal, KILL_TIMEOUT_SECONDS),
        ):
            self._send_signal(sign)
            lock = locks.acquire_within(self.lock, seconds)
            if self.process is not None:
                self.process.poll()
            if lock is not None:
                os.close(lock)
                return
        write_log_line(self.places.log / "keeper.log", f"{self.label} could not be stopped.")

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.last_signal)
            self.process.wait()

    def _send_signal(self, sign: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(sign)
        elif self._try_greeting() and (pid := read_pid(self.pid_file)):
            # A keeper started it that has been killed since. As it replies, the number is its own.
            os.kill(pid, sign)


def clean_environment() -> dict[str, str]:
    """Without variables of the user's own servers (PGDATA, PGPORT …)."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def extract_failure_reason(output: str) -> str:
    """The most informative line."""
    if "No space left on device" in output or "free disk space" in output:
        return "No space left on device: make room there"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for word in ("FATAL:", "error:", "ERROR:"):
        for line in lines:
            if word in line:
                return line[line.index(word) :]
    return lines[-1] if lines else "it said nothing"


def read_pid(path: Path) -> int | None:
    try:
        return int(path.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
