"""The last decisions, as they stand in the list beside the queue."""

from dataclasses import dataclass
from datetime import datetime

from annotations_app.models import Assignment

MAX_SNIPPET_CHARACTERS = 90
DECISION_NAMES = {"on": "On-brand", "off": "Off-brand", "skip": "Skipped", "flag": "Flagged"}
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
    def in_words(self) -> str:
        return DECISION_NAMES.get(self.decision, "Not counted")


def build_recent_decision(assignment: Assignment) -> RecentDecision:
    """Of a decided assignment, with its annotation and its item's turn."""
    annotation = assignment.annotation
    label = annotation and ("on" if annotation.label else "off")
    return RecentDecision(
        pk=assignment.pk,
        decision=_DECISION_OF_STATE.get(Assignment.State(assignment.state)) or label or "",
        snippet=" ".join(assignment.item.turn.text[: 2 * MAX_SNIPPET_CHARACTERS].split())[
            :MAX_SNIPPET_CHARACTERS
        ],
        at=assignment.decided_at,
        notes=(annotation and annotation.notes) or "",
        confidence=annotation and annotation.confidence,
    )
