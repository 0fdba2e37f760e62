"""What the sharing checklist says of measurements of scrubs: those that are required or have failed."""

from collections.abc import Iterator
from typing import NamedTuple

from datasets_app.catalog.dataset_facts import AuditFacts, TextFacts, describe_audit
from datasets_app.catalog.sharing_requirements import NO_AUDIT, load_requirements
from datasets_app.domain.pii.canary.survival_text import format_percent
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

CANARY_TITLE = "Few planted values survive a scrub"
AUDIT_TITLE = "People have read a sample of the scrubbed text"


class Measurement(NamedTuple):
    """``is_met`` is None if nobody has measured; ``is_required`` by settings of installation or dataset."""

    title: str
    is_met: bool | None
    reason: str
    is_required: bool = True


def list_measurements(dataset: Dataset, text: TextFacts) -> Iterator[Measurement]:
    """Those that are required, and the last measurement with planted values if it failed."""
    required = load_requirements(dataset)
    if required.needs_canary or text.has_failed_canary:
        yield _describe_canary(text, required.canary_upper if required.needs_canary else None)
    if required.audit_readings > NO_AUDIT:
        yield _describe_readings(text.audit, required.audit_readings)


def _describe_canary(text: TextFacts, limit: float | None) -> Measurement:
    required = f"Required: at most {format_percent(limit)}." if limit is not None else ""
    if not text.survival or text.canary is None:
        reason = f"{required} Not measured on the current text: measure what a scrub leaves."
        return Measurement(CANARY_TITLE, None, reason)
    is_met = text.canary["upper"] <= (text.canary.get("limit", 1) if limit is None else limit)
    advice = "" if is_met else "Scrub with more name models or your own patterns, or plant more values."
    reason = " ".join(filter(None, (required, text.survival, advice)))
    return Measurement(CANARY_TITLE, is_met, reason, limit is not None)


def _describe_readings(audit: AuditFacts | None, readings: int) -> Measurement:
    required = f"Required: {format_count(readings, 'turn')} read, or all."
    if audit is None:
        reason = f"{required} None was read since sessions were added last: estimate what is left."
        return Measurement(AUDIT_TITLE, None, reason)
    is_met = audit.read >= min(readings, audit.turns)
    advice = "" if is_met else " Read the rest of the sample, or draw a larger one."
    return Measurement(AUDIT_TITLE, is_met, f"{required} {describe_audit(audit)}{advice}")
