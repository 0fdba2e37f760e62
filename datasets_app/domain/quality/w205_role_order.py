from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.quality.base import Check, Findings, format_identifier


class RoleOrder(Check):
    """Roles alternate. One finding for each session, at the first place, with the number of places."""

    code = "W205"
    title = "roles do not alternate"

    def session_start(self) -> None:
        self._previous: TurnRecord | None = None
        self._first: TurnRecord | None = None
        self._places = 0

    def turn(self, turn: TurnRecord) -> Findings:
        previous = self._previous
        self._previous = turn
        # The same turn twice is E202's.
        if previous is not None and previous.role == turn.role and previous.turn_index != turn.turn_index:
            self._first = self._first or turn
            self._places += 1
        return None

    def session_end(self) -> Findings:
        first, places = self._first, self._places
        if first is None:
            return None
        more = f", and {places - 1} more in this session" if places > 1 else ""
        message = f"two {first.role} turns in a row in session {format_identifier(first.session_id)}{more}"
        return (self.make_finding(first, message, "role"),)
