"""Loads what the policies ask about, raises what they refuse, and records what an override opened.

Call a check in the transaction of what it guards: facts come from the database, not from the object.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from datasets_app.catalog import policies
from datasets_app.catalog.dataset_facts import (
    AttestationFacts,
    AuditFacts,
    DatasetFacts,
    TextFacts,
)
from datasets_app.catalog.policies import (
    Gate,
    Overridden,
    OverrideRequest,
    Refused,
    Verdict,
)
from datasets_app.catalog.rows.fact_rows import TEXT_FIELDS, fetch_facts
from datasets_app.core import audit
from datasets_app.core.audit import require_second_person
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.detector import DETECTION_VERSION
from datasets_app.domain.pii.exemptions import read_exempt_counts
from datasets_app.models import Attestation, Dataset, JobRun

OVERRIDE_PERMISSION = "datasets_app.override_gate"
READ_PERMISSION = "datasets_app.read_raw"
_SCRUB_OPERATIONS = ("scrub_dataset", "scrub_part")


def load_facts(dataset: Dataset) -> DatasetFacts:
    """What the dataset is now, by one query."""
    return load_all_facts(Dataset.objects.filter(pk=dataset.pk))[dataset.pk]


def load_all_facts(datasets: QuerySet[Dataset]) -> dict[int, DatasetFacts]:
    """The facts of each dataset by primary key, by one query."""
    return {row["pk"]: _build_facts(row) for row in fetch_facts(datasets)}


def _build_facts(row: dict[str, Any]) -> DatasetFacts:
    text = {name: row[f"text_{name}"] for name in TEXT_FIELDS if row[f"text_{name}"] is not None}
    version = text.pop("rules", DETECTION_VERSION)
    if version != DETECTION_VERSION:  # it found less
        text |= {"scanned_to": 0, "found": {}, "exempt": {}, "earlier_version": version}
    text["found"] = dict(Counter(text.get("found")) + Counter(text.pop("written", None)))
    audit = text.pop("audit", None)
    text["exempt"] = read_exempt_counts(text.get("exempt"))
    return DatasetFacts(
        name=row["name"],
        origin=row["origin"],
        status=row["status"],
        turn_count=row["turn_count"],
        deleted_on=_local_date(row["expired_at"]),
        legal_hold=row["legal_hold"],
        hold_reason=row["hold_reason"],
        scrub_job=row["scrub_job"],
        text=TextFacts(
            last_session=row["last_session"] or 0,
            missed=row["missed"],
            audit=_build_audit(audit, row["last_session"] or 0),
            **text,
        ),
        attestation=_build_attestation(row),
    )


def _build_attestation(row: dict[str, Any]) -> AttestationFacts | None:
    """The attestation in force; sessions added since end it."""
    if row["attested_to"] is None or row["attested_to"] < (row["last_session"] or 0):
        return None
    return AttestationFacts(row["attested_by"], _local_date(row["attested_at"]), row["attested_because"])


def _build_audit(row: dict[str, Any] | None, last_session: int) -> AuditFacts | None:
    """What people found in a sample; sessions added since are none of what it stands for."""
    if row is None or row["last_session"] < last_session:
        return None
    return AuditFacts(
        row["read"],
        row["turns"],
        row["estimate"],
        row["low"],
        row["high"],
        {language: (high, turns) for language, (high, turns) in row.get("languages", {}).items()},
        bool(row.get("scrubbed_since")),
    )


def _local_date(at: datetime | None) -> Any:
    return timezone.localtime(at).date() if at else None


def is_raw(dataset: Dataset) -> bool:
    """Whether text may leave only by an override."""
    return load_facts(dataset).is_raw


def can_override(actor: Any) -> bool:
    """Who may open a gate for a reason: by permission, or by access to the command line (None)."""
    return actor is None or bool(actor.has_perm(OVERRIDE_PERMISSION))


def can_read_raw(actor: Any) -> bool:
    """Who may read raw text: by permission, or by access to the command line (None)."""
    return actor is None or bool(actor.has_perm(READ_PERMISSION))


def check(verdict: Verdict) -> None:
    """Raises UserError if the verdict is a refusal."""
    if isinstance(verdict, Refused):
        raise UserError(verdict.message, verdict.details, remedy=verdict.remedy)


def enforce(verdict: Verdict, dataset: Dataset | None, actor: Any) -> str:
    """Raises UserError if refused. Records an override and returns its reason, which is empty without one.
    ``dataset`` is None for what concerns all of them."""
    name = dataset.name if dataset is not None else ""
    if isinstance(verdict, Refused):
        audit.note_refusal(reason="gate", dataset_name=name)
    check(verdict)
    if not isinstance(verdict, Overridden):
        return ""
    require_second_person()
    audit.record("override", actor=actor, dataset_name=name, purpose=verdict.purpose, reason=verdict.reason)
    return verdict.reason


# --- any work on a dataset ------------------------------------------------------------------------------


def check_can_use(dataset: Dataset) -> None:
    check(policies.decide_use(load_facts(dataset)))


def check_can_copy(dataset: Dataset) -> None:
    """For whatever reads texts to keep a copy of them, or adds some."""
    check(policies.decide_copy(load_facts(dataset)))


def check_import_origin(dataset: Dataset, origin: str | None) -> None:
    check(policies.decide_import_origin(load_facts(dataset), origin))


def check_can_scrub(dataset: Dataset, job_run: JobRun | None = None) -> None:
    """For scrubs: no legal hold is set, and no job but ``job_run``, which may hold or bring raw text, is
    running."""
    check_can_replace_text(dataset)
    others = JobRun.objects.filter(dataset_name=dataset.name).exclude(operation__in=_SCRUB_OPERATIONS)
    others = others.exclude(pk=job_run.pk if job_run else 0)
    check(policies.decide_idle(dataset.name, _find_running(others), "scrub it when that has ended."))


def check_can_replace_text(dataset: Dataset) -> None:
    """For each step of a scrub: a legal hold stops it, also one that was set after it began."""
    check(policies.decide_scrub(load_facts(dataset)))


def check_can_delete(dataset: Dataset, job_run: JobRun | None, advice: str) -> None:
    """For whatever deletes contents: no legal hold is set, and no job but ``job_run`` runs on the dataset."""
    check(policies.decide_deletion(load_facts(dataset)))
    check_is_idle(dataset.name, job_run, advice)


def check_is_idle(name: str, job_run: JobRun | None, advice: str) -> None:
    """Also for a dataset that doesn't exist yet."""
    others = JobRun.objects.filter(Q(dataset__name=name) | Q(dataset_name=name))
    others = others.exclude(pk=job_run.pk if job_run else 0)
    check(policies.decide_idle(name, _find_running(others), advice))


