from datasets_app.domain.conversations.records import Finding, LabelRecord
from datasets_app.domain.quality.base import Check, format_identifier
from datasets_app.domain.wording import format_count


class MixedPersonas(Check):
    """A calibration set is about one persona. One finding, at the first label of another."""

    code = "E504"
    title = "mixed personas in a calibration set"

    def __init__(self) -> None:
        self._persona: str | None = None
        self._other: LabelRecord | None = None
        self._others = 0

    def label(self, record: LabelRecord) -> None:
        if record.answer or record.persona_id == self._persona:
            return
        if self._persona is None:
            self._persona = record.persona_id
            return
        self._other = self._other or record
        self._others += 1

    def end(self) -> tuple[Finding, ...]:
        other, persona = self._other, self._persona
        if other is None or persona is None:
            return ()
        others = format_count(self._others, "label")
        message = (
            f"a label for persona {format_identifier(other.persona_id)} in a set that begins with "
            f"{format_identifier(persona)} ({others} for others); keep one file for each persona"
        )
        return (self.make_finding(other, message, "persona_id"),)
