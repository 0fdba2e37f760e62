"""The last decisions, as the queue lists them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_noop

from annotations_app.domain.evidence import list_page_spans
from annotations_app.labeling.reveal import RevealedVerdict
from annotations_app.models import Assignment
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Schema, decode_answers

MAX_SNIPPET_CHARACTERS = 90
DECISION_LABELS = {
    **{level.slug: level.name for level in ON_BRAND.levels},
    "label": gettext_noop("Labeled"),
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
    # Under a schema, by criterion as files have them.
    answers: dict[str, Any] | None = None
    # What a judge says, shown from now on.
    verdict: RevealedVerdict | None = None
    # Marked words, as a page counts characters.
    spans: list[list[int]] | None = None

    @property
    def label(self) -> str:
        return DECISION_LABELS.get(self.decision, gettext_noop("Not counted"))


def build_recent_decision(assignment: Assignment, schema: Schema | None) -> RecentDecision:
    """From a decided assignment with its annotation or judgment, and its item's turn."""
    made = getattr(assignment, "judgment", None) if schema else assignment.annotation
    said = "label" if schema or made is None else ON_BRAND.levels[made.label].slug
    text = assignment.item.turn.text
    return RecentDecision(
        pk=assignment.pk,
        decision=_DECISION_OF_STATE.get(Assignment.State(assignment.state)) or (said if made else ""),
        snippet=name_pair(assignment) if schema and schema.compares_replies else shorten_text(text),
        at=assignment.decided_at,
        notes=(made and made.notes) or "",
        confidence=made and made.confidence,
        spans=made and list_page_spans(made.evidence, text),
        answers=decode_answers(made.asked_schema, made.answers) if schema and made else None,
    )


def name_pair(assignment: Assignment) -> str:
    """Of two replies: the beginning of either would tell whose it is."""
    turn = assignment.item.turn
    number = gettext("turn %(number)s") % {"number": turn.turn_index}
    return f"{turn.session.session_id}, {number}"


def shorten_text(text: str) -> str:
    """The beginning of a text, on one line."""
    return " ".join(text[: 2 * MAX_SNIPPET_CHARACTERS].split())[:MAX_SNIPPET_CHARACTERS]
