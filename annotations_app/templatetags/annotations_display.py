"""How labels and their statistics are shown to people."""

from typing import Any

from django import template

register = template.Library()

_CAMPAIGN_BADGES = {"preparing": "info", "open": "good", "paused": "warn", "closed": "neutral"}
MINUS_SIGN = "\N{MINUS SIGN}"


@register.filter
def campaign_badge(status: str) -> str:
    """The colour of a badge; the badge's text says the same in words."""
    return _CAMPAIGN_BADGES.get(status, "neutral")


@register.filter
def scale_to(value: float | None, length: int) -> str:
    """A share of a length, for the attributes of a drawing."""
    return f"{max(0.0, min(1.0, value or 0.0)) * int(length):.2f}"


@register.filter
def complement(value: float) -> float:
    return 1.0 - value


@register.filter
def format_statistic(value: float | None) -> str:
    """0.4567 → 0.457, with a true minus; nothing is a dash."""
    return "–" if value is None else f"{value:.3f}".replace("-", MINUS_SIGN)


@register.filter
def format_statistic_short(value: float | None) -> str:
    """Two digits, for a cell of a map."""
    return "–" if value is None else f"{value:.2f}".replace("-", MINUS_SIGN)


@register.filter
def whole_number(value: float) -> str:
    return f"{value:,.0f}"


@register.filter
def whole_percent(value: float) -> str:
    """Whole percents, for an estimate."""
    return f"{100 * value:.0f} %"


@register.filter
def hours_or_minutes(value: float) -> str:
    """0.2 → 12 min; 31.4 → 31 h."""
    if value < 1:
        return f"{max(1, round(60 * value))} min"
    return f"{value:.1f} h" if value < 10 else f"{value:,.0f} h"


@register.filter
def days_left(value: float) -> str:
    if value < 1:
        return "less than a day is left"
    whole = round(value)
    return "about one more day" if whole == 1 else f"about {whole:,} more days"


@register.filter
def label_name(label: Any) -> str:
    return "–" if label is None else "On-brand" if int(label) else "Off-brand"


@register.filter
def rated_replies(part: Any) -> int:
    """Replies with labels of two people or more."""
    return int(part.items - part.single)


@register.filter
def add_float(value: float, more: float) -> str:
    return f"{value + float(more):g}"


@register.filter
def lookup(values: dict[Any, Any], key: Any) -> Any:
    return values.get(key)


@register.filter
def vote_dots(count: int, dot: str) -> str:
    """As many dots as there are votes, as far as they fit a line."""
    return dot * min(int(count), 12)
