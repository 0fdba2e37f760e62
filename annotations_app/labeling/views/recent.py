"""The last decisions, as the queue lists them."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_noop

from annotations_app.models import Assignment
from datasets_app.domain.labels.on_brand import ON_BRAND

MAX_SNIPPET_CHARACTERS = 90
DECISION_LABELS = {
    **{level.slug: level.name for level in ON_BRAND.levels},
    "skip": gettext_noop("Skipped"),
    "flag": gettext_noop("Flagged"),
}
_DECISION_OF_STATE = {Assignment.State.SKIPPED: "skip", Assignment.State.FLAGGED: "flag"}


@dataclass
class RecentDecision:
    pk: int
    decision: str
    snippet: str
    at: datetime | None
    notes: str
    confidence: float | None

    @property
    def label(self) -> str:
        return DECISION_LABELS.get(self.decision, gettext_noop("Not counted"))


def build_recent_decision(assignment: Assignment) -> RecentDecision:
    """From a decided assignment with its annotation and its item's turn."""
    annotation = assignment.annotation
    label = annotation and ON_BRAND.levels[annotation.label].slug
    return RecentDecision(
        pk=assignment.pk,
        decision=_DECISION_OF_STATE.get(Assignment.State(assignment.state)) or label or "",
        snippet=shorten_text(assignment.item.turn.text),
        at=assignment.decided_at,
        notes=(annotation and annotation.notes) or "",
        confidence=annotation and annotation.confidence,
    )


def shorten_text(text: str) -> str:
    """The beginning of a text, on one line."""
    return " ".join(text[: 2 * MAX_SNIPPET_CHARACTERS].split())[:MAX_SNIPPET_CHARACTERS]
