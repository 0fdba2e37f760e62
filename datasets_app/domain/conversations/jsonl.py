"""One line of JSONL ⇄ one record. The only place that knows the JSON form of a turn."""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from datasets_app.domain.conversations.records import LineError, TurnRecord

# The database can't index longer ids and tags.
MAX_NAME_CHARACTERS = 500
MAX_TURN_INDEX = 2**31 - 1
MAX_NESTING = 100
ROLES = frozenset({"user", "assistant"})

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_SESSION_ID = re.compile(rb'"session_id"\s*:\s*("(?:[^"\\]|\\.)*")')
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|([nr"\\/])|[bft])')
_LINE_ENDS = {"n": "\n", "r": "\r"}
_SHORT_WORD = re.compile(r"[A-Za-z_]{0,16}|[0-9]{1,3}")
# Line ends to some readers, though not to JSON: always written as escapes.
_LINE_END_ESCAPES = {
    "\x85".encode(): b"\\u0085",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


class InvalidRecord(Exception):
    """An object that isn't a valid record, with the parts of its LineError."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.field = code, message, field

    def to_line_error(self, line: int, session_id: str | None) -> LineError:
        return LineError(line, self.code, self.message, session_id, self.field)


# --- reading ---------------------------------------------------------------------------------


def decode_object(raw: bytes) -> dict[str, Any]:
    """Parse one line strictly: UTF-8, no NaN, no lone surrogates, no NUL, no repeated key."""
    try:
        value = _decode(raw)
    except RecursionError:
        raise InvalidRecord("E101", f"nested deeper than {MAX_NESTING} levels") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise explain_syntax_error(raw, error) from None
    if type(value) is not dict:
        raise InvalidRecord("E101", f"expected a JSON object, got {_describe_kind(value)}")
    # Outside strings a line has one colon for each key. If the counts agree, no key was dropped
    # as a repetition; only an escaped colon or NUL could deceive, and those begin with \u00.
    if raw.count(b":") != _count_colons(value, 1) or (b"\\" in raw and b"\\u00" in raw):
        refuse_nul(value)
        refuse_repeated_keys(raw)
    return value


def find_first_object(lines: Iterable[tuple[int, bytes] | LineError]) -> dict[str, Any] | None:
    """The first line that is a JSON object, by which the kind of a file is told."""
    for item in lines:
        if isinstance(item, LineError):
            continue
        try:
            return decode_object(item[1])
        except InvalidRecord:
            continue
    return None


def parse_turn_object(value: dict[str, Any], line: int = 0) -> TurnRecord:
    """A parsed object → TurnRecord. Empties ``value``; raises :class:`InvalidRecord`."""
    get = value.pop
    session_id = get("session_id", None)
    turn_index = get("turn_index", None)
    role = get("role", None)
    text = get("text", None)
    tags = get("tags", None)
    persona_id = get("persona_id", None)
    timestamp = get("timestamp", None)
    metadata = get("metadata", None)
    check_name("session_id", session_id)
    if type(turn_index) is not int or not 0 <= turn_index <= MAX_TURN_INDEX:
        raise make_field_error("turn_index", "a whole number from 1", turn_index)
    if role not in ROLES if type(role) is str else True:
        remedy = "; keep system prompts in the metadata" if role == "system" else ""
        message = f"role must be 'user' or 'assistant', got {describe_value(role)}{remedy}"
        raise InvalidRecord("E103", message, "role")
    if type(text) is not str:
        raise make_field_error("text", "a string", text)
    if tags is None:
        tags = []
    elif tags or type(tags) is not list:
        _check_tags(tags)
    if persona_id is not None:
        check_name("persona_id", persona_id)
    if timestamp is not None:
        check_timestamp(timestamp)
    if metadata is not None and type(metadata) is not dict:
        raise InvalidRecord("E106", f"metadata must be an object, got {_describe_kind(metadata)}", "metadata")
    return TurnRecord(
        session_id, turn_index, role, text, tags, persona_id, timestamp, metadata, value or None, line
    )


def parse_turn(line: int, raw: bytes, previous_session: str | None = None) -> TurnRecord | LineError:
    """One line of conversation JSONL → TurnRecord, or a LineError."""
    session_id = None
    try:
        value = decode_object(raw)
        session_id = value.get("session_id")
        return parse_turn_object(value, line)
    except InvalidRecord as error:
        if type(session_id) is not str or not session_id.strip():
            session_id = find_session_id(raw)
        return error.to_line_error(line, (session_id or "")[:MAX_NAME_CHARACTERS] or previous_session)


def find_session_id(raw: bytes) -> str | None:
    """The session id of a line that may be invalid JSON, or None if it can't be found."""
    for match in _SESSION_ID.finditer(raw):
        before = raw[: match.start()]
        if before.count(b"{") - before.count(b"}") != 1:
            continue  # in an object nested in that of the line
        try:
            session_id = _decode(match[1])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if session_id.strip():
            return str(session_id)[:MAX_NAME_CHARACTERS]
    return None


def check_timestamp(value: object) -> None:
    """Raise unless ``value`` is a string in ISO 8601."""
    if type(value) is not str:
        raise InvalidRecord("E105", f"timestamp must be a string, got {_describe_kind(value)}", "timestamp")
    try:
        datetime.fromisoformat(value)
        # Python takes any character between date and time.
        if value[10:11] not in ("", "T", "t", " ") and value[7:8] == "-":
            raise ValueError
    except ValueError:
        raise InvalidRecord(
            "E105", "timestamp must be ISO 8601, for example 2025-11-03T14:25:00Z", "timestamp"
        ) from None


def describe_value(value: object) -> str:
    """An invalid value for a message. Longer values may be private: only a short plain word is repeated."""
    if type(value) is str:
        return repr(value) if _SHORT_WORD.fullmatch(value) else f"a string of {len(value)} characters"
    return _describe_kind(value)


def _check_tags(tags: object) -> None:
    if type(tags) is not list:
        raise InvalidRecord("E104", f"tags must be an array of strings, got {_describe_kind(tags)}", "tags")
    for tag in tags:
        if type(tag) is not str:
            raise InvalidRecord("E104", f"every tag must be a string, got {_describe_kind(tag)}", "tags")
        if len(tag) > MAX_NAME_CHARACTERS:
            raise InvalidRecord("E104", f"a tag is longer than {MAX_NAME_CHARACTERS} characters", "tags")


def check_name(field: str, value: object) -> str:
    """Raise :class:`InvalidRecord` unless ``value`` can be an id: a string that is not blank or too long."""
    if type(value) is not str or not value.strip():
        raise make_field_error(field, "a string that is not empty", value)
    if len(value) > MAX_NAME_CHARACTERS:
        raise InvalidRecord("E102", f"{field} is longer than {MAX_NAME_CHARACTERS} characters", field)
    return value


def make_field_error(field: str, expected: str, got: object) -> InvalidRecord:
    if got is None:
        return InvalidRecord("E102", f"{field} is missing; expected {expected}", field)
    return InvalidRecord("E102", f"{field} must be {expected}, got {describe_value(got)}", field)


def _describe_kind(value: object) -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return str(value).lower()
    if type(value) is int or type(value) is float:
        # A longer one may be a telephone number.
        return f"the number {value}" if type(value) is int and abs(value) < 1000 else "a number"
    kinds = {str: "a string", list: "an array", dict: "an object"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "something else")


def describe_syntax(message: str) -> str:
    """What the parser of the standard library says, as part of a sentence."""
    return (message[0].lower() + message[1:]).removesuffix(" starting at")


def explain_syntax_error(raw: bytes, error: Exception) -> InvalidRecord:
    """Explain the cause of a syntax error: the parser's own message names bytes only."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return InvalidRecord("E101", f"not UTF-8 (byte {wrong.start + 1}); convert the file to UTF-8")
    if b"\0" in raw:
        return InvalidRecord("E108", "a NUL character can't be stored; remove it")
    try:
        json.loads(raw)
    except json.JSONDecodeError as wrong:
        problem = describe_syntax(wrong.msg)
        hint = (
            "; is the line cut off?" if wrong.pos >= len(raw.rstrip()) - 1 or "nterminated" in problem else ""
        )
        return InvalidRecord("E101", f"not valid JSON: {problem} at column {wrong.colno}{hint}")
    except (RecursionError, ValueError):
        pass
    text = str(error)
    if "out of range" in text:
        return InvalidRecord("E101", "a number is too large")
    if re.search(r"\b-?(NaN|Infinity)\b", raw.decode()):
        return InvalidRecord("E101", "NaN and Infinity are not JSON; use null or a string")
    return InvalidRecord("E108", "a lone surrogate (half a character, \\ud800 to \\udfff) can't be stored")


def _count_colons(value: Any, depth: int) -> int:
    """Count the colons in the JSON of ``value``: one for each key, and those within strings.

    Colons within keys are left out; they are rare, and only cause a closer look.
    """
    if depth > MAX_NESTING:
        raise InvalidRecord("E101", f"nested deeper than {MAX_NESTING} levels")
    count, items = 0, value
    if type(value) is dict:
        count, items = len(value), value.values()
    for item in items:
        kind = type(item)
        if kind is str:
            count += item.count(":")
        elif kind is dict or kind is list:
            count += _count_colons(item, depth + 1)
    return count


def refuse_nul(value: Any) -> None:
    """Raises InvalidRecord."""
    if _has_nul(value):
        raise InvalidRecord("E108", "a NUL character (\\u0000) can't be stored; remove it")


def refuse_repeated_keys(raw: str | bytes) -> None:
    """Raises InvalidRecord."""

    def unique(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidRecord("E107", f"the key {describe_value(key)} appears twice in one object")
            seen.add(key)

    json.loads(raw, object_pairs_hook=unique)


def _has_nul(value: Any) -> bool:
    if type(value) is str:
        return "\0" in value
    if type(value) is dict:
        return any("\0" in key or _has_nul(item) for key, item in value.items())
    return type(value) is list and any(map(_has_nul, value))


# --- writing ---------------------------------------------------------------------------------


def build_turn_object(turn: TurnRecord) -> dict[str, Any]:
    """The object of a line: the first six fields always, the others where there is a value."""
    value: dict[str, Any] = {
        "session_id": turn.session_id,
        "turn_index": turn.turn_index,
        "role": turn.role,
        "text": turn.text,
        "tags": turn.tags,
        "persona_id": turn.persona_id,
    }
    if turn.timestamp is not None:
        value["timestamp"] = turn.timestamp
    if turn.metadata is not None:
        value["metadata"] = turn.metadata
    if turn.extra:
        value.update(turn.extra)
    return value


def encode_line(value: Any) -> bytes:
    """``value`` as one line of JSON with its ``\\n``, safe for every reader of lines."""
    return escape_line_ends(_encode(value)) + b"\n"


def escape_line_ends(encoded: bytes) -> bytes:
    """Escape what some readers take for a line end. Only strings can hold these characters."""
    for character, escape in _LINE_END_ESCAPES.items():
        if character in encoded:
            encoded = encoded.replace(character, escape)
    return encoded


def encode_turn(turn: TurnRecord) -> bytes:
    return encode_line(build_turn_object(turn))


def encode_session(turns: Sequence[TurnRecord]) -> bytes:
    """A whole session on one line, as Alignmenter's ``calibrate analyze-scenarios`` reads it: it takes all
    tags of the session for scenarios, so the others stay with the turns."""
    tags = dict.fromkeys(tag for turn in turns for tag in turn.tags if tag.startswith("scenario:"))
    session = {
        "session_id": turns[0].session_id,
        "persona_id": turns[0].persona_id,
        "tags": list(tags),
        "turns": list(map(build_turn_object, turns)),
    }
    return encode_line(session)


def unescape_json(text: str) -> str:
    """JSON as text, with its escapes decoded: tabs become blanks."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_read_escape, text)


def _read_escape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _LINE_ENDS.get(match[2], match[2] or " ")
