"""Queues jobs again whose worker is gone, or that the queue has lost."""

import logging
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from datasets_app.jobs import queue, runs
from datasets_app.jobs.registry import describe_saved_work
from datasets_app.jobs.running import announce_failure, worker_name
from datasets_app.models import JobRun
from datasets_app.models.job_run import HEARTBEAT_TIMEOUT

log = logging.getLogger(__name__)

# A job that keeps crashing its worker must not do so forever.
MAX_ATTEMPTS = 20
# How long the queue may take to hand over a job before recovery looks for its message.
HANDOVER_TIMEOUT = timedelta(seconds=10)


def recover_jobs() -> int:
    """Queue lost jobs again; returns their number. Safe to run anywhere, at any time."""
    silent = JobRun.objects.filter(state="running", heartbeat_at__lt=Now() - HEARTBEAT_TIMEOUT)
    waiting = JobRun.objects.filter(state="queued", queued_at__lt=Now() - HANDOVER_TIMEOUT)
    return sum([*map(_recover_running, silent), *map(_resend_queued, waiting)])


def _recover_running(row: JobRun) -> int:
    now, saved = timezone.now(), describe_saved_work(row.operation)
    same = JobRun.objects.filter(pk=row.pk, state="running", heartbeat_at=row.heartbeat_at)
    if row.cancel_requested:
        return same.update(state="cancelled", finished_at=now)
    if row.foreground:
        return same.update(
            state="failed", finished_at=now, error=f"The command was interrupted; {saved}. Run it again."
        )
    if row.attempt - row.attempts_before >= MAX_ATTEMPTS:
        return _give_up(
            row,
            same,
            error=f"Its worker stopped {MAX_ATTEMPTS} times without an error message; {saved}. "
            "Check the worker's log and memory, then retry.",
        )
    if not same.update(state="queued", queued_at=now):
        return 0
    log.warning("job %s: worker %s is gone, queued again", row.pk, row.worker)
    row.queued_at = now
    runs.send_to_queue(row)
    return 1


def _give_up(row: JobRun, same: Any, error: str) -> int:
    with transaction.atomic():
        failed: int = same.update(state="failed", finished_at=timezone.now(), error=error)
        if failed:
            announce_failure(row)
    return failed


def give_back(job_run_id: int, process: int) -> bool:
    """Queue a job again that ``process`` of this machine performs, because its worker is told to stop.

    The process loses its claim by that, so it can save nothing any more. Doesn't count as an attempt.
    """
    now = timezone.now()
    row = JobRun.objects.filter(pk=job_run_id, state="running", worker=worker_name(process))
    if row.filter(cancel_requested=True).update(state="cancelled", finished_at=now):
        return True
    if not row.update(state="queued", queued_at=now, attempts_before=F("attempts_before") + 1):
        return False
    log.info("job %s: given back, because its worker stops", job_run_id)
    runs.send_to_queue(JobRun.objects.get(pk=job_run_id))
    return True


def _resend_queued(row: JobRun) -> int:
    try:
        if queue.is_queued(runs.message_id(row)):
            return 0
    except queue.QueueUnreachable:
        return 0
    # Popped but never claimed, or forgotten by a restarted queue.
    now = timezone.now()
    if not JobRun.objects.filter(pk=row.pk, state="queued", queued_at=row.queued_at).update(queued_at=now):
        return 0
    row.queued_at = now
    runs.send_to_queue(row)
    return 1
