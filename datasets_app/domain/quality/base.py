"""What a check is, and how findings name things."""

from collections.abc import Iterable
from typing import ClassVar

from datasets_app.domain.conversations.records import Finding, LabelRecord, TurnRecord
from datasets_app.domain.pii.rules.patterns import find_patterns
from datasets_app.domain.wording import shorten_hash

Findings = Iterable[Finding] | None
MAX_NAME_CHARACTERS_SHOWN = 80


class Check:
    """One rule with one code. A check defines those hooks it needs, and no others:

    * ``session_start()`` before the first turn of each session, ``turn(turn)`` for each turn,
      ``session_end()`` after the last of each session, ``end()``;
    * ``line_error(error)`` for each line that isn't a turn;
    * ``label(record)`` for each label of an annotation file;
    * ``metadata(metadata)`` for what is known of the whole file or dataset.

    Each returns findings or None. An instance serves one run over one stream, in which sessions
    are in one piece and ``turn_index`` never falls within one.
    """

    code: ClassVar[str]
    title: ClassVar[str]

    def make_finding(
        self, record: TurnRecord | LabelRecord, message: str, field: str | None = None
    ) -> Finding:
        """A finding at ``record``."""
        return Finding(self.code, message, record.line, record.session_id, record.turn_index, field)


def format_identifier(identifier: str) -> str:
    """An identifier for a message; one that holds personal data is described, not repeated."""
    if find_patterns(identifier):
        return f"(an id of {len(identifier)} characters that holds personal data)"
    identifier = shorten_hash(identifier)
    if len(identifier) > MAX_NAME_CHARACTERS_SHOWN:
        identifier = identifier[: MAX_NAME_CHARACTERS_SHOWN - 1] + "…"
    return repr(identifier)


def format_place(line: int, session_id: str | None, turn_index: int | None) -> str:
    """Where a record stands, for use within a sentence."""
    if line:
        return f"line {line}"
    if session_id is None:
        return "another place"
    return f"session {format_identifier(session_id)} turn {turn_index}"
