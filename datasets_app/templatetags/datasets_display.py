"""Filters that format values for people."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import template
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from datasets_app.catalog.dataset_facts import DatasetFacts
from datasets_app.catalog.gates import load_facts
from datasets_app.domain.labels.on_brand import ON_BRAND, YES_NAME
from datasets_app.domain.markdown import render_markdown
from datasets_app.domain.pii.network.learned import NAMES
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS
from datasets_app.domain.quality.personal_data_codes import is_error
from datasets_app.domain.wording import format_count, is_hash, shorten_hash
from datasets_app.models import Dataset
from datasets_app.templatetags.values import (
    BLANK,
    ago,
    digest,
    exact_time,
    on_date,
    session_name,
    short_datetime,
)

register = template.Library()


# Keys of events and jobs that hold sizes in bytes, and labels that read better than their keys.
_SIZE_KEYS = ("size", "bytes", "release_bytes")
# Numbers that name a row, and count nothing.
_ROW_KEYS = ("job", "scrub", "session", "turn")
_FACT_LABELS = {
    "drafted": "Variants drafted",
    "is_active": "Active",
    "is_staff": "Staff",
    "is_superuser": "Superuser",
    "waiting": "Drafts to review",
    "alike_after_scrub": "Variants that the scrub made equal",
    "sha256": "SHA-256",
    "persona_id": "Persona",
    "licence": "License",
    "repeated": "Repeated messages",
    ON_BRAND.key: YES_NAME,
    "session_id": "Session",
    "turn_index": "Turn",
    "yaml": "YAML",
    "audit trail": "Audit log",
}

# The types of personal data.
KIND_LABELS = {kind: f"{text[:1].upper()}{text[1:]}" for kind, text in KIND_DESCRIPTIONS.items()} | {
    "ID": "Values under keys such as user_id"
}

# What isn't here is neutral.
_BADGE_COLORS = {
    # Jobs.
    "queued": "info",
    "running": "info",
    "done": "good",
    "failed": "bad",
    # Texts of datasets.
    "raw": "warn",
    "clear": "info",
    "attested": "info",
    "scrubbed": "info",
    "released": "good",
    "expired": "warn",
    # The sharing checklist.
    "yes": "good",
    "no": "bad",
    "unknown": "warn",
    # The split that is locked.
    "test": "info",
    # Unfold's kinds of labels.
    "info": "info",
    "primary": "info",
    "danger": "bad",
    "warning": "warn",
    "success": "good",
}


@register.simple_tag
def text_facts(dataset: Dataset) -> DatasetFacts:
    """What is known about the text of a dataset, by one query."""
    return load_facts(dataset)


@register.filter
def number(value: int | str | None) -> str:
    """1234567 → 1,234,567. A template gives an empty string for a key that is missing."""
    return BLANK if value is None or value == "" else f"{value:,}"


@register.filter
def count(value: int | None, noun: str) -> str:
    """``3|count:"session"`` → 3 sessions; ``2|count:"person,people"`` → 2 people."""
    singular, _, plural = noun.partition(",")
    return format_count(value or 0, singular, plural or None)


@register.filter
def approximate(value: int | None) -> str:
    """1234567 → 1.2 million; small numbers stay exact."""
    if value is None:
        return BLANK
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if value >= size:
            return f"{value / size:.1f} {name}".replace(".0 ", " ")
    return f"{value:,}"


for _show in (ago, digest, exact_time, on_date, session_name, short_datetime):
    register.filter(_show)


@register.filter
def sentence_case(value: str) -> str:
    """import_dataset → Import dataset."""
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


@register.filter
def column_label(name: str) -> str:
    """The heading of a table's column."""
    return _FACT_LABELS.get(name) or sentence_case(name)


@register.filter
def duration(value: timedelta | float | None) -> str:
    """The two largest units: 1 h 5 min, 12 s."""
    if value is None:
        return BLANK
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
    """The progress of a job: bytes as a file size, other units as a number."""
    if value is None:
        return BLANK
    return filesizeformat(value) if unit == "bytes" else f"{value:,} {unit}".strip()


@register.filter
def badge_color(word: str | None) -> str:
    """The color of a badge, which only repeats what the badge says."""
    return _BADGE_COLORS.get(word or "", "neutral")


@register.filter
def answer_icon(answer: str) -> str:
    return {"yes": "check_circle", "no": "cancel"}.get(answer, "help")


@register.simple_tag
def turn_url(session_pk: int, turn_index: int | None) -> str:
    """The URL of a session's page, at a turn if there is one."""
    url = reverse("admin:datasets_app_session_change", args=[session_pk])
    return url if turn_index is None else f"{url}?turn={turn_index}#turn-{turn_index}"


@register.simple_tag
def render_excerpt(excerpt: Any, is_truncated: bool) -> SafeString:
    """An excerpt with its matches marked, without adding white space between its pieces."""
    pieces = [("…" * excerpt.cut_before, False), *excerpt.pieces, ("…" * is_truncated, False)]
    marked = (format_html("<mark>{}</mark>", text) if is_match else text for text, is_match in pieces)
    return format_html_join("", "{}", ((piece,) for piece in marked))


@register.filter
def finding_color(code: str) -> str:
    return "bad" if is_error(code) else "warn"


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)


