"""One line of annotation JSONL ⇄ one LabelRecord."""

import math
from typing import Any

from datasets_app.domain.conversations.jsonl import (
    MAX_TURN_INDEX,
    InvalidRecord,
    check_name,
    check_timestamp,
    decode_object,
    encode_line,
    find_session_id,
    make_field_error,
)
from datasets_app.domain.conversations.records import LabelRecord, LineError
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.values import InvalidValue, decode_value, encode_level


def parse_label(line: int, raw: bytes) -> LabelRecord | LineError:
    """One line of annotation JSONL → LabelRecord, or a LineError."""
    try:
        return parse_label_object(decode_object(raw), line)
    except InvalidRecord as error:
        return error.to_line_error(line, find_session_id(raw))


def parse_label_object(value: dict[str, Any], line: int = 0) -> LabelRecord:
    """A parsed object → LabelRecord. Empties ``value``; raises :class:`InvalidRecord`."""
    text = value.pop("text", None)
    label = value.pop("label", None)
    if type(text) is not str:
        raise make_field_error("text", "a string", text)
    try:
        code = encode_level(ON_BRAND, label)
    except InvalidValue as error:
        raise make_field_error("label", str(error), label) from None
    return LabelRecord(
        text=text,
        label=code,
        persona_id=check_name("persona_id", value.pop("persona_id", None)),
        session_id=_pop_name(value, "session_id"),
        turn_index=_pop_turn_index(value),
        annotator=_pop_annotator(value),
        notes=_pop_notes(value),
        timestamp=_pop_timestamp(value),
        confidence=_pop_confidence(value),
        extra=value or None,
        line=line,
    )


def encode_label(record: LabelRecord) -> bytes:
    """The line of ``record``: fields without a value left out, the annotator under both names."""
    return _encode_line(record, {"label": decode_value(ON_BRAND, record.label)})


def encode_answer(record: LabelRecord, criterion: str, value: Any, schema: str) -> bytes:
    """The line of an answer to a criterion of a schema; the label of ``record`` isn't used."""
    return _encode_line(record, {"criterion": criterion, "value": value, "schema": schema})


def _encode_line(record: LabelRecord, answer: dict[str, Any]) -> bytes:
    value: dict[str, Any] = {"text": record.text, **answer, "persona_id": record.persona_id}
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


def _pop_name(value: dict[str, Any], field: str) -> str | None:
    name = value.pop(field, None)
    return None if name is None else check_name(field, name)


def _pop_turn_index(value: dict[str, Any]) -> int | None:
    index = value.pop("turn_index", None)
    if index is None or (type(index) is int and 0 <= index <= MAX_TURN_INDEX):
        return index
    raise make_field_error("turn_index", "a whole number from 1", index)


def _pop_annotator(value: dict[str, Any]) -> str | None:
    """Alignmenter's own tool writes ``labeler``. Where the two differ, both are kept."""
    annotator = _pop_name_or_blank(value, "annotator")
    labeler = _pop_name_or_blank(value, "labeler")
    if annotator and labeler and annotator != labeler:
        value["labeler"] = labeler
    return annotator or labeler


def _pop_name_or_blank(value: dict[str, Any], field: str) -> str | None:
    if value.get(field) == "":
        del value[field]
    return _pop_name(value, field)


def _pop_notes(value: dict[str, Any]) -> str | None:
    notes = value.pop("notes", None)
    if notes is None or type(notes) is str:
        return notes
    raise make_field_error("notes", "a string", notes)


def _pop_timestamp(value: dict[str, Any]) -> str | None:
    timestamp: str | None = value.pop("timestamp", None)
    if timestamp is not None:
        check_timestamp(timestamp)
    return timestamp


def _pop_confidence(value: dict[str, Any]) -> float | None:
    confidence = value.pop("confidence", None)
    if confidence is None:
        return None
    if type(confidence) not in (int, float):
        raise make_field_error("confidence", "a number", confidence)
    try:
        number = float(confidence)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise make_field_error("confidence", "a finite number", "")
    return number
