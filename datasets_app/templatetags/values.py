"""Times, digests and ids of sessions as text; ``datasets_display`` makes filters of them."""

from datetime import datetime

from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime, now

from datasets_app.core.web.time_zone import shown_zone
from datasets_app.domain.wording import format_count, is_hash, shorten_hash

# What stands where there is no value.
BLANK = "–"


def short_datetime(value: datetime | None) -> str:
    """21 Nov 2026 08:24, in the reader's time zone, for text that can't be hovered over."""
    return date_format(localtime(value, shown_zone()), "j M Y H:i") if value else BLANK


def ago(value: datetime | None) -> str:
    """5 minutes ago, with the exact time on hover; a date after a month."""
    return _time_tag(value, describe_age(value, now())) if value else BLANK


def on_date(value: datetime | None) -> str:
    """21 Nov 2026, within a sentence that says "on", "since" or "until"; the exact time on hover."""
    return _time_tag(value, date_format(localtime(value, shown_zone()), "j M Y")) if value else BLANK


def exact_time(value: datetime | None) -> str:
    """21 Nov 2026 08:24:03, where the order of things within a minute matters."""
    if not value:
        return BLANK
    return _time_tag(value, date_format(localtime(value, shown_zone()), "j M Y H:i:s"))


def _time_tag(value: datetime, text: str) -> SafeString:
    local = localtime(value, shown_zone())
    exact = f"{date_format(local, 'j M Y H:i:s')} {local.tzname()}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat("T", "seconds"), exact, text
    )


_AGE_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_MAX_RELATIVE_DAYS = 30


def describe_age(value: datetime, at: datetime) -> str:
    """How long before ``at``, or how long after it: 5 minutes ago, in 3 days."""
    seconds = int((at - value).total_seconds())
    if abs(seconds) >= _MAX_RELATIVE_DAYS * 86_400:
        return date_format(localtime(value, shown_zone()), "j M Y")
    for size, unit in _AGE_UNITS:
        if abs(seconds) >= size:
            amount = format_count(abs(seconds) // size, unit)
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now" if seconds >= 0 else "in less than a minute"


def digest(value: str | None, name: str = "digest") -> str:
    """The start of a digest, all of it on hover, and a button that copies it; ``name`` is what is copied."""
    if not value:
        return BLANK
    return format_html(
        '<span class="ad-digest"><code class="ad-hash" title="{0}">{1}</code><button type="button"'
        ' class="ad-copy" data-copy="{0}"><span class="material-symbols-outlined" aria-hidden="true">'
        'content_copy</span><span class="ad-sr">Copy {2}</span></button></span>',
        value,
        shorten_hash(value),
        name,
    )


def session_name(value: str | None) -> str:
    """The id of a session: a hashed one shortened, all of it on hover."""
    text = str(value or "")
    if not is_hash(text):
        return text
    return format_html('<span class="ad-hash" title="{}">{}</span>', text, shorten_hash(text))
