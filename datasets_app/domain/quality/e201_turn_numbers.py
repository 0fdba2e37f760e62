from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.quality.base import Check, Findings, format_identifier

# More sessions with bad lines than this are not remembered one by one.
MAX_SESSIONS_REMEMBERED = 10_000


class TurnNumbers(Check):
    """Turns count 1, 2, 3 … One finding for each session, at the first turn that does not fit.

    A session with a line that could not be read is passed over: its gap is that line.
    """

    code = "E201"
    title = "session does not count 1, 2, 3 …"

    def __init__(self) -> None:
        self._sessions_with_errors: set[int] = set()

    def session_start(self) -> None:
        self._last, self._is_reported = 0, False

    def line_error(self, error: LineError) -> Findings:
        if error.session_id is not None and len(self._sessions_with_errors) < MAX_SESSIONS_REMEMBERED:
            self._sessions_with_errors.add(hash(error.session_id))
        return None

    def turn(self, turn: TurnRecord) -> Findings:
        index, last = turn.turn_index, self._last
        self._last = index
        # Zero difference is a repetition, which is E202's.
        if index == last + 1 or self._is_reported or (index == last and index):
            return None
        self._is_reported = True
        if self._sessions_with_errors and hash(turn.session_id) in self._sessions_with_errors:
            return None
        if last:
            what = f"has a gap: expected turn {last + 1} after turn {last}, found {index}"
        else:
            what = f"must begin with turn 1, found {index}"
        message = f"session {format_identifier(turn.session_id)} {what}"
        return (self.make_finding(turn, message, "turn_index"),)
