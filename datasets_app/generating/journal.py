"""The journal of sessions that a model writes into a file."""

from collections.abc import Iterator
from pathlib import Path

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.model_calls.journal import Journal, JournalHead

_KIND, _VERSION = "sessions written by a model", 1
_OTHER_PLAN = "sessions, turns, ratios, seed, persona or source"


class SessionJournal(Journal):
    """A :class:`SessionStore`; ``made_by`` is :func:`format_shape` of the writer."""

    def __init__(self, path: Path, plan: Plan, made_by: str, *, resume: bool) -> None:
        self._plan = plan
        head = JournalHead(_KIND, _VERSION, plan.digest, "sessions", len(plan), made_by, _OTHER_PLAN)
        super().__init__(path, head, resume=resume)

    def add(self, written: WrittenSession, used: TokensUsed) -> None:
        number = written.planned.number
        if written.failure is None:
            self.add_texts(number, [turn.text for turn in written.turns], used)
        else:
            self.add_failure(number, written.failure, used)

    def sessions(self) -> Iterator[list[TurnRecord]]:
        for number, texts in self.read_texts():
            yield build_turns(self._plan[number], texts)

    def is_valid(self, number: int, texts: list[str]) -> bool:
        return len(texts) == self._plan[number].turns
