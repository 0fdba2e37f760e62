import re

from datasets_app.domain.conversations.records import LabelRecord, TurnRecord
from datasets_app.domain.quality.base import Check, Findings

_VISIBLE = re.compile(r"[^\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2800\u3164\ufeff]")
BLANK_TEXT_MESSAGE = "text is blank; there is nothing to say or to score"


class EmptyText(Check):
    """A text with nothing to be seen in it; characters without width do not count."""

    code = "E301"
    title = "text is blank"

    def turn(self, turn: TurnRecord) -> Findings:
        text = turn.text
        # Nearly every text begins with a visible ASCII character, and is told by one comparison.
        if "!" <= text < "\x7f" or _VISIBLE.search(text):
            return None
        return (self.make_finding(turn, BLANK_TEXT_MESSAGE, "text"),)

    def label(self, record: LabelRecord) -> Findings:
        if _VISIBLE.search(record.text):
            return None
        return (self.make_finding(record, BLANK_TEXT_MESSAGE, "text"),)
