from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.quality.base import Check, Findings


class Cases(Check):
    """A reply's case_id is a text of its own, its case_revision a text or a number. Keeps only hashes."""

    code = "E211"
    title = "case_id or case_revision can't be used"

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def turn(self, turn: TurnRecord) -> Findings:
        if not turn.extra or turn.role != "assistant":
            return None
        case_id, revision = turn.extra.get("case_id"), turn.extra.get("case_revision")
        if case_id is not None and (not isinstance(case_id, str) or not case_id.strip()):
            return (self.make_finding(turn, "case_id must be a text that is not empty", "case_id"),)
        if revision is not None and (isinstance(revision, bool) or not isinstance(revision, str | int)):
            message = "case_revision must be a text or a whole number"
            return (self.make_finding(turn, message, "case_revision"),)
        if case_id is None:
            return None
        if hash(case_id) in self._seen:
            message = "case_id is that of another reply before; a case is one reply"
            return (self.make_finding(turn, message, "case_id"),)
        self._seen.add(hash(case_id))
        return None
