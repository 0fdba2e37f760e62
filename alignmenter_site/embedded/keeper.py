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
from .places import OTHER_SERVERS, Places
from .postgres import Postgres
from .server import Server, append_to, bound, note
from .valkey import Valkey

TICK_SECONDS = 0.3
IDLE_SECONDS = 2.0
# As long as the one before it may take to stop its servers.
TAKEOVER_SECONDS = 120.0


def main(var: Path) -> None:
    os.umask(0o077)
    places = Places.under(var)
    lock = locks.attempt_for(places.run / "keeper.lock", TAKEOVER_SECONDS)
    if lock is None:
        sys.exit(
            f"another one holds {places.run}/keeper.lock and does not answer; its process id is in there."
        )
    listener = _listen(places)
    if os.fork():
        os._exit(0)  # whoever started us may go on: the keeper listens
    with suppress(OSError):  # a full disk is told of when a server is asked for
        os.truncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    _redirect_output(places.log / "keeper.log")
    Keeper(places, listener).run()


def _listen(places: Places) -> socket.socket:
    places.keeper_socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(places.keeper_socket))
    listener.listen(64)
    return listener


def _redirect_output(log: Path) -> None:
    descriptor = append_to(log)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)


class Keeper:
    def __init__(self, places: Places, listener: socket.socket) -> None:
        self.places = places
        self.listener = listener
        self.servers: dict[str, Server] = {"postgres": Postgres(places), "valkey": Valkey(places)}
        self.last_use = time.monotonic()
        self.stopping = False
        self.failed = False
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._stop_soon)

    def _stop_soon(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def run(self) -> None:
        while not self.stopping:
            if select.select([self.listener], [], [], TICK_SECONDS)[0]:
                self._answer()
            if not self.places.users_lock.exists():
                self._abandon()
                return
            if self.failed:
                self._leave()
                return
            for server in self.servers.values():
                server.revive()
            for log in self.places.log.glob("*.log"):
                bound(log)
            if (unused := self._lock_if_unused()) is not None:
                self._stop()
                os.close(unused)
                return
        self._stop()

    def _lock_if_unused(self) -> int | None:
        """The users' lock, once nobody has held it for a while. Newcomers wait until it is closed."""
        lock = locks.attempt(self.places.users_lock)
        if lock is None:
            self.last_use = time.monotonic()
        elif time.monotonic() - self.last_use < IDLE_SECONDS:
            os.close(lock)
            return None
        return lock

    def _stop(self) -> None:
        """Also the servers that an earlier keeper started and nobody has asked this one for."""
        self._leave()
        for server in self.servers.values():
            server.stop()
        if self.places.sockets != self.places.run:
            shutil.rmtree(self.places.sockets, ignore_errors=True)

    def _abandon(self) -> None:
        """The whole directory was deleted: there is nothing to save, and perhaps a new one already."""
        for server in self.servers.values():
            server.abandon()

    def _leave(self) -> None:
        self.listener.close()
        self.places.keeper_socket.unlink(missing_ok=True)

    def _answer(self) -> None:
        self.last_use = time.monotonic()
        connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(5)
            try:
                name = connection.recv(100).decode().strip()
                connection.sendall(json.dumps(self._ensure(name)).encode())
            except OSError as error:
                note(self.places.log / "keeper.log", f"a client went away: {error}")

    def _ensure(self, name: str) -> dict[str, object]:
        server = self.servers[name]
        # One that can start nothing makes way for another, which may have a better environment.
        self.failed = not any(other.wanted for other in self.servers.values())
        try:
            server.ensure()
        except EmbeddedServiceError as error:
            return {"error": str(error)}
        except OSError as error:
            return {"error": f"{server.label} did not start: {_remedy(error)}"}
        self.failed = False
        return {"notices": server.take_notices()}


def _remedy(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return f"No space left on device for {error.filename or 'the files of the server'}: make room there."
    return f"{error}; set ALIGNMENTER_VAR_DIR to another directory, {OTHER_SERVERS}."
