"""The last decisions, as they stand in the list beside the queue."""

from dataclasses import dataclass
from datetime import datetime

from annotations_app.models import Assignment

SNIPPET_CHARACTERS = 90
IN_WORDS = {"on": "On-brand", "off": "Off-brand", "skip": "Skipped", "flag": "Flagged"}
_OF_STATE = {Assignment.State.SKIPPED: "skip", Assignment.State.FLAGGED: "flag"}


@dataclass
class RecentDecision:
    pk: int
    decision: str
    snippet: str
    at: datetime | None
    notes: str
    confidence: float | None

    @property
    def in_words(self) -> str:
        return IN_WORDS.get(self.decision, "Not counted")


def recent_decision(assignment: Assignment) -> RecentDecision:
    """Of a decided assignment, with its annotation and its item's turn."""
    annotation = assignment.annotation
    label = annotation and ("on" if annotation.label else "off")
    return RecentDecision(
        pk=assignment.pk,
        decision=_OF_STATE.get(Assignment.State(assignment.state)) or label or "",
        snippet=" ".join(assignment.item.turn.text[: 2 * SNIPPET_CHARACTERS].split())[:SNIPPET_CHARACTERS],
        at=assignment.decided_at,
        notes=(annotation and annotation.notes) or "",
        confidence=annotation and annotation.confidence,
    )
