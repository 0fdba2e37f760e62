"""JSON from outside that is read as a whole: what no column can hold is refused, as is deep nesting."""

import json
import re
from typing import Any

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def parse_storable(text: str | bytes) -> Any:
    """The value, in which numbers may be NaN or infinite. Raises ValueError."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    check_storable(value)
    return value


def check_storable(value: Any) -> None:
    """Raises ValueError if a text or a key has a NUL character or half of a character (a lone surrogate)."""
    try:
        written = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    written.encode()
    if _NUL.search(written):
        raise ValueError("a NUL character")
