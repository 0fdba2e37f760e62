"""Values of exports: JSON inside of strings, times of any unit, keys of any spelling."""

import json
import re
from base64 import b64decode
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite, isinf, isnan
from typing import Any
from uuid import UUID

import msgspec

MAX_DECODED_CHARACTERS = 8 << 20
MAX_DECODING_DEPTH = 4

# How spreadsheets write a large number: 1.23457E+11, or 1,23457E+11.
SPREADSHEET_NUMBER = re.compile(r"(-?[1-9])(?:[.,](\d{1,20}))?E\+(\d{2})")

_decode = msgspec.json.Decoder().decode
# What Python reads of JSON, and msgspec doesn't: NaN, and halves of characters.
_LENIENT = re.compile(rb"NaN|Infinity|\\u[dD][89a-fA-F]")
# 3.0, as tables write a whole number where another cell is empty.
_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")
_DIGITS = re.compile(r"-?\d{1,20}(\.\d+)?")


def _read_number(text: str) -> float | None:
    """None for NaN, which pandas writes where nothing is known. An infinite number can't be stored."""
    number = float(text)
    if isinf(number):
        raise ValueError("number out of range")
    return None if isnan(number) else number


_decoder = json.JSONDecoder(parse_constant=_read_number, parse_float=_read_number)
decode_text = _decoder.raw_decode


def decode_leniently(raw: bytes) -> Any:
    """JSON, with NaN as None; halves of characters stay."""
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        if not _LENIENT.search(raw):
            raise
        return _decoder.decode(raw.decode())


def drop_zero_fraction(text: str) -> str:
    """ "3.0" → "3"; other texts as they are."""
    whole = _WHOLE_NUMBER.fullmatch(text)
    return whole[1] if whole else text


def replace_halves(value: Any) -> Any:
    """``value`` with \N{REPLACEMENT CHARACTER} for each half of a character, which can't be stored."""
    halves = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
    return _decode(halves.decode("utf-16-le", "replace"))


def decode_json(value: Any) -> Any:
    """What a string holds that is JSON, encoded once or several times, or messages as Python prints them;
    everything else as it is."""
    for _ in range(MAX_DECODING_DEPTH):
        if type(value) is not str or len(value) > MAX_DECODED_CHARACTERS:
            return value
        if not value[:64].lstrip().startswith(("{", "[", '"', "array(")):
            return value
        try:
            decoded = decode_leniently(value.encode())
            value = replace_halves(decoded) if "\\ud" in value.lower() else decoded
        except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError):
            return _read_python(value) if _PYTHON_MESSAGES.match(value) else value
    return value


# Lists of messages as Python's str() and NumPy write them, of which tables are full.
_PYTHON_MESSAGES = re.compile(
    r"\s*(?:array\()?[\[\s]*\{\s*'(?:role|from|content|value|type|author|sender|speaker|text)'\s*:"
)
_PYTHON_TOKEN = re.compile(
    # A quote that isn't closed takes the rest along, so that no other quote in it is tried.
    r"""(?P<text>'(?:[^'\\]|\\.)*+(?:'|\\?\Z)|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))|(?P<gap>\}\s+(?=\{))"""
    r"""|(?P<noise>array\((?=\[)|,\s*dtype=\w+\s*\))|(?P<word>[A-Za-z_][\w.]*(?:\((?:[^()'"]|'[^']*')*\))?)""",
    re.DOTALL,
)
_PYTHON_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|U([0-9a-f]{8})|u[0-9a-f]{4}|[^xUu])|[\"\n\r\t]", re.DOTALL)
_PYTHON_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "null"}


def _read_python(text: str) -> Any:
    try:
        return _decode(_PYTHON_TOKEN.sub(_translate_token, text))
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError):
        return text


def _translate_token(match: re.Match[str]) -> str:
    """One token of Python's as JSON has it; objects that JSON doesn't have are texts."""
    if match["text"]:
        return f'"{_PYTHON_ESCAPE.sub(_translate_escape, match["text"][1:-1])}"'
    if word := match["word"]:
        return _PYTHON_WORDS.get(word) or (json.dumps(word) if word[-1] == ")" else word)
    return "},"[: 2 * bool(match["gap"])]


def _translate_escape(match: re.Match[str]) -> str:
    if code := match[1] or match[2]:
        return json.dumps(chr(int(code, 16)))[1:-1]
    return "'" if match[0] == "\\'" else match[0] if match[0][0] == "\\" else json.dumps(match[0])[1:-1]


# How JSON of messages begins that a limit of length may cut: a list or an object with one of these keys.
_CUT_MESSAGES = re.compile(
    r'\s*(?:\[\s*)*\{\s*"(?:role|parts|content|type|messages?|kwargs|lc|id|choices|contents|candidates|system|model|text|name'
    r'|input|output|prompt|config|tool_calls|finish_reason|index)"\s*:|\s*\[\s*\{\s*(?:"[a-z]{0,12}"?)?$'
)
_CUT_TOKEN = re.compile(
    r'\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<mark>[\[\]{},:])|(?P<other>[^\s\[\]{},:"]+))', re.DOTALL
)
_HALF_ESCAPE = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3})?$|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?$"
)


