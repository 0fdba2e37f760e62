"""Rows of jobs, as pages, commands and the scheduler create, queue, cancel and retry them.

The row is the truth about a job, the queue only carries its number.
"""

import json
import logging
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import lock_person
from datasets_app.jobs import queue
from datasets_app.jobs.approvals import request_approval
from datasets_app.jobs.parameters import JobParameters, NoParameters
from datasets_app.jobs.registry import approval_permission, sensitive_permission
from datasets_app.models import Dataset, JobRun

log = logging.getLogger(__name__)

# Started by other jobs and pages: a scrub has a part for each worker, an import a search.
FOLLOW_UP_OPERATIONS = ("scrub_part", "scan_text")


def create_job(
    operation: str,
    *,
    actor: Any,
    dataset: Dataset | None = None,
    dataset_name: str = "",
    parameters: JobParameters = NoParameters(),  # noqa: B008  (frozen)
) -> JobRun:
    """A new row, not yet queued: attach files to it, then call :func:`enqueue_job`."""
    job_run = _build_job(operation, actor, dataset, dataset_name, parameters)
    job_run.save()
    return job_run


def _build_job(
    operation: str, actor: Any, dataset: Dataset | None, dataset_name: str, parameters: JobParameters
) -> JobRun:
    return JobRun(
        operation=operation,
        actor=actor,
        dataset=dataset,
        dataset_name=dataset.name if dataset else dataset_name,
        parameters=parameters.as_json(),
        source_address=audit.current_address(),
        api_token=audit.current_token(),
    )


def enqueue_job(job_run: JobRun) -> None:
    """Put a prepared job on the queue once the transaction is committed, or have it wait for a second
    person's approval. Safe to call twice."""
    if settings.FOUR_EYES:
        job_run.refresh_from_db(fields=["parameters", "actor"])
    waits = bool(approval_permission(job_run))
    job_run.state, job_run.queued_at = "approval" if waits else "queued", timezone.now()
    changed = JobRun.objects.filter(pk=job_run.pk, state="prepared").update(
        state=job_run.state, queued_at=job_run.queued_at, decided_by=None, decided_at=None
    )
    if changed and waits:
        request_approval(job_run)
    elif changed:
        transaction.on_commit(lambda: send_to_queue(job_run))


def start_job(
    operation: str,
    *,
    actor: Any,
    dataset: Dataset | None = None,
    dataset_name: str = "",
    parameters: JobParameters = NoParameters(),  # noqa: B008  (frozen)
) -> JobRun:
    """Create a job and queue it. If ``actor`` starts the same again before it has ended, it is the same job.

    Raises UserError if too many jobs of ``actor`` haven't ended.
    """
    job_run = _build_job(operation, actor, dataset, dataset_name, parameters)
    with transaction.atomic():
        if actor is not None:
            lock_person(actor)
            if identical := _find_identical_job(job_run, parameters):
                return identical
        _refuse_too_many_jobs(actor)
        job_run.save()
        enqueue_job(job_run)
    return job_run


def start_follow_up(operation: str, **details: Any) -> JobRun:
    """Create a job that another one calls for, and queue it: it counts toward no one's limit, and several may
    do the same."""
    job_run = create_job(operation, **details)
    enqueue_job(job_run)
    return job_run


def request_text_scan(dataset: Dataset, *, actor: Any) -> None:
    """Have new text searched at once, as it leaves and is read only after that."""
    waiting = JobRun.objects.filter(operation="scan_text", dataset=dataset, state="queued")
    if not waiting.exists():
        start_follow_up("scan_text", actor=actor, dataset=dataset)


def request_text_scan_of(name: str, *, actor: Any) -> None:
    """:func:`request_text_scan` by name, for what may not have made the dataset."""
    if dataset := Dataset.objects.filter(name=name).first():
        request_text_scan(dataset, actor=actor)


