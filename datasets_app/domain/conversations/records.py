"""The records that flow through everything: immutable, without logic.

A dataset is never held in a list: files and tables are read as streams of these.
"""

from typing import Any, NamedTuple

from datasets_app.domain.labels.rater import Rater


class TurnRecord(NamedTuple):
    """One turn of a conversation; the fields are those of the conversation JSONL format.

    ``turn_index`` counts from 1 within the session. ``extra`` holds the keys the format does
    not know; they come out again on export. ``line`` is where the turn stood in its file
    (1-based), or 0 for a turn that did not come from one.
    """

    session_id: str
    turn_index: int
    role: str
    text: str
    tags: list[str]
    persona_id: str | None = None
    timestamp: str | None = None
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None
    line: int = 0


class SessionRecord(NamedTuple):
    """What is known of a session once its last turn has been read."""

    session_id: str
    persona_id: str | None
    turn_count: int
    line: int = 0


class Answer(NamedTuple):
    """An answer to a criterion of a schema, as a file has it; ``schema`` is "name@version".

    ``of`` is "session" if it is about the session; it is written, not read: the schema says so.
    """

    criterion: str
    value: Any
    schema: str
    of: str = ""


class LabelRecord(NamedTuple):
    """One line of annotation JSONL: ``label`` is the code of the answer to the built-in criterion.

    A line under a schema has an ``answer`` instead; only there a ``rater`` says which model gave it.
    """

    text: str
    label: int | None
    persona_id: str
    session_id: str | None = None
    turn_index: int | None = None
    annotator: str | None = None
    notes: str | None = None
    timestamp: str | None = None
    confidence: float | None = None
    extra: dict[str, Any] | None = None
    line: int = 0
    answer: Answer | None = None
    rater: Rater | None = None


class LineError(NamedTuple):
    """A line that isn't a record: ``code`` is documented in docs/checks.md.

    ``session_id`` is the conversation the line belongs to as far as can be told: its own if
    that much can be read, else that of the line before it.
    """

    line: int
    code: str
    message: str
    session_id: str | None = None
    field: str | None = None


class Finding(NamedTuple):
    """What a check found. ``code`` begins with E (error) or W (warning).

    ``message`` never repeats personal data: it names class, place and length only.
    """

    code: str
    message: str
    line: int = 0
    session_id: str | None = None
    turn_index: int | None = None
    field: str | None = None
