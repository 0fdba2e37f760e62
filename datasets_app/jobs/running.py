"""A claimed job, and the heartbeat that shows that its worker is alive."""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from os import getpid
from typing import Any, Generic, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models.functions import Now

from datasets_app.core import outgoing
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled, ProgressCallback, ignore_progress
from datasets_app.jobs.parameters import OverridableParameters, P, read_parameters
from datasets_app.models import Dataset, JobRun

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
_QUIET_OPERATIONS = ("scrub_part", "deliver_events")
R = TypeVar("R")


class ClaimLost(Exception):
    """Another worker has taken over this job; the changes of this one must be rolled back."""


class RunningJob(Generic[P]):
    """A claimed job: its row and parameters, and the progress callback of its operation."""

    def __init__(
        self, row: JobRun, parameters_type: type[P], show_progress: ProgressCallback = ignore_progress
    ) -> None:
        self.row, self._parameters_type = row, parameters_type
        self.actor = row.actor
        self.attempt = row.attempt
        self.done, self.total = 0, row.total
        self.cancelled = self.lost = False
        self._show_progress = show_progress

    @cached_property
    def parameters(self) -> P:
        """Raises :class:`UserError` if they can't be read."""
        return read_parameters(self.row, self._parameters_type)

    def update_parameters(self, **fields: Any) -> None:
        """Store fields of the parameters that are known only once the job runs."""
        self.row.parameters = self.row.parameters | fields
        self.row.save(update_fields=["parameters"])

    @property
    def dataset(self) -> Dataset:
        if self.row.dataset is None:
            raise UserError("The dataset was deleted, so this job can't run.")
        return self.row.dataset

    @property
    def override(self) -> str:
        """The reason to override a policy. It is ignored if its author's account was deleted, because the
        permission can't be checked again."""
        stated = self.parameters.override if isinstance(self.parameters, OverridableParameters) else None
        return (stated or "") if self.row.actor or self.row.foreground else ""

    @property
    def endpoint_actor(self) -> Any:
        """Who may call which endpoint: None is a command. A person whose account was deleted isn't one."""
        return self.actor or (None if self.row.foreground else AnonymousUser())

    def report_progress(self, done: int, total: int | None = None) -> None:
        """Cheap: the heartbeat thread persists it. Raises if the job is to stop."""
        self.done, self.total = done, total
        if self.lost:
            raise ClaimLost
        if self.cancelled:
            raise OperationCanceled
        self._show_progress(done, total)

    def own_row(self) -> Any:
        return JobRun.objects.filter(pk=self.row.pk, attempt=self.attempt, state="running")

    def send_heartbeat(self) -> None:
        row = self.own_row()
        if not row.update(heartbeat_at=Now(), done=self.done, total=self.total):
            self.lost = True
        elif row.filter(cancel_requested=True).exists():
            self.cancelled = True


def announce_failure(row: JobRun) -> None:
    """A command says itself that it failed, and a scrub says it for its parts."""
    if row.foreground or row.operation in _QUIET_OPERATIONS:
        return
    outgoing.emit(
        outgoing.Kind.JOB_FAILED,
        dataset=Dataset.objects.filter(job_runs=row).first(),
        dataset_name=row.dataset_name,
        recipients=[row.actor],
        job=row.pk,
        operation=row.operation,
    )


def worker_name(process: int | None = None) -> str:
    """Of this process, or of another one of this machine."""
    return f"{socket.gethostname()}:{process or getpid()}"


@contextmanager
def run_heartbeat(job: RunningJob[Any]) -> Iterator[None]:
    """A thread with its own connection sends heartbeats, however long a single step takes."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(HEARTBEAT_SECONDS):
            try:
                job.send_heartbeat()
            except Exception as error:
                # The next heartbeat may succeed; a thread that ended here would cost the job.
                log.warning("job %s: a heartbeat failed (%s)", job.row.pk, type(error).__name__)
                with suppress(Exception):
                    connection.close()
        connection.close()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
