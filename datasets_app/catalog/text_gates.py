"""The gates that text passes on its way out: what nothing has searched yet is searched before they decide."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app.catalog import gates, policies
from datasets_app.catalog.policies import Allowed, Gate, Verdict
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.models import Attestation, Dataset


def scan_text_for_gate(dataset: Dataset, report_progress: ProgressCallback = ignore_progress) -> None:
    """Search what nothing has searched yet, if the result can open a gate."""
    facts = gates.load_facts(dataset)
    may_open = facts.is_scrubbed or not facts.is_production
    if facts.is_unscanned and may_open and isinstance(policies.decide_copy(facts), Allowed):
        scan_new_text(dataset, report_progress)


def scan_and_describe(dataset: Dataset, report_progress: ProgressCallback = ignore_progress) -> str:
    """Search what was added to a dataset, and say what is known about its text now."""
    scan_new_text(dataset, report_progress)
    return gates.load_facts(dataset).description


def check_gate(gate: Gate, dataset: Dataset, *, actor: Any, override: str = "") -> str:
    """Every door that hands out texts calls this, which searches text that nothing has searched yet. Raises
    UserError if the gate stays closed; records an override and returns its reason."""
    scan_text_for_gate(dataset)
    return gates.enforce(gates.ask_gate(gate, dataset, actor=actor, override=override), dataset, actor)


def ask_judge(dataset: Dataset, base_url: str | None, *, actor: Any, override: str = "") -> Verdict:
    """As :func:`gates.ask_gate`, for texts sent to the judge at ``base_url``; None is one that works offline.
    Nobody has texts judged of a dataset that is hidden from them, as the other one of a pair may be."""
    if actor is not None and Dataset.objects.hidden_from(actor).filter(pk=dataset.pk).exists():
        raise UserError("You have no access to a dataset whose texts would be sent to the judge.")
    if base_url is not None:
        scan_text_for_gate(dataset)
    allowed = Dataset.objects.values_list("judge_endpoints", flat=True).get(pk=dataset.pk)
    return policies.decide_judge(
        gates.load_facts(dataset), base_url, allowed, gates.request_override(actor, override)
    )


def check_judge(dataset: Dataset, base_url: str | None, *, actor: Any, override: str = "") -> str:
    """As :func:`check_gate`, by :func:`ask_judge`."""
    return gates.enforce(ask_judge(dataset, base_url, actor=actor, override=override), dataset, actor)


def attest(dataset: Dataset, *, actor: Any, reason: str) -> Attestation:
    """State that the text of a dataset may stay as it is, until a session is added or changed. Every document
    about it gives the reason. Raises UserError."""
    check_written(dataset, {"reason": reason})
    scan_text_for_gate(dataset)
    with transaction.atomic():
        locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        facts = gates.load_facts(locked)
        verdict = policies.decide_attestation(facts, gates.request_override(actor, reason))
        reason = gates.enforce(verdict, locked, actor)
        Attestation.objects.filter(dataset=locked, ended_at=None).update(ended_at=timezone.now())
        return Attestation.objects.create(
            dataset=locked,
            last_session=facts.text.last_session,
            reason=reason,
            created_by=actor,
            created_by_name=audit.actor_name(actor),
        )
