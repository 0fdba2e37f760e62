from datasets_app.domain.conversations.cases import read_rubrics
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.quality.base import Check, Findings


class Rubrics(Check):
    """Alignmenter grades the last reply of a session by the first list of rubrics in it, and passes over the
    rest without a word. One finding for each session."""

    code = "W213"
    title = "metadata.rubrics are not graded"

    def session_start(self) -> None:
        self._turn: TurnRecord | None = None
        self._message = ""
        self._answered = False

    def turn(self, turn: TurnRecord) -> Findings:
        self._answered |= turn.role == "assistant" and bool(turn.text.strip())
        rubrics = (turn.metadata or {}).get("rubrics")
        if rubrics is None:
            return None
        message = _find_fault(rubrics)
        if self._turn is not None:
            message = "metadata.rubrics stand at another turn of the session before; only those are graded"
        if self._turn is None or (message and not self._message):
            self._turn, self._message = turn, message
        return None

    def session_end(self) -> Findings:
        turn, message = self._turn, self._message
        if turn is not None and not message and not self._answered:
            message = "metadata.rubrics have no reply to grade in the session"
        return (self.make_finding(turn, message, "metadata"),) if turn is not None and message else None


def _find_fault(rubrics: object) -> str:
    if not isinstance(rubrics, list):
        return "metadata.rubrics must be a list of objects with criterion and points"
    if faulty := len(rubrics) - len(read_rubrics(rubrics)):
        return f"{faulty} of {len(rubrics)} entries of metadata.rubrics have no criterion"
    return "" if rubrics else "metadata.rubrics are empty"
