"""One line of annotation JSONL ⇄ one LabelRecord."""

import math
from typing import Any

from datasets_app.domain.conversations.jsonl import (
    MAX_NAME_CHARACTERS,
    MAX_TURN_INDEX,
    NotARecord,
    check_timestamp,
    decode_object,
    encode_line,
    session_of,
    shown,
)
from datasets_app.domain.conversations.records import LabelRecord, LineError


def parse_label(line: int, raw: bytes) -> LabelRecord | LineError:
    """One line of annotation JSONL → LabelRecord, or the LineError that says what is wrong."""
    try:
        return label_from_object(decode_object(raw), line)
    except NotARecord as error:
        return error.at(line, session_of(raw))


def label_from_object(value: dict[str, Any], line: int = 0) -> LabelRecord:
    """A parsed object → LabelRecord. Takes ``value`` apart; raises :class:`NotARecord`."""
    text = value.pop("text", None)
    label = value.pop("label", None)
    if type(text) is not str:
        raise _wrong("text", "a string", text)
    # 1.0 and true come from tools that also write 0.5 and null: not guessed at.
    if type(label) is not int or label not in (0, 1):
        raise _wrong("label", "0 (off-brand) or 1 (on-brand)", label)
    return LabelRecord(
        text=text,
        label=label,
        persona_id=_required_name(value, "persona_id"),
        session_id=_name(value, "session_id"),
        turn_index=_turn_index(value),
        annotator=_annotator(value),
        notes=_notes(value),
        timestamp=_timestamp(value),
        confidence=_confidence(value),
        extra=value or None,
        line=line,
    )


def encode_label(record: LabelRecord) -> bytes:
    """The line of ``record``: fields without a value left out, the annotator under both names."""
    value: dict[str, Any] = {
        "text": record.text,
        "label": record.label,
        "persona_id": record.persona_id,
    }
    optional = {
        "session_id": record.session_id,
        "turn_index": record.turn_index,
        "annotator": record.annotator,
        "labeler": record.annotator,
        "notes": record.notes,
        "timestamp": record.timestamp,
        "confidence": record.confidence,
    }
    value.update((key, item) for key, item in optional.items() if item is not None)
    value.update(record.extra or {})
    return encode_line(value)


def _required_name(value: dict[str, Any], field: str) -> str:
    name = _name(value, field)
    if name is None:
        raise _wrong(field, "a string that is not empty", None)
    return name


def _name(value: dict[str, Any], field: str) -> str | None:
    name = value.pop(field, None)
    if name is None:
        return None
    if type(name) is not str or not name.strip():
        raise _wrong(field, "a string that is not empty", name)
    if len(name) > MAX_NAME_CHARACTERS:
        raise NotARecord("E102", f"{field} is longer than {MAX_NAME_CHARACTERS} characters", field)
    return name


def _turn_index(value: dict[str, Any]) -> int | None:
    index = value.pop("turn_index", None)
    if index is None or (type(index) is int and 0 <= index <= MAX_TURN_INDEX):
        return index
    raise _wrong("turn_index", "a whole number from 1", index)


def _annotator(value: dict[str, Any]) -> str | None:
    """Alignmenter's own tool writes ``labeler``. Where the two differ, both are kept."""
    annotator = _name_or_blank(value, "annotator")
    labeler = _name_or_blank(value, "labeler")
    if annotator and labeler and annotator != labeler:
        value["labeler"] = labeler
    return annotator or labeler


def _name_or_blank(value: dict[str, Any], field: str) -> str | None:
    if value.get(field) == "":
        del value[field]
    return _name(value, field)


def _notes(value: dict[str, Any]) -> str | None:
    notes = value.pop("notes", None)
    if notes is None or type(notes) is str:
        return notes
    raise _wrong("notes", "a string", notes)


def _timestamp(value: dict[str, Any]) -> str | None:
    timestamp: str | None = value.pop("timestamp", None)
    if timestamp is not None:
        check_timestamp(timestamp)
    return timestamp


def _confidence(value: dict[str, Any]) -> float | None:
    confidence = value.pop("confidence", None)
    if confidence is None:
        return None
    if type(confidence) not in (int, float):
        raise _wrong("confidence", "a number", confidence)
    try:
        number = float(confidence)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong("confidence", "a finite number", "")
    return number


def _wrong(field: str, expected: str, got: object) -> NotARecord:
    if got is None:
        return NotARecord("E102", f"{field} is missing; expected {expected}", field)
    return NotARecord("E102", f"{field} must be {expected}, got {_described(got)}", field)


def _described(value: object) -> str:
    return "true or false" if isinstance(value, bool) else shown(value)
