"""Who may start a job, stop it, and have it run: asked by pages, and once more when a worker begins.

Between the two lie hours, perhaps: an account may have been switched off, or a dataset restricted, meanwhile.
"""

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from datasets_app import hooks
from datasets_app.catalog import policies
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, JobRun

# Operations that are not called like the permission to start them.
START_PERMISSIONS = {
    "bootstrap_dataset": "datasets_app.generate_dataset",
    "scrub_part": "datasets_app.scrub_dataset",
    "verify_releases": "datasets_app.release_dataset",
    "compare_releases": "datasets_app.view_release",
    "nightly": "datasets_app.apply_retention",
    "export_audit": "datasets_app.view_auditevent",
    "verify_audit": "datasets_app.view_auditevent",
}


def start_permission(operation: str) -> str:
    """Mostly named like its operation; those of another app are told by it."""
    return {**START_PERMISSIONS, **hooks.job_permissions}.get(operation, f"datasets_app.{operation}")


def needs_override_permission(job: JobRun, user: Any) -> bool:
    """Whether ``job`` goes through a gate for somebody's reason, which ``user`` might not have given: neither
    is it repeated for them, nor is what it made handed out to them."""
    return bool(job.parameters.get("override")) and not policies.can_override(user)


def refuse_unauthorized_job(job: JobRun) -> None:
    """Refused if who started the job may not have it done any more. What nobody in particular started (a
    command, the scheduler) may be done."""
    actor = job.actor
    if actor is None:
        return
    if not actor.is_active or not actor.has_perm(start_permission(job.operation)):
        raise UserError(f"{actor.get_username()}, who started this, may not do it any more.")
    hidden = Dataset.objects.hidden_from(actor)
    if hidden.filter(pk=job.dataset_id).exists() or hidden.filter(name=job.dataset_name).exists():
        raise UserError(f"{actor.get_username()}, who started this, may not see that dataset.")


def cancel_pending_jobs(instance: User, **_: Any) -> None:
    """What an account that is being deleted has waiting is not done in nobody's name."""
    waiting = JobRun.objects.filter(actor=instance, state__in=["prepared", "queued"])
    waiting.update(state="cancelled", finished_at=timezone.now())
