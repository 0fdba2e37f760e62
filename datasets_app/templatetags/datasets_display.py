"""How values are shown to people."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.template.defaultfilters import filesizeformat
from django.utils.formats import date_format
from django.utils.timezone import localtime

from datasets_app.core.web.remedies import REMEDIES

register = template.Library()

# Facts of events and jobs that are sizes in bytes, and names that read better than their keys.
_SIZE_KEYS = ("size", "bytes", "release_bytes")
_FACT_LABELS = {
    "sha256": "SHA-256",
    "persona_id": "Persona",
    "licence": "Licence",
    "license": "Licence",
    "on_brand": "On-brand",
    "gzip": "Gzip",
}

# The classes of personal data, in a word or two.
KIND_LABELS = {
    "CREDENTIAL": "Keys, tokens, passwords",
    "EMAIL": "E-mail addresses",
    "PATH": "File paths that name someone",
    "IP": "IP addresses",
    "HOST": "Internal host names",
    "CREDIT_CARD": "Card numbers",
    "SSN": "Social security numbers",
    "PHONE": "Telephone numbers",
    "NAME": "Names of people",
    "ID": "Values under keys such as user_id",
}

_STATE_COLORS = {
    "prepared": "neutral",
    "queued": "info",
    "running": "info",
    "done": "good",
    "failed": "bad",
    "cancelled": "neutral",
    "raw": "neutral",
    "scrubbed": "info",
    "released": "good",
    "expired": "warn",
}


@register.filter
def number(value: int | str | None) -> str:
    """1234567 → 1,234,567. A template gives an empty string for a key that is missing."""
    return "–" if value is None or value == "" else f"{value:,}"


@register.filter
def approximate(value: int | None) -> str:
    """1234567 → 1.2 million; small numbers stay exact."""
    if value is None:
        return "–"
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if value >= size:
            return f"{value / size:.1f} {name}".replace(".0 ", " ")
    return f"{value:,}"


@register.filter
def short_datetime(value: datetime | None) -> str:
    """21 Nov 2026 08:24, in the installation's time zone."""
    return date_format(localtime(value), "j M Y H:i") if value else "–"


@register.filter
def sentence_case(value: str) -> str:
    """import_dataset → Import dataset."""
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


# Column names that say less to a person than to a program.
_COLUMN_LABELS = {"persona_id": "Persona", "session_id": "Session", "turn_index": "Turn", "yaml": "YAML"}


@register.filter
def column_label(name: str) -> str:
    """The name of a table's column, as a heading."""
    return _COLUMN_LABELS.get(name) or sentence_case(name)


@register.filter
def duration(value: timedelta | float | None) -> str:
    """The two largest units: 1 h 5 min, 12 s."""
    if value is None:
        return "–"
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    if seconds < 1:
        return "less than 1 s"
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
def state_color(state: str) -> str:
    """The colour of a badge; the badge's text says the same in words."""
    return _STATE_COLORS.get(state, "neutral")


@register.filter
def answer_color(answer: str) -> str:
    """The colour of an item of the sharing list."""
    return {"yes": "good", "no": "bad", "unsigned": "neutral"}.get(answer, "warn")


@register.filter
def finding_color(code: str) -> str:
    return "bad" if code.startswith("E") else "warn"


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)


@register.filter
def full_datetime(value: datetime | None) -> str:
    """21 Nov 2026 08:24:03, where the order of things within a minute matters."""
    return date_format(localtime(value), "j M Y H:i:s") if value else "–"


@register.filter
def time_left(value: timedelta) -> str:
    """What is left of a job's time."""
    return "almost done" if value < timedelta(seconds=1) else f"about {duration(value)} left"


@register.filter
def details_summary(value: Any) -> str:
    """The facts of an event on one line of a list: without what only its own page has room for."""
    if not isinstance(value, dict):
        return ""
    short = {
        key: item
        for key, item in value.items()
        if _fits_summary(item) and item is not None and item != "" and not _is_hash(item)
    }
    text = ", ".join(f"{name}: {item}" for name, item in iter_fact_rows(short))
    return text if len(text) < 120 else text[:119] + "…"