@register.filter
def metadata_value(value: Any) -> str:
    """A value of metadata: text as it is, other JSON as it is written."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def time_left(value: timedelta) -> str:
    """The remaining time of a job: about 5 min left."""
    return "almost done" if value < timedelta(seconds=1) else f"about {duration(value)} left"


@register.filter
def details_summary(value: Any) -> str:
    """The details of an event on one line of a list, without digests and nested values. The address it came
    from has a column of its own."""
    if not isinstance(value, dict):
        return ""
    short = {
        key: item
        for key, item in value.items()
        if key != "source_address"
        and _fits_summary(item)
        and item not in (None, "", [])
        and not is_hash(item)
    }
    text = " · ".join(_phrase_fact(key, item) for key, item in short.items())
    return text if len(text) < 120 else text[:119] + "…"


def _phrase_fact(key: str, item: Any) -> str:
    """A detail as one would say it: "45 turns", "release 1.0.0", a sentence as it is."""
    name, value = column_label(key), _format_fact(key, item)
    if isinstance(item, bool):
        return f"{name}: {value}"
    if isinstance(item, int) and item != 1 and key.endswith("s") and key not in _SIZE_KEYS:
        return f"{value} {name[:1].lower()}{name[1:]}"
    return value if value.endswith(".") else f"{name} {value}"


def _fits_summary(item: Any) -> bool:
    """Whether it is a single value or a list of strings."""
    is_list_of_strings = isinstance(item, list) and all(isinstance(part, str) for part in item)
    return is_list_of_strings or not isinstance(item, dict | list)


@register.filter
def fact_rows(value: Any) -> list[tuple[str, str]]:
    """A JSON object as (label, value) pairs for a definition list."""
    if not isinstance(value, dict):
        return []
    return [(column_label(str(key)), _format_fact(str(key), item)) for key, item in value.items()]


@register.filter
def short_fact_rows(value: Any) -> list[tuple[str, str]]:
    """Like ``fact_rows``, with digests shortened."""
    return fact_rows(_shorten_hashes(value))


def _shorten_hashes(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shorten_hashes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorten_hashes(item) for item in value]
    return shorten_hash(value) if isinstance(value, str) else value


def _format_fact(key: str, item: Any) -> str:
    if key in _SIZE_KEYS and isinstance(item, int) and not isinstance(item, bool):
        return filesizeformat(item)
    return str(item) if key in _ROW_KEYS and isinstance(item, int) else format_value(item)


def format_value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return BLANK
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        separator = "; " if any(isinstance(item, dict) for item in value) else ", "
        return separator.join(map(format_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{_format_key(str(key))}: {format_value(item)}" for key, item in value.items())
    return str(value)


def _format_key(key: str) -> str:
    """Types of personal data such as SSN keep their case."""
    return key if key.isupper() else sentence_case(key).lower()


@register.filter
def check_title(code: str) -> str:
    """What a code of a check means, in a few words."""
    from datasets_app.domain.quality.checks import CODE_TITLES  # loads every check: not at every start

    return CODE_TITLES.get(code, "")


# How to fix problems of an import, without the codes whose message says so.
_REMEDIES = {
    "E101": "Each line must be one JSON object. Check that the file is complete and in the right format.",
    "E102": "Choose the format yourself if the wrong one was detected.",
    "E103": "Choose what each is under “Senders and roles”; without menus, rename roles in the file.",
    "E107": "Keep one of the two.",
    "E201": "Select “Renumber turns” to fix this.",
    "E202": "Keep the right one of the two.",
    "E204": "Give the session one persona_id, or split it.",
    "E207": "Select “Skip existing sessions” if they are identical.",
    "E208": "Remove it from the file, or choose to import only the valid sessions.",
}


@register.filter
def remedy(code: str) -> str:
    """How to fix a problem of an import; empty if its message says so."""
    return _REMEDIES.get(code, "")


@register.filter
def as_markdown(text: str) -> SafeString:
    """Markdown as HTML, with its headings below those of a card."""
    return mark_safe(render_markdown(text, top_heading=4))  # sanitized by nh3 # nosec B308 B703


def kind_label(kind: str) -> str:
    """EMAIL → E-mail addresses; custom patterns have only their own label."""
    return KIND_LABELS.get(kind, "Custom pattern")


@register.filter
def as_percent(value: float) -> str:
    """0.1234 → 12.3 %; a small share never rounds down to zero."""
    percent = 100 * value
    if 0 < percent < 0.1:
        return "less than 0.1 %"
    return f"{percent:.1f} %" if 0 < percent < 10 else f"{percent:.0f} %"


@register.filter
def name_model_list(names: Iterable[str]) -> str:
    """The name models of the settings, joined for a sentence."""
    builtin = f"the built-in models, in {len(NAMES)} languages"
    return " and ".join(builtin if name == "builtin" else name for name in names)


_NOTE_ICONS = {"bad": "error", "warn": "warning", "good": "check_circle", "info": "info"}


@register.simple_block_tag
def note(content: SafeString, kind: str) -> SafeString:
    """``{% note "warn" %}…{% endnote %}``: a box with an icon; kinds: bad, warn, good, info."""
    return format_html(
        '<div class="ad-note ad-{}"{}><span class="material-symbols-outlined" aria-hidden="true">{}</span>'
        "<div>{}</div></div>",
        kind,
        mark_safe(' role="alert"') if kind == "bad" else "",  # a constant # nosec B308
        _NOTE_ICONS[kind],
        content,
    )
