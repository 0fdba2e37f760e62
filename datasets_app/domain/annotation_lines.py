"""One line of annotation JSONL ⇄ one LabelRecord."""

import math
import re
from collections.abc import Mapping
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
    refuse_nul,
)
from datasets_app.domain.conversations.records import Answer, LabelRecord, LineError
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.rater import InvalidRater, Rater, RaterKind, make_rater
from datasets_app.domain.labels.values import InvalidValue, decode_value, encode_level

_SCHEMA_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}@[1-9][0-9]{0,8}")


# Whose replies were shown as A and B; which of them was chosen follows from it.
PAIR, PAIR_SIDES = "pair", ("a", "b")
CHOSEN = ("chosen", "rejected")


def name_chosen(extra: Mapping[str, Any] | None, criterion: Criterion | None, value: Any) -> dict[str, str]:
    """The fields that name the source of the better and of the other reply; written, not read."""
    sides = (extra or {}).get(PAIR)
    is_preference = criterion is not None and criterion.kind == Kind.PREFERENCE
    if (
        not is_preference
        or value not in PAIR_SIDES
        or type(sides) is not dict
        or set(sides) != set(PAIR_SIDES)
    ):
        return {}
    return dict(zip(CHOSEN, (sides[value], sides["b" if value == "a" else "a"]), strict=True))


def parse_label(line: int, raw: bytes) -> LabelRecord | LineError:
    """One line of annotation JSONL → LabelRecord, or a LineError."""
    try:
        return parse_label_object(decode_object(raw), line)
    except InvalidRecord as error:
        return error.to_line_error(line, find_session_id(raw))


def parse_label_object(value: dict[str, Any], line: int = 0) -> LabelRecord:
    """A parsed object → LabelRecord. Empties ``value``; raises :class:`InvalidRecord`.

    A line without ``label`` but with ``criterion`` is an answer under a schema.
    """
    # Files of other tools were decoded less strictly than our lines.
    refuse_nul(value)
    text = value.pop("text", None)
    if type(text) is not str:
        raise make_field_error("text", "a string", text)
    answer = _pop_answer(value) if "criterion" in value and "label" not in value else None
    annotator = _pop_annotator(value)
    return LabelRecord(
        text=text,
        label=None if answer else _pop_label(value),
        persona_id=check_name("persona_id", value.pop("persona_id", None)),
        session_id=_pop_name(value, "session_id"),
        turn_index=_pop_turn_index(value),
        annotator=annotator,
        notes=_pop_notes(value),
        timestamp=_pop_timestamp(value),
        confidence=_pop_confidence(value),
        rater=_pop_rater(value, annotator) if answer else None,
        extra=value or None,
        line=line,
        answer=answer,
    )


def encode_label(record: LabelRecord) -> bytes:
    return encode_line(describe_label(record))


def describe_label(record: LabelRecord) -> dict[str, Any]:
    """The object of its line: fields without a value left out, the annotator under both names."""
    said = record.answer._asdict() if record.answer else {"label": _decode_label(record.label)}
    if not said.get("of"):
        said.pop("of", None)
    value: dict[str, Any] = {"text": record.text, **said, "persona_id": record.persona_id}
    optional = {
        "session_id": record.session_id,
        "turn_index": record.turn_index,
        "annotator": record.annotator,
        "labeler": record.annotator,
        "notes": record.notes,
        "timestamp": record.timestamp,
        "confidence": record.confidence,
        "rater": record.rater and _describe_model(record.rater),
    }
    value.update((key, item) for key, item in optional.items() if item is not None)
    value.update(record.extra or {})
    return value


def _decode_label(label: int | None) -> Any:
    assert label is not None  # a line without an answer has one  # nosec B101
    return decode_value(ON_BRAND, label)


def _describe_model(rater: Rater) -> dict[str, str]:
    return {"kind": str(rater.kind), "version": rater.version, "prompt_digest": rater.prompt_digest}


def _pop_label(value: dict[str, Any]) -> int:
    label = value.pop("label", None)
    try:
        return encode_level(ON_BRAND, label)
    except InvalidValue as error:
        raise make_field_error("label", str(error), label) from None


def _pop_answer(value: dict[str, Any]) -> Answer:
    """Whether the schema and the criterion are known, and the value is one of theirs, is not looked at."""
    criterion, schema = check_name("criterion", value.pop("criterion")), value.pop("schema", None)
    said = value.pop("value", None)
    if type(value.get(PAIR)) is dict:
        for field in CHOSEN:
            value.pop(field, None)
    if value.get("of") in ("session", "reply"):
        del value["of"]
    if type(schema) is not str or not _SCHEMA_PATTERN.fullmatch(schema):
        raise make_field_error("schema", "the name and version of a schema, such as quality@1", schema)
    if type(said) not in (int, float, str, list):
        raise make_field_error("value", "a number, a string or an array", said)
    return Answer(criterion, said, schema)


def _pop_rater(value: dict[str, Any], annotator: str | None) -> Rater | None:
    """Only a model is named: people and files are told by the annotator."""
    said = value.pop("rater", None)
    if said is None:
        return None
    parts = {"kind": RaterKind.MODEL.value, "version": "", "prompt_digest": ""}
    if type(said) is not dict or {**parts, **said}.keys() != parts.keys() or said.get("kind") != "model":
        raise make_field_error("rater", 'a model: {"kind": "model", "version", "prompt_digest"}', said)
    if any(type(part) is not str for part in said.values()):
        raise make_field_error("rater", "an object of strings", said)
    try:
        return make_rater(RaterKind.MODEL, annotator, said.get("version", ""), said.get("prompt_digest", ""))
    except InvalidRater as error:
        raise InvalidRecord("E102", f"rater: {error}", "rater") from None


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