def decode_cut(value: Any) -> tuple[Any, bool]:
    """As :func:`decode_json`, also of JSON of messages that was cut off; and whether it was."""
    decoded = decode_json(value)
    if type(decoded) is not str or not _CUT_MESSAGES.match(decoded):
        return decoded, False
    salvaged = _salvage(decoded)
    return (decoded, False) if salvaged is None else (salvaged, True)


def _salvage(text: str) -> Any:
    """What a beginning of JSON says as far as it goes; None for what isn't a beginning of any."""
    closers: list[str] = []
    good, at, expects_key = "", 0, False
    while match := _CUT_TOKEN.match(text, at):
        mark, start = match["mark"], at
        at = match.end()
        if mark and mark in "[{":
            closers.append("]" if mark == "[" else "}")
            expects_key = mark == "{"
            good = text[:at] + "".join(reversed(closers))
        elif mark and mark in "]}":
            if not closers or closers.pop() != mark:
                return None
            good = text[:at] + "".join(reversed(closers))
        elif mark == ",":
            expects_key = closers[-1:] == ["}"]
        elif mark == ":":
            expects_key = False
        elif not expects_key and (match["text"] is not None or at < len(text)):
            good = text[:at] + "".join(reversed(closers))
        if not closers and start:
            break
    rest = text[at:].lstrip()
    if rest[:1] == '"' and not expects_key and closers:  # within a text, which ends here
        cut = text[: len(text) - len(_half_escape(rest))]
        good = cut + '"' + "".join(reversed(closers))
    elif rest and rest[:1] != '"':
        return None
    try:
        return _decode(good)
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError):
        return None


def _half_escape(text: str) -> str:
    """The beginning of an escape that was cut, at the end of a text; the backslashes before it come in
    pairs."""
    found = _HALF_ESCAPE.search(text)
    before = len(text[: found.start()]) - len(text[: found.start()].rstrip("\\")) if found else 0
    return found.group() if found and before % 2 == 0 else ""


def pick(value: Any, *keys: str) -> Any:
    """The first of these keys whose value says something."""
    if type(value) is dict:
        for key in keys:
            found = value.get(key)
            if found is not None and found != "" and found != [] and found != {}:
                return found
    return None


def dig(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if type(value) is dict else None
    return value


def as_dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def as_list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def as_name(value: Any) -> str:
    """An id of any scalar kind as a string; empty if there is none, or only zeros, which is how OTLP says so.

    Tables make 7.0 of a 7 beside a gap; databases wrap ids in their types ({"$oid": …}, {"S": …}).
    """
    value = unwrap(value)
    if type(value) is dict and "base64" in value:
        value = _read_binary(value)
    if type(value) is float and isfinite(value):
        value = int(value) if value.is_integer() else repr(value)
    if type(value) is int or isinstance(value, UUID | Decimal):
        value = str(value)
    if type(value) is not str:
        return ""
    value = value.strip()
    if match := SPREADSHEET_NUMBER.fullmatch(value):
        number = Decimal(f"{match[1]}.{match[2] or 0}E{match[3]}")
        return str(int(number)) if number == int(number) else value
    return "" if not value.strip("0") and len(value) > 7 else value


def unwrap(value: Any) -> Any:
    """The value within what databases name its type by."""
    for _ in range(MAX_DECODING_DEPTH):
        if type(value) is dict and len(value) == 1:
            value = next(iter(value.values()))
    return value


def is_boolean(value: Any) -> bool:
    """Whether this isn't an id, but an answer to a question, also as tables write it."""
    return type(value) is bool or (type(value) is str and value.strip().lower() in ("true", "false"))


def _read_binary(value: dict[str, Any]) -> str:
    """The id in MongoDB's binary values; UUIDs are written as base64 of their bytes."""
    try:
        raw = b64decode(str(value["base64"]), validate=True)
    except ValueError:
        return ""
    return str(UUID(bytes=raw)) if len(raw) == 16 else raw.hex()


def to_seconds(value: Any) -> float | None:
    """Unix seconds of a time in seconds, milli-, micro- or nanoseconds, or of an ISO 8601 string; databases
    wrap times as they do ids."""
    value = unwrap(value if type(value) is not dict else pick(value, "_seconds", "seconds") or value)
    if type(value) is str:
        if not _DIGITS.fullmatch(value):
            return _parse_date(value)
        value = float(value)
    if type(value) not in (int, float) or not 0 < value < 1e20:
        return None
    for limit, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if value >= limit:
            return float(value / unit)
    return float(value)


def _parse_date(value: str) -> float | None:
    text = value.strip().removesuffix(" UTC")
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        return None


def format_time(seconds: float | None) -> str | None:
    """ISO 8601 in UTC, to the millisecond."""
    if seconds is None:
        return None
    try:
        date = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return date.isoformat(timespec="milliseconds" if date.microsecond else "seconds").replace("+00:00", "Z")


def drop_empty(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if item is not None and item not in ("", [], {})}
