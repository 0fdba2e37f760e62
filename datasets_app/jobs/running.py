"""A claimed job, and the heart that tells the others that its worker lives."""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import getpid
from typing import Any

from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from datasets_app.core.progress import OperationCanceled
from datasets_app.models import JobRun

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0


class ClaimLost(Exception):
    """Another worker has taken this job over; whatever this one did must be rolled back."""


class RunningJob:
    """A claimed job: what its task may know of it, and how it tells how far it is."""

    def __init__(self, row: JobRun) -> None:
        self.row = row
        self.actor = row.actor
        self.attempt = row.attempt
        self.done, self.total = 0, row.total
        self.cancelled = self.lost = False

    def report_progress(self, done: int, total: int | None = None) -> None:
        """Costs next to nothing: the heart writes it down. Raises if the job is to stop."""
        self.done, self.total = done, total
        if self.lost:
            raise ClaimLost
        if self.cancelled:
            raise OperationCanceled

    def mine(self) -> Any:
        return JobRun.objects.filter(pk=self.row.pk, attempt=self.attempt, state="running")

    def send_heartbeat(self) -> None:
        row = self.mine()
        if not row.update(heartbeat_at=Now(), done=self.done, total=self.total):
            self.lost = True
        elif row.filter(cancel_requested=True).exists():
            self.cancelled = True

    def finish(self, state: str, **fields: Any) -> None:
        fields.setdefault("done", self.done)
        if not self.mine().update(state=state, finished_at=timezone.now(), **fields):
            raise ClaimLost


def worker_name() -> str:
    return f"{socket.gethostname()}:{getpid()}"


@contextmanager
def run_heartbeat(job: RunningJob) -> Iterator[None]:
    """A thread with a connection of its own beats, however long a single step takes."""
    stop = threading.Event()

    def heart() -> None:
        while not stop.wait(HEARTBEAT_SECONDS):
            try:
                job.send_heartbeat()
            except Exception as error:
                # Whatever it was, the next beat may do; a heart that stopped would cost the job.
                log.warning("job %s: a heartbeat was lost (%s)", job.row.pk, type(error).__name__)
                with suppress(Exception):
                    connection.close()
        connection.close()

    thread = threading.Thread(target=heart, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
