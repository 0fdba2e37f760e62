from datetime import datetime

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.quality.base import Check, Findings


class TimestampOrder(Check):
    """Time does not run backwards within a session.

    Instants are compared, so that offsets may differ. A time without an offset can't be compared
    with one that has it: each is compared with the last of its own kind.
    """

    code = "E206"
    title = "timestamps run backwards"

    def session_start(self) -> None:
        self._aware: datetime | None = None
        self._naive: datetime | None = None

    def turn(self, turn: TurnRecord) -> Findings:
        if turn.timestamp is None:
            return None
        try:
            now = datetime.fromisoformat(turn.timestamp)
        except ValueError:  # E105's
            return None
        if now.tzinfo is None:
            before, self._naive = self._naive, now
        else:
            before, self._aware = self._aware, now
        if before is None or before <= now:
            return None
        seconds = (before - now).total_seconds()
        message = f"timestamp is {seconds:g} seconds earlier than that of a turn before it in the session"
        return (self.make_finding(turn, message, "timestamp"),)
