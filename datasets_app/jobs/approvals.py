"""Jobs that wait for a second person: who may approve them, the decision and the expiry."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from datasets_app.core import audit, outgoing
from datasets_app.core.errors import UserError
from datasets_app.jobs.registry import approval_permission
from datasets_app.models import AuditEvent, JobRun

# Events after which a dataset has more, or something else, than the approver could know of. Labels are left
# out: people add them all the time, and an export searches them.
_CHANGES = Q(
    action__in=(
        "import", "generate", "sample", "edit_dataset", "change_origin", "tag_sessions", "include_sessions",
    )
) | Q(action="import_annotations", details__sessions_added__gt=0)  # fmt: skip
# They name what they add, or what they erase.
_OF_NO_DATASET_STATE = ("import_dataset", "erase_session")


def can_decide(user: Any, job: JobRun) -> bool:
    """Whether ``user`` is a second person with the permission; callers check that the job is visible."""
    return job.state == JobRun.State.APPROVAL and _may_approve(user, job)


def _may_approve(user: Any, job: JobRun) -> bool:
    if job.actor is None or _is_same_person(user, job.actor):
        return False
    permission = approval_permission(job)
    return bool(permission) and user.is_active and user.has_perm(permission)


def _is_same_person(one: Any, other: Any) -> bool:
    """Also somebody with two accounts, as far as their e-mail address tells."""
    return bool(one.pk == other.pk or (one.email and _read_mailbox(one) == _read_mailbox(other)))


def _read_mailbox(user: Any) -> str:
    """Where mail to the account arrives: ann+two@example.org is Ann's, too."""
    name, at, host = user.email.strip().casefold().partition("@")
    return f"{name.partition('+')[0]}{at}{host}"


def list_waiting(user: Any) -> list[JobRun]:
    """The jobs that wait for approval and are visible to ``user``, oldest first."""
    jobs = JobRun.objects.visible_to(user).filter(state=JobRun.State.APPROVAL)
    return list(jobs.select_related("actor", "dataset").order_by("queued_at"))


def request_approval(job: JobRun) -> None:
    """Record that a job waits, and tell those who can approve it."""
    _record("request_approval", job, job.actor)
    outgoing.emit(
        outgoing.Kind.APPROVAL_REQUESTED,
        dataset=job.dataset,
        dataset_name=job.dataset_name,
        job=job.pk,
        operation=job.operation,
    )


def require_approval(job: JobRun) -> None:
    """Raises UserError if a job that starts now needs a second person's approval and has none, if that person
    couldn't give it any more, or if the dataset has changed since they were asked."""
    if not approval_permission(job):
        return
    if job.decided_by is None or not _may_approve(job.decided_by, job):
        raise UserError("A second person has to approve this job. Retry it to request that again.")
    if job.dataset is None or job.operation in _OF_NO_DATASET_STATE:
        return
    events = AuditEvent.objects.filter(dataset_name=job.dataset.name)
    requested = events.filter(action="request_approval", details__job_run=job.pk).order_by("-id").first()
    if requested is None or events.filter(_CHANGES, at__gt=requested.at).exists():
        raise UserError(f"{job.dataset.name} has changed since the request. Retry to request it again.")


def approve(job: JobRun, *, actor: Any) -> JobRun:
    """Let the job run. Raises UserError; returns the job, to be sent to the queue after the commit."""
    decided = _decide(job, actor, "approve_request", state=JobRun.State.QUEUED)
    decided.queued_at = timezone.now()
    decided.save(update_fields=["queued_at"])
    return decided


def decline(job: JobRun, *, actor: Any) -> None:
    """End the job without running it. Raises UserError."""
    _decide(
        job,
        actor,
        "decline_request",
        state=JobRun.State.CANCELLED,
        error=f"{actor.get_username()} declined this request.",
        finished_at=timezone.now(),
    )


def expire_requests() -> int:
    """Cancel the jobs that nobody has decided in time; returns how many."""
    count, oldest = 0, timezone.now() - timedelta(days=settings.APPROVAL_DAYS)
    for job in JobRun.objects.filter(state=JobRun.State.APPROVAL, queued_at__lt=oldest):
        with transaction.atomic():
            expired = JobRun.objects.filter(pk=job.pk, state=JobRun.State.APPROVAL).update(
                state=JobRun.State.CANCELLED,
                finished_at=timezone.now(),
                error=f"Nobody approved this request within {settings.APPROVAL_DAYS} days. Request it again.",
            )
            if expired:
                _record("expire_request", job, None)
                count += 1
    return count


def _decide(job: JobRun, actor: Any, action: str, **fields: Any) -> JobRun:
    with transaction.atomic():
        row: JobRun = JobRun.objects.select_for_update(of=("self",)).get(pk=job.pk)
        if not can_decide(actor, row):
            raise UserError(
                "This request can't be decided: it was decided or withdrawn already, it is your own, or you "
                "don't have the permission."
            )
        if row.expires_at and row.expires_at < timezone.now():
            raise UserError("This request has expired; it has to be made again.")
        for name, value in {**fields, "decided_by": actor, "decided_at": timezone.now()}.items():
            setattr(row, name, value)
        row.save(update_fields=[*fields, "decided_by", "decided_at"])
        _record(action, row, actor, requested_by=row.actor_name)
    return row


def _record(action: str, job: JobRun, actor: Any, **details: Any) -> None:
    described = {"job_run": job.pk, "operation": job.operation}
    audit.record(action, actor=actor, dataset_name=job.dataset_name, **described, **details)
