"""The keeper: a small process of its own session that is the parent of the servers.

If it is killed, the servers go on, and the next process that needs one starts a keeper that takes
them over.
"""

import errno
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from . import locks
from .errors import EmbeddedServiceError
from .places import OTHER_SERVERS_HINT, ServicePaths
from .postgres import Postgres
from .server import Server, open_for_append, rotate_log, write_log_line
from .valkey import Valkey

TICK_SECONDS = 0.3
IDLE_TIMEOUT_SECONDS = 2.0
# As long as the one before it may take to stop its servers.
TAKEOVER_TIMEOUT_SECONDS = 120.0


def main(var: Path) -> None:
    os.umask(0o077)
    places = ServicePaths.from_var_dir(var)
    lock = locks.acquire_within(places.run / "keeper.lock", TAKEOVER_TIMEOUT_SECONDS)
    if lock is None:
        sys.exit(
            f"another one holds {places.run}/keeper.lock and does not answer; its process id is in there."
        )
    listener = _open_listener(places)
    if os.fork():
        os._exit(0)  # the process that started us can continue: the keeper listens
    with suppress(OSError):  # a full disk is reported when a server is requested
        os.truncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    _redirect_output(places.log / "keeper.log")
    Keeper(places, listener).run()


def _open_listener(places: ServicePaths) -> socket.socket:
    places.keeper_socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(places.keeper_socket))
    listener.listen(64)
    return listener


def _redirect_output(log: Path) -> None:
    descriptor = open_for_append(log)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)


class Keeper:
    def __init__(self, places: ServicePaths, listener: socket.socket) -> None:
        self.places = places
        self.listener = listener
        self.servers: dict[str, Server] = {"postgres": Postgres(places), "valkey": Valkey(places)}
        self.last_used_at = time.monotonic()
        self.stopping = False
        self.failed = False
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._request_stop)

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def run(self) -> None:
        while not self.stopping:
            if select.select([self.listener], [], [], TICK_SECONDS)[0]:
                self._handle_request()
            if not self.places.users_lock.exists():
                self._abandon_servers()
                return
            if self.failed:
                self._close_listener()
                return
            for server in self.servers.values():
                server.restart_if_dead()
            for log in self.places.log.glob("*.log"):
                rotate_log(log)
            if (unused := self._lock_if_unused()) is not None:
                self._stop_servers()
                os.close(unused)
                return
        self._stop_servers()

    def _lock_if_unused(self) -> int | None:
        """The users' lock, once nobody has held it for a while. Newcomers wait until it is closed."""
        lock = locks.try_acquire(self.places.users_lock)
        if lock is None:
            self.last_used_at = time.monotonic()
        elif time.monotonic() - self.last_used_at < IDLE_TIMEOUT_SECONDS:
            os.close(lock)
            return None
        return lock

    def _stop_servers(self) -> None:
        """Also includes servers that an earlier keeper started and nobody has requested since."""
        self._close_listener()
        for server in self.servers.values():
            server.stop()
        if self.places.sockets != self.places.run:
            shutil.rmtree(self.places.sockets, ignore_errors=True)

    def _abandon_servers(self) -> None:
        """The whole directory was deleted: nothing can be saved, and a new one may exist already."""
        for server in self.servers.values():
            server.kill()

    def _close_listener(self) -> None:
        self.listener.close()
        self.places.keeper_socket.unlink(missing_ok=True)

    def _handle_request(self) -> None:
        self.last_used_at = time.monotonic()
        connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(5)
            try:
                name = connection.recv(100).decode().strip()
                connection.sendall(json.dumps(self._ensure_server(name)).encode())
            except OSError as error:
                write_log_line(self.places.log / "keeper.log", f"a client went away: {error}")

    def _ensure_server(self, name: str) -> dict[str, object]:
        server = self.servers[name]
        # One that can start nothing makes way for another, which may have a better environment.
        self.failed = not any(other.wanted for other in self.servers.values())
        try:
            server.ensure()
        except EmbeddedServiceError as error:
            return {"error": str(error)}
        except OSError as error:
            return {"error": f"{server.label} did not start: {_describe_os_error(error)}"}
        self.failed = False
        return {"notices": server.pop_notices()}


def _describe_os_error(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return f"No space left on device for {error.filename or 'the files of the server'}: make room there."
    return f"{error}; set ALIGNMENTER_VAR_DIR to another directory, {OTHER_SERVERS_HINT}."
