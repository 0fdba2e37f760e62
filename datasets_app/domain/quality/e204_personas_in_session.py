from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.quality.base import Check, Findings, format_identifier


class PersonasInSession(Check):
    """One persona speaks in a session. A turn without a persona inherits the session's."""

    code = "E204"
    title = "more than one persona in a session"

    def session_start(self) -> None:
        self._persona: str | None = None
        self._is_reported = False

    def turn(self, turn: TurnRecord) -> Findings:
        persona = turn.persona_id
        if persona == self._persona or persona is None or self._is_reported:
            return None
        if self._persona is None:
            self._persona = persona
            return None
        self._is_reported = True
        message = (
            f"session {format_identifier(turn.session_id)} has persona {format_identifier(persona)} here, "
            f"{format_identifier(self._persona)} before; a session belongs to one persona"
        )
        return (self.make_finding(turn, message, "persona_id"),)