def start_prepared_job(job_run: JobRun, *, actor: Any) -> None:
    """Put a prepared job on the queue. Raises UserError if too many jobs of ``actor`` haven't ended."""
    with transaction.atomic():
        _refuse_too_many_jobs(actor)
        enqueue_job(job_run)


def _find_identical_job(job_run: JobRun, parameters: JobParameters) -> JobRun | None:
    """A job of the same person that does the same and hasn't ended."""
    wanted = json.loads(json.dumps(job_run.parameters))
    active: Iterable[JobRun] = JobRun.objects.active().filter(
        operation=job_run.operation,
        actor=job_run.actor,
        dataset=job_run.dataset,
        dataset_name=job_run.dataset_name,
        foreground=False,
        cancel_requested=False,
    )
    for job in active:
        if {name: job.parameters[name] for name in job.parameters.keys() - parameters.PROGRESS} == wanted:
            return job
    return None


def _refuse_too_many_jobs(actor: Any) -> None:
    if actor is None:
        return
    lock_person(actor)
    active = JobRun.objects.active().filter(actor=actor, foreground=False)
    active = active.exclude(operation__in=FOLLOW_UP_OPERATIONS)
    if active.count() >= settings.MAX_ACTIVE_JOBS:
        raise UserError(
            f"{settings.MAX_ACTIVE_JOBS} of your jobs are running or waiting, so this one can't start. Wait "
            "until one has ended, or cancel one."
        )


def request_cancellation(job_run: JobRun, *, actor: Any) -> None:
    """A waiting job ends at once, a running one at its next step."""
    with transaction.atomic():
        unfinished = JobRun.objects.filter(pk=job_run.pk, state__in=["approval", "queued", "running"])
        if unfinished.update(cancel_requested=True):
            audit.record("cancel_job", actor=actor, dataset_name=job_run.dataset_name, job_run=job_run.pk)
        unfinished.filter(state__in=["approval", "queued"]).update(
            state="cancelled", finished_at=timezone.now()
        )


def reset_for_retry(job_run: JobRun, *, actor: Any) -> bool:
    """Reset a job to its state before it was queued: it can be changed, and queued again.

    Returns False unless it failed or was canceled. Jobs of commands can't be reset.
    """
    # Nobody overrides, signs or deletes in the name of somebody else. The permissions of a deleted account
    # can't be checked.
    owner = actor if sensitive_permission(job_run) else job_run.actor or actor
    origin = {"source_address": audit.current_address(), "api_token": audit.current_token()}
    requested = origin if owner == actor else {}
    with transaction.atomic():
        # ``attempt`` only ever grows: a worker of an earlier attempt must never pass for a later one.
        again = JobRun.objects.filter(
            pk=job_run.pk, state__in=["failed", "cancelled"], foreground=False
        ).update(
            state="prepared",
            attempts_before=F("attempt"),
            cancel_requested=False,
            error="",
            result=None,
            done=0,
            total=None,
            finished_at=None,
            heartbeat_at=None,
            actor=owner,
            **requested,
        )
        if again:
            audit.record("retry_job", actor=actor, dataset_name=job_run.dataset_name, job_run=job_run.pk)
    return bool(again)


def retry_job(job_run: JobRun, *, actor: Any) -> bool:
    """Queue a failed or canceled job again. Returns False if it is in another state. Raises UserError if too
    many jobs of ``actor`` haven't ended."""
    with transaction.atomic():
        again = reset_for_retry(job_run, actor=actor)
        if again:
            start_prepared_job(job_run, actor=actor)
    return again


def send_to_queue(job_run: JobRun) -> None:
    """Send the number to the queue. If that fails the row waits, and ``recovery`` sends it later."""
    try:
        queue.send_message(job_run.pk, message_id(job_run))
    except queue.QueueUnreachable as error:
        log.warning("job %s waits: the queue can't be reached (%s)", job_run.pk, error)


def message_id(job_run: JobRun) -> str:
    return f"job-run-{job_run.pk}-{job_run.queued_at:%Y%m%dT%H%M%S%f}"