def _find_running(jobs: Any) -> tuple[str, int] | None:
    # A search only reads, and keeps no result about text that has changed meanwhile.
    job = jobs.active().filter(state="running").exclude(operation="scan_text").first()
    return (job.get_operation_label(), job.pk) if job else None


# --- gates that a reason opens --------------------------------------------------------------------------


def check_can_exempt(dataset: Dataset | None, kind: str, *, actor: Any, override: str) -> str:
    """Returns the reason for which a value of a pattern class may stay, in a dataset or in all; records the
    override."""
    if dataset is not None:
        check_can_use(dataset)
    name = dataset.name if dataset is not None else "any dataset"
    verdict = policies.decide_exemption(name, kind, request_override(actor, override))
    return enforce(verdict, dataset, actor)


def end_attestation(dataset: Dataset, *, actor: Any) -> None:
    """Withdraw the statement that the text may stay as it is."""
    with transaction.atomic():
        in_force = Attestation.objects.filter(dataset=dataset, ended_at=None)
        if in_force.update(ended_at=timezone.now()):
            audit.record("end_attestation", actor=actor, dataset_name=dataset.name)


def request_override(actor: Any, reason: str) -> OverrideRequest:
    return OverrideRequest(reason, can_override(actor))


def ask_gate(gate: Gate, dataset: Dataset, *, actor: Any, override: str = "") -> Verdict:
    """Whether ``gate`` is open, or ``override`` opens it: a reason from an ``actor`` with the permission."""
    return policies.decide_gate(gate, load_facts(dataset), request_override(actor, override))


def refuse_known_raw(dataset: Dataset, *, actor: Any) -> None:
    """For exports: refuse at once what their job would refuse, unless a search may open the gate."""
    if load_facts(dataset).is_known_raw:
        enforce(ask_gate(policies.EXPORT, dataset, actor=actor), dataset, actor)


def check_label_export(dataset: Dataset, found: Mapping[str, int], *, actor: Any, override: str = "") -> None:
    """For labels, after :func:`check_gate`: ``found`` are values by class in their notes and other fields."""
    request = request_override(actor, override)
    enforce(policies.decide_label_export(load_facts(dataset), found, request), dataset, actor)
