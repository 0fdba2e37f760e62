from collections import Counter

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.families import ANSWER_TAG, GROUP_TAG, ORIGINAL, VARIANT_TAG, read_tag
from datasets_app.domain.quality.base import Check, Findings, format_identifier
from datasets_app.domain.splits.splits import get_split_group


class Families(Check):
    """Variants of a case share its split group, and say what is expected of the answer."""

    code = "W214"
    title = "variants of a case don't form a family"

    def __init__(self) -> None:
        self._sessions: Counter[str] = Counter()
        self._first: dict[str, TurnRecord] = {}

    def session_start(self) -> None:
        self._last: TurnRecord | None = None
        self._groups: set[str | None] = set()

    def turn(self, turn: TurnRecord) -> Findings:
        self._last = turn
        self._groups.add(get_split_group(turn.metadata))
        return None

    def session_end(self) -> Findings:
        turn = self._last
        family, variant, answer = (
            read_tag(turn.tags if turn else [], prefix) for prefix in (GROUP_TAG, VARIANT_TAG, ANSWER_TAG)
        )
        if turn is None or not variant:
            return None
        self._sessions[family] += 1
        self._first.setdefault(family, turn)
        if self._groups != {family}:
            message = "metadata.split_group isn't that of its family in every turn; a split may part them"
            return (self.make_finding(turn, message, "metadata"),)
        if not answer and variant != ORIGINAL:
            message = (
                "the variant doesn't say whether the answer must stay the same (answer:same, answer:change)"
            )
            return (self.make_finding(turn, message, "tags"),)
        return None

    def end(self) -> Findings:
        return [
            self.make_finding(
                self._first[family], f"the family {format_identifier(family)} has one session", "tags"
            )
            for family, sessions in self._sessions.items()
            if sessions == 1
        ]
