from collections.abc import Iterable, Iterator

from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.quality.base import Check, Findings, format_identifier


class RepeatedTurns(Check):
    """Two turns with the same ``(session_id, turn_index)``: one finding for each beyond the first."""

    code = "E202"
    title = "turn stands twice"

    def session_start(self) -> None:
        self._first: TurnRecord | None = None

    def turn(self, turn: TurnRecord) -> Findings:
        first = self._first
        if first is None or first.turn_index != turn.turn_index:
            self._first = turn
            return None
        same = first._replace(line=0) == turn._replace(line=0)
        where = f", first in line {first.line}" if first.line else ""
        message = (
            f"turn {turn.turn_index} of session {format_identifier(turn.session_id)} stands twice{where}, "
            + ("with the same content; remove one" if same else "with different content; keep the right one")
        )
        return (self.make_finding(turn, message, "turn_index"),)


def refuse_repeated(lines: Iterable[TurnRecord | LineError]) -> Iterator[TurnRecord | LineError]:
    """Lines in order, repeated turns as errors: Alignmenter refuses a file that has some."""
    check, session_id = RepeatedTurns(), None
    for line in lines:
        if isinstance(line, TurnRecord):
            if line.session_id != session_id:
                session_id = line.session_id
                check.session_start()
            for finding in check.turn(line) or ():
                line = LineError(finding.line, finding.code, finding.message, session_id, finding.field)
        yield line
