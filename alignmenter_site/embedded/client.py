"""Gets a service: holds the users' lock, and asks the keeper."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from . import locks
from .errors import EmbeddedServiceError
from .places import PROJECT_DIR, ServicePaths

# Longer than a server's own time limit: recovering from a crash may take PostgreSQL minutes.
ANSWER_TIMEOUT_SECONDS = 360.0
KEEPER_START_TIMEOUT_SECONDS = 150.0

_mutex = threading.Lock()
_users_locks: dict[Path, int] = {}
_ensured_services: set[tuple[Path, str]] = set()


def _reset_mutex() -> None:
    # Another thread may have held it. The users' lock itself is shared with the parent, as it should be.
    global _mutex
    _mutex = threading.Lock()


os.register_at_fork(after_in_child=_reset_mutex)


def ensure_service(service: str, var_dir: Path, *, recheck: bool) -> None:
    if (var_dir, service) in _ensured_services and not recheck:
        return
    with _mutex:
        places = ServicePaths.from_var_dir(var_dir)
        places.make()
        if places.var not in _users_locks:
            # Waits for a keeper that is just stopping the servers.
            _users_locks[places.var] = locks.acquire_shared(places.users_lock)
        for notice in _request_service(places, service):
            print(f"alignmenter: {notice}", file=sys.stderr)
        _ensured_services.add((var_dir, service))


def held_locks() -> list[int]:
    """The descriptors by which this process keeps the servers running."""
    return list(_users_locks.values())


def _request_service(places: ServicePaths, service: str) -> list[str]:
    # First of all: nobody else's sockets are to be spoken to.
    notices = [notice for notice in [places.create_socket_directory()] if notice]
    answer = _ask_keeper(places, service)
    if answer is None:
        with locks.hold(places.run / "start.lock"):
            answer = _ask_keeper(places, service)
            if answer is None:
                _start_keeper(places)
                answer = _ask_keeper(places, service)
    if answer is None:
        raise EmbeddedServiceError(
            f"The embedded servers' keeper ended at once: see {places.log}/keeper.log."
        )
    if error := answer.get("error"):
        raise EmbeddedServiceError(str(error))
    return notices + [str(notice) for notice in answer["notices"]]


def _ask_keeper(places: ServicePaths, service: str) -> dict[str, list[str]] | None:
    """The keeper's answer; None if there is no keeper, or one that is just ending."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_TIMEOUT_SECONDS)
        try:
            connection.connect(str(places.keeper_socket))
            connection.sendall(service.encode() + b"\n")
            with connection.makefile("rb") as stream:
                reply = stream.read()
        except (FileNotFoundError, PermissionError, ConnectionError):
            return None
        except TimeoutError:
            raise EmbeddedServiceError(
                f"The embedded servers' keeper has not answered for {ANSWER_TIMEOUT_SECONDS:.0f} s: "
                f"see {places.log}/keeper.log."
            ) from None
    return dict(json.loads(reply)) if reply else None


def _start_keeper(places: ServicePaths) -> None:
    """The process started here ends as soon as its fork, the keeper, listens."""
    path = os.pathsep.join(filter(None, [str(PROJECT_DIR), os.environ.get("PYTHONPATH")]))
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
            timeout=KEEPER_START_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise EmbeddedServiceError(f"The embedded servers' keeper did not start: see {places.log}.") from None
    if starting.returncode != 0:
        reason = (starting.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedServiceError(f"The embedded servers' keeper did not start: {reason}")
