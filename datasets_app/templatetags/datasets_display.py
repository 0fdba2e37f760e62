"""How values are shown to people."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django import template
from django.template.defaultfilters import filesizeformat

register = template.Library()

_STATE_KINDS = {
    "prepared": "neutral", "queued": "info", "running": "info", "done": "good", "failed": "bad",
    "cancelled": "neutral",
    "raw": "neutral", "scrubbed": "info", "released": "good", "expired": "warn",
}  # fmt: skip


@register.filter
def number(value: int | None) -> str:
    """1234567 → 1,234,567."""
    return "–" if value is None else f"{value:,}"


@register.filter
def about(value: int | None) -> str:
    """1234567 → 1.2 million; small numbers stay exact."""
    if value is None:
        return "–"
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if value >= size:
            return f"{value / size:.1f} {name}".replace(".0 ", " ")
    return f"{value:,}"


@register.filter
def words(value: str) -> str:
    """import_dataset → Import dataset."""
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


@register.filter
def duration(value: timedelta | float | None) -> str:
    """The two largest units: 1 h 5 min, 12 s."""
    if value is None:
        return "–"
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    if seconds < 1:
        return "under 1 s"
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        amount, seconds = divmod(seconds, size)
        if amount:
            parts.append(f"{amount} {unit}")
        elif parts:
            break
    return " ".join(parts[:2])


@register.filter
def amount(value: int | None, unit: str) -> str:
    """A job's progress in its unit: bytes as a size, everything else as a number."""
    if value is None:
        return "–"
    return filesizeformat(value) if unit == "bytes" else f"{value:,} {unit}".strip()


@register.filter
def kind_of_state(state: str) -> str:
    """The colour of a badge; the badge's text says the same in words."""
    return _STATE_KINDS.get(state, "neutral")


@register.filter
def kind_of_check(code: str) -> str:
    return "bad" if code.startswith("E") else "warn"


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)


@register.filter
def facts(value: Any) -> list[tuple[str, str]]:
    """A JSON object as (name, value) for a list of facts."""
    return list(plain_facts(value))


def plain_facts(value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        yield words(str(key)), plain(item)


def plain(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(str, value))
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


@register.filter
def check_title(code: str) -> str:
    """What a code stands for, in a few words."""
    from datasets_app.domain import quality

    return quality.TITLES.get(code, "")
