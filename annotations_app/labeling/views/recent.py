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
    if schema is not None:
        return _build_judged(assignment, schema)
    annotation = assignment.annotation
    label = annotation and ON_BRAND.levels[annotation.label].slug
    return RecentDecision(
        pk=assignment.pk,
        decision=_DECISION_OF_STATE.get(Assignment.State(assignment.state)) or label or "",
        snippet=shorten_text(assignment.item.turn.text),
        at=assignment.decided_at,
        notes=(annotation and annotation.notes) or "",
        confidence=annotation and annotation.confidence,
        spans=annotation and list_page_spans(annotation.evidence, assignment.item.turn.text),
    )


def _build_judged(assignment: Assignment, schema: Schema) -> RecentDecision:
    judgment = getattr(assignment, "judgment", None)
    return RecentDecision(
        pk=assignment.pk,
        decision=_DECISION_OF_STATE.get(Assignment.State(assignment.state)) or ("label" if judgment else ""),
        snippet=name_pair(assignment) if schema.compares_replies else shorten_text(assignment.item.turn.text),
        at=assignment.decided_at,
        notes=(judgment and judgment.notes) or "",
        confidence=judgment and judgment.confidence,
        spans=judgment and list_page_spans(judgment.evidence, assignment.item.turn.text),
        answers=judgment and decode_answers(judgment.schema.content, judgment.answers),
    )


def name_pair(assignment: Assignment) -> str:
    """Of two replies: the beginning of either would tell whose it is."""
    turn = assignment.item.turn
    number = gettext("turn %(number)s") % {"number": turn.turn_index}
    return f"{turn.session.session_id}, {number}"


def shorten_text(text: str) -> str:
    """The beginning of a text, on one line."""
    return " ".join(text[: 2 * MAX_SNIPPET_CHARACTERS].split())[:MAX_SNIPPET_CHARACTERS]