def _fits_summary(item: Any) -> bool:
    """One value, or some words."""
    words_only = isinstance(item, list) and all(isinstance(part, str) for part in item)
    return words_only or not isinstance(item, dict | list)


@register.filter
def fact_rows(value: Any) -> list[tuple[str, str]]:
    """A JSON object as (name, value) for a list of facts."""
    return list(iter_fact_rows(value))


@register.filter
def short_fact_rows(value: Any) -> list[tuple[str, str]]:
    """Like ``facts``, with only the start of each digest."""
    return list(iter_fact_rows(_shorten_hashes(value)))


def _shorten_hashes(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shorten_hashes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorten_hashes(item) for item in value]
    return f"{value[:12]}…" if _is_hash(value) else value


def iter_fact_rows(value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        yield _FACT_LABELS.get(str(key)) or sentence_case(str(key)), _format_fact(str(key), item)


def _format_fact(key: str, item: Any) -> str:
    if key in _SIZE_KEYS and isinstance(item, int) and not isinstance(item, bool):
        return filesizeformat(item)
    return format_value(item)


def _is_hash(item: Any) -> bool:
    return isinstance(item, str) and len(item) >= 32 and not set(item) - set("0123456789abcdef")


def format_value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        apart = "; " if any(isinstance(item, dict) for item in value) else ", "
        return apart.join(map(format_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{_format_key(str(key))}: {format_value(item)}" for key, item in value.items())
    return str(value)


def _format_key(key: str) -> str:
    """Classes such as SSN are written as they are."""
    return key if key.isupper() else sentence_case(key).lower()


@register.filter
def check_title(code: str) -> str:
    """What a code stands for, in a few words."""
    from datasets_app.domain.quality.checks import CODE_TITLES

    return CODE_TITLES.get(code, "")


@register.filter
def remedy(code: str) -> str:
    """What to do about a problem of an import, or nothing."""
    return REMEDIES.get(code, "")


_EMPTY_LIST_TEXTS = {
    "retentionpolicy": ("No retention policies yet.", "Without one, nothing is ever deleted."),
    "annotation": ("No labels yet.", "Import a file of labels; each finds its turn by session or by text."),
    "campaign": (
        "No campaigns yet.",
        "A campaign has some people label the replies of a dataset: does each sound like the persona?",
    ),
    "persona": ("No personas yet.", "Add one, or import its YAML: labels and checks refer to it by its id."),
    "dataset": ("No datasets yet.", "Import a file of conversations to begin."),
    "jobrun": ("No jobs yet.", "Imports, checks and exports will be listed here."),
    "auditevent": ("No events yet.", "Whatever changes or leaves this installation will be listed here."),
}


@register.filter
def empty_list_text(model_name: str) -> tuple[str, str]:
    """What a list without rows says, and what would fill it."""
    return _EMPTY_LIST_TEXTS.get(model_name, ("Nothing here yet.", "What there is will be listed here."))


@register.filter
def kind_label(kind: str) -> str:
    """EMAIL → E-mail addresses; a class of somebody's own is its label."""
    return KIND_LABELS.get(kind, "Own pattern")


@register.filter
def as_percent(value: float) -> str:
    """0.1234 → 12.3 %; what is little is never nothing."""
    percent = 100 * value
    if 0 < percent < 0.1:
        return "less than 0.1 %"
    return f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


@register.filter
def status_color(dataset: Any) -> str:
    """The colour of a dataset's status: real people's words that nobody has scrubbed are a warning."""
    if dataset.origin == "production" and dataset.status == "raw":
        return "warn"
    return state_color(dataset.status)


@register.filter
def name_model_list(names: Iterable[str]) -> str:
    """The name models of the settings, for people."""
    own = "the model that comes with the application"
    return " and ".join(own if name == "builtin" else name for name in names)
