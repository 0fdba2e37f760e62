"""Loads what the policies ask about, raises what they refuse, and records what an override opened.

Call a check in the transaction of what it guards: facts come from the database, not from the object.
"""

from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from datasets_app.catalog import policies
from datasets_app.catalog.activity import active_scrubs
from datasets_app.catalog.policies import (
    DatasetFacts,
    Gate,
    Overridden,
    OverrideRequest,
    Refused,
    RunningJob,
    Verdict,
)
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, JobRun, ScrubRun

OVERRIDE_PERMISSION = "datasets_app.override_gate"
_SCRUB_OPERATIONS = ("scrub_dataset", "scrub_part")


def load_facts(dataset: Dataset) -> DatasetFacts:
    """What the dataset is now, by one query."""
    scrubs = ScrubRun.objects.filter(dataset=OuterRef("pk"), dry_run=False).order_by("-pk")
    active = active_scrubs(OuterRef("pk")).filter(dry_run=False, verified_at=None)
    row = (
        Dataset.objects.annotate(
            verified_at=Subquery(scrubs.values("verified_at")[:1]),
            scrub_job=Subquery(active.values("job_run_id")[:1]),
        )
        .values(
            "name",
            "origin",
            "status",
            "turn_count",
            "legal_hold",
            "hold_reason",
            "expired_at",
            "verified_at",
            "scrub_job",
        )
        .get(pk=dataset.pk)
    )
    expired_at, verified_at = row.pop("expired_at"), row.pop("verified_at")
    return DatasetFacts(
        **row,
        deleted_on=timezone.localtime(expired_at).date() if expired_at else None,
        last_scrub_verified=verified_at is not None,
    )


def is_scrubbed(dataset: Dataset) -> bool:
    """Whether texts may leave without an override."""
    return load_facts(dataset).is_scrubbed


def can_override(actor: Any) -> bool:
    """Who may open a gate for a reason: by permission, or by access to the command line (None)."""
    return actor is None or bool(actor.has_perm(OVERRIDE_PERMISSION))


def check(verdict: Verdict) -> None:
    """Raises UserError if the verdict is a refusal."""
    if isinstance(verdict, Refused):
        raise UserError(verdict.message, verdict.details, remedy=verdict.remedy)


def enforce(verdict: Verdict, dataset: Dataset, actor: Any) -> str:
    """Raises UserError if refused. Records an override and returns its reason, which is empty without one."""
    check(verdict)
    if not isinstance(verdict, Overridden):
        return ""
    audit.record(
        "override",
        actor=actor,
        dataset_name=dataset.name,
        purpose=verdict.purpose,
        reason=verdict.reason,
    )
    return verdict.reason


# --- any work on a dataset ------------------------------------------------------------------------------


def check_can_use(dataset: Dataset) -> None:
    check(policies.decide_use(load_facts(dataset)))


def check_can_copy(dataset: Dataset) -> None:
    """For whatever reads texts to keep a copy of them, or adds some."""
    check(policies.decide_copy(load_facts(dataset)))


def check_import_origin(dataset: Dataset, origin: str | None) -> None:
    check(policies.decide_import_origin(load_facts(dataset), origin))


def check_can_scrub(dataset: Dataset) -> None:
    """For scrubs: no legal hold is set, and no other job, which may hold or bring raw text, is running."""
    check_can_replace_text(dataset)
    others = JobRun.objects.filter(dataset_name=dataset.name).exclude(operation__in=_SCRUB_OPERATIONS)
    check(policies.decide_idle(dataset.name, _find_running(others), "scrub it when that has ended."))


def check_can_replace_text(dataset: Dataset) -> None:
    """For each step of a scrub: a legal hold stops it, also one that was set after it began."""
    check(policies.decide_scrub(load_facts(dataset)))


def check_can_delete(dataset: Dataset, job_run: JobRun | None, advice: str) -> None:
    """For whatever deletes contents: no legal hold is set, and no job but ``job_run`` runs on the dataset."""
    check(policies.decide_deletion(load_facts(dataset)))
    check_is_idle(dataset, job_run, advice)


def check_is_idle(dataset: Dataset, job_run: JobRun | None, advice: str) -> None:
    others = JobRun.objects.filter(Q(dataset=dataset) | Q(dataset_name=dataset.name))
    others = others.exclude(pk=job_run.pk if job_run else 0)
    check(policies.decide_idle(dataset.name, _find_running(others), advice))


def _find_running(jobs: Any) -> RunningJob | None:
    job = jobs.active().filter(state="running").first()
    return RunningJob(job.get_operation_label(), job.pk) if job else None


# --- gates that a reason opens --------------------------------------------------------------------------


def request_override(actor: Any, reason: str) -> OverrideRequest:
    return OverrideRequest(reason, can_override(actor))


def ask_gate(gate: Gate, dataset: Dataset, *, actor: Any, override: str = "") -> Verdict:
    """Whether ``gate`` is open, or ``override`` opens it: a reason from an ``actor`` with the permission."""
    return policies.decide_gate(gate, load_facts(dataset), request_override(actor, override))


def check_gate(gate: Gate, dataset: Dataset, *, actor: Any, override: str = "") -> str:
    """Every door that hands out texts calls this. Raises UserError if the gate stays closed; records an
    override and returns its reason."""
    return enforce(ask_gate(gate, dataset, actor=actor, override=override), dataset, actor)
