"""Masks values of all classes but names in what is stored beside conversations: problems of a file."""

from typing import Any

from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.detector import merge_matches
from datasets_app.domain.pii.pseudonyms import format_placeholder

# Messages count lines and name columns: only what is likelier a value than not is masked.
_LIKELY = 0.5


def mask_values(value: Any) -> Any:
    """A JSON value with placeholders in its strings; other values and all keys stay."""
    if isinstance(value, str):
        return _mask_text(value)
    if isinstance(value, list):
        return [mask_values(item) for item in value]
    if isinstance(value, dict):
        return {key: mask_values(item) for key, item in value.items()}
    return value


def _mask_text(text: str) -> str:
    found = merge_matches(match for match in find_values(text) if match.score >= _LIKELY)
    for match in reversed(found):
        text = f"{text[: match.start]}{format_placeholder(match.kind)}{text[match.end :]}"
    return text
