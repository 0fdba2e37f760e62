"""Masks values of the pattern classes in what is stored beside conversations: problems of a file."""

from typing import Any

from datasets_app.domain.pii.detector import PATTERN_KINDS, merge_matches
from datasets_app.domain.pii.pseudonyms import format_placeholder
from datasets_app.domain.pii.rules.finder import RuleDetector

_DETECTOR = RuleDetector(frozenset(PATTERN_KINDS))


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
    for match in reversed(merge_matches(_DETECTOR.find(text))):
        text = f"{text[: match.start]}{format_placeholder(match.kind)}{text[match.end :]}"
    return text
