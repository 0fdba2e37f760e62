"""Who may start, retry and cancel a job: checked by pages, and again when a worker starts.

Hours may pass between the two: meanwhile an account may be deactivated, or a dataset restricted.
"""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from datasets_app.catalog import gates, policies
from datasets_app.jobs.parameters import has_override
from datasets_app.jobs.registry import get_operation
from datasets_app.models import ApiToken, Dataset, JobFile, JobRun

LIMIT_ACCESS = "datasets_app.limit_access"
_UPLOADED = {JobFile.Kind.UPLOAD, JobFile.Kind.QUARANTINE}


def start_permission(operation: str) -> str:
    return get_operation(operation).permission or f"datasets_app.{operation}"


def needs_override_permission(job: JobRun, user: Any) -> bool:
    """Whether ``job`` overrode a gate and ``user`` couldn't: they can neither repeat it nor get its files."""
    verdict = policies.decide_job_results(overridden=has_override(job), permitted=gates.can_override(user))
    return isinstance(verdict, policies.Refused)


def can_read_upload(job: JobRun, user: Any) -> bool:
    """Whether a user may read what was uploaded for an import, and its quarantined lines."""
    permitted = user.has_perm(LIMIT_ACCESS) and gates.can_read_raw(user)
    verdict = policies.decide_upload_access(own=job.actor_id == user.pk, permitted=permitted)
    return isinstance(verdict, policies.Allowed)


def can_download(job: JobRun, kind: str, user: Any) -> bool:
    """Whether a user may download files of this kind. Whether they can see the job is checked elsewhere."""
    if kind in _UPLOADED and not can_read_upload(job, user):
        return False
    needed = {_download_permission(job.operation, kind), *({LIMIT_ACCESS} if kind in _UPLOADED else ())}
    return any(map(user.has_perm, needed)) and not needs_override_permission(job, user)


def _download_permission(operation: str, kind: str) -> str:
    """Uploads need the permission to import, output files the permission to export; what isn't of datasets
    its own."""
    own = start_permission(operation)
    if operation == "export_audit" or not own.startswith("datasets_app."):
        return own
    return "datasets_app.import_dataset" if kind in _UPLOADED else "datasets_app.export_dataset"


def refuse_unauthorized_job(job: JobRun) -> None:
    """Raises UserError if the person who started the job has lost access since, or its token was
    revoked. Jobs of commands and of the scheduler have no such person, and may run."""
    actor = job.actor
    if actor is None:
        return
    hidden = Dataset.objects.hidden_from(actor)
    gates.check(
        policies.decide_job_start(
            actor.get_username(),
            permitted=actor.is_active and actor.has_perm(start_permission(job.operation)),
            token_revoked=ApiToken.objects.filter(pk=job.api_token or 0).exclude(revoked_at=None).exists(),
            visible=not hidden.filter(Q(pk=job.dataset_id) | Q(name=job.dataset_name)).exists(),
        )
    )


def cancel_pending_jobs(instance: User, **_: Any) -> None:
    """Cancel waiting jobs of an account that is being deleted, so that they don't run without an actor."""
    waiting = JobRun.objects.filter(actor=instance, state__in=["prepared", "approval", "queued"])
    waiting.update(state="cancelled", finished_at=timezone.now())
