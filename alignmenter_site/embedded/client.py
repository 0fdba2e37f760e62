"""What a process does to get a service: hold the users' lock, and ask the keeper."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from . import locks
from .errors import EmbeddedServiceError
from .places import PROJECT, Places

# Longer than a server's own time limit: recovering from a crash may take PostgreSQL minutes.
ANSWER_SECONDS = 360.0
KEEPER_SECONDS = 150.0

_mutex = threading.Lock()
_users_locks: dict[Path, int] = {}
_ensured: set[tuple[Path, str]] = set()


def _after_fork() -> None:
    # Another thread may have held it. The users' lock itself is shared with the parent, as it should be.
    global _mutex
    _mutex = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def ensure(service: str, var_dir: Path, *, again: bool) -> None:
    if (var_dir, service) in _ensured and not again:
        return
    with _mutex:
        places = Places.under(var_dir)
        places.make()
        if places.var not in _users_locks:
            # Waits for a keeper that is just stopping the servers.
            _users_locks[places.var] = locks.share(places.users_lock)
        for notice in _request(places, service):
            print(f"alignmenter: {notice}", file=sys.stderr)
        _ensured.add((var_dir, service))


def _request(places: Places, service: str) -> list[str]:
    # First of all: nobody else's sockets are to be spoken to.
    notices = [notice for notice in [places.make_sockets()] if notice]
    answer = _ask(places, service)
    if answer is None:
        with locks.held(places.run / "start.lock"):
            answer = _ask(places, service)
            if answer is None:
                _start_keeper(places)
                answer = _ask(places, service)
    if answer is None:
        raise EmbeddedServiceError(
            f"The embedded servers' keeper ended at once: see {places.log}/keeper.log."
        )
    if error := answer.get("error"):
        raise EmbeddedServiceError(str(error))
    return notices + [str(notice) for notice in answer["notices"]]


def _ask(places: Places, service: str) -> dict[str, list[str]] | None:
    """The keeper's answer; None if there is no keeper, or one that is just ending."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_SECONDS)
        try:
            connection.connect(str(places.keeper_socket))
            connection.sendall(service.encode() + b"\n")
            with connection.makefile("rb") as stream:
                reply = stream.read()
        except (FileNotFoundError, PermissionError, ConnectionError):
            return None
        except TimeoutError:
            raise EmbeddedServiceError(
                f"The embedded servers' keeper has not answered for {ANSWER_SECONDS:.0f} s: "
                f"see {places.log}/keeper.log."
            ) from None
    return dict(json.loads(reply)) if reply else None


def _start_keeper(places: Places) -> None:
    """The process started here ends as soon as its fork, the keeper, listens."""
    path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")]))
    try:
        starting = subprocess.run(
            [sys.executable, "-m", "alignmenter_site.embedded", str(places.var)],
            cwd="/",
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            timeout=KEEPER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise EmbeddedServiceError(f"The embedded servers' keeper did not start: see {places.log}.") from None
    if starting.returncode != 0:
        reason = (starting.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedServiceError(f"The embedded servers' keeper did not start: {reason}")
