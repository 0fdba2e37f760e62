"""Values of exports: JSON inside of strings, times of any unit, keys of any spelling."""

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

MAX_DECODED_CHARACTERS = 8 << 20
MAX_DECODING_DEPTH = 4

_decode = msgspec.json.Decoder().decode
_DIGITS = re.compile(r"-?\d{1,20}(\.\d+)?")


def decode_json(value: Any) -> Any:
    """What a string holds that is JSON, encoded once or several times; everything else as it is."""
    for _ in range(MAX_DECODING_DEPTH):
        if type(value) is not str or len(value) > MAX_DECODED_CHARACTERS:
            return value
        start = value[:64].lstrip()[:1]
        if not start or start not in '{["':
            return value
        try:
            value = _decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError):
            return value
    return value


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
    """An id as a string; empty if there is none, or only zeros, which is how OTLP says so."""
    if type(value) is int:
        value = str(value)
    if type(value) is not str:
        return ""
    value = value.strip()
    return "" if not value.strip("0") and len(value) > 7 else value


def to_seconds(value: Any) -> float | None:
    """Unix seconds of a time in seconds, milli-, micro- or nanoseconds, or of an ISO 8601 string."""
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
