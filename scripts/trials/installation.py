"""An installation of its own, with its own folder, servers and port."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import requests

PROJECT = Path(__file__).resolve().parents[2]
READY_SECONDS = 600.0  # on a busy machine
STOP_SECONDS = 60.0


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.2)


class Installation:
    """`manage.py run` in ``folder``, and Django of this process on the same database."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.var = folder, folder / "var"
        self.port = find_free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] = (folder / "run.log").open("ab")
        # What stops this process stops the installation, too.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        folder.chmod(0o711)  # as root, the account of the embedded PostgreSQL has to pass
        for name in ("DATABASE_URL", "REDIS_URL", "ALIGNMENTER_OWNER_DATABASE_URL", "ALIGNMENTER_STORAGE"):
            os.environ.pop(name, None)
        os.environ.update(
            {
                "ALIGNMENTER_VAR_DIR": str(self.var),
                "ALIGNMENTER_HTTPS": "off",
                "ALIGNMENTER_MIN_FREE_BYTES": "0",
                "LOG_LEVEL": "WARNING",
                "PORT": str(self.port),
                "DJANGO_SETTINGS_MODULE": "alignmenter_site.settings",
                **settings,
            }
        )

    def start(self) -> None:
        """Returns once pages are served. Waits for the end of a killed one: its watchdog ends the rest."""
        if self.process is not None:
            self.process.wait(STOP_SECONDS)
        wait_until(lambda: not self._is_port_taken(), STOP_SECONDS, "the port becomes free")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "run"],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        wait_until(self.is_ready, READY_SECONDS, f"the application starts (see {self.log.name})")

    def is_ready(self) -> bool:
        with suppress(requests.RequestException):
            return requests.get(f"{self.address}/readyz?checks=database,migrations", timeout=5).ok
        return False

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(STOP_SECONDS)

    def _is_port_taken(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def set_up_django() -> None:
    """In this process, which then uses the installation's servers."""
    import django

    django.setup()


def wait_for_jobs(seconds: float) -> None:
    """Until no job waits or runs. Raises TimeoutError."""
    from datasets_app.models import JobRun

    wait_until(
        lambda: not retry_while_down(lambda: JobRun.objects.active().exists()), seconds, "all jobs end"
    )


def retry_while_down(function: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What ``function`` returns, called again as long as the database is away. Raises its last error."""
    from django.db import InterfaceError, OperationalError, connection

    from alignmenter_site.embedded import EmbeddedServiceError

    deadline = time.monotonic() + seconds
    while True:
        try:
            return function()
        except (OperationalError, InterfaceError, EmbeddedServiceError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)
