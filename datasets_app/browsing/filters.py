"""The filters of the list of sessions, as they are in its address."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from datasets_app import hooks
from datasets_app.catalog.rows import session_pages
from datasets_app.catalog.rows.session_pages import Condition
from datasets_app.models import CheckReport, ScrubRun, Session

MAX_TEXT_LENGTH = 500
ANY, NONE, YES, NO = "any", "none", "yes", "no"
_DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_CODE = re.compile(r"[EW]\d{3}")
SPLIT_CHOICES = [*Session.Split.choices, (session_pages.NO_SPLIT, "No split")]
# What tells something about the text; not for people who may not read it.
TEXT_FILTERS = ("q", "id", "persona", "tag", "since", "until", "meta", "commented")
TITLES = {
    "q": "Words",
    "id": "ID starts with",
    "persona": "Persona",
    "tag": "Tag",
    "since": "From",
    "until": "Until",
    "meta": "Metadata",
    "commented": "Commented",
    "kind": "Personal data",
    "split": "Split",
    "code": "Finding",
    "labels": "Labels",
    "excluded": "Excluded",
    "min": "Turns, at least",
    "max": "Turns, at most",
    "reply_min": "Characters of a reply, at least",
    "reply_max": "Characters of a reply, at most",
}


class SessionFilter(NamedTuple):
    """Each is empty, or None, if it doesn't limit the list. The fields have the names of the parameters."""

    q: str = ""
    id: str = ""
    persona: str = ""
    tag: str = ""
    since: str = ""
    until: str = ""
    # A key of the turns' metadata, or "key=value".
    meta: str = ""
    commented: str = ""
    # Of what the last scrub or preview found.
    kind: str = ""
    split: str = ""
    code: str = ""
    labels: str = ""
    excluded: str = ""
    min: int | None = None
    max: int | None = None
    reply_min: int | None = None
    reply_max: int | None = None

    @property
    def is_active(self) -> bool:
        return bool(self.as_parameters())

    @property
    def has_text(self) -> bool:
        """Whether it names something that stands in a conversation."""
        return any(getattr(self, name) for name in TEXT_FILTERS)

    def as_parameters(self) -> dict[str, str]:
        """Those that limit the list."""
        return {name: str(value) for name, value in self._asdict().items() if value not in ("", None)}


def parse_filter(parameters: Mapping[str, Any], *, may_read: bool, user: Any) -> SessionFilter:
    """The filters in an address; leaves out what :func:`list_ignored` names."""

    def number(name: str) -> int | None:
        value = _text(parameters, name)
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None

    def one_of(name: str, choices: Any) -> str:
        return value if (value := _text(parameters, name)) in choices else ""

    def matching(name: str, pattern: re.Pattern[str]) -> str:
        return value if pattern.fullmatch(value := _text(parameters, name)) else ""

    may_see_kinds = user is None or user.has_perm("datasets_app.view_scrubfinding")
    structure = SessionFilter(
        kind=_text(parameters, "kind") if may_see_kinds else "",
        split=one_of("split", dict(SPLIT_CHOICES)),
        code=one_of("code", {ANY}) or matching("code", _CODE),
        labels=one_of("labels", list_label_filters(user)),
        excluded=one_of("excluded", {YES, NO}),
        **{name: number(name) for name in ("min", "max", "reply_min", "reply_max")},
    )
    if not may_read:
        return structure
    return structure._replace(
        commented=one_of("commented", {YES}),
        **{name: matching(name, _DAY) for name in ("since", "until")},
        **{name: _text(parameters, name) for name in ("q", "id", "persona", "tag", "meta")},
    )


def _text(parameters: Mapping[str, Any], name: str) -> str:
    return str(parameters.get(name, "")).replace("\0", " ").strip()[:MAX_TEXT_LENGTH]


def is_findable(parameters: Mapping[str, str]) -> bool:
    """Whether an address can filter by these values: not by one that ends with a space."""
    values = {name: value for name, value in parameters.items() if value}
    return bool(values) and all(_text(values, name) == value for name, value in values.items())


def list_ignored(parameters: Mapping[str, Any], chosen: NamedTuple) -> list[tuple[str, str]]:
    """(title, value) of what an address would filter by, but can't: an unknown value, or text that the user
    may not read."""
    return [
        (TITLES.get(name, name.capitalize()), value)
        for name in chosen._fields
        if (value := _text(parameters, name)) and getattr(chosen, name) in ("", None)
    ]


def describe_filter(chosen: SessionFilter, user: Any) -> list[tuple[str, str, str]]:
    """(parameter, title, value) of each that limits the list, as people read it."""
    words = {"split": dict(SPLIT_CHOICES), "labels": list_label_filters(user)}
    return [
        (name, TITLES[name], words.get(name, {}).get(value, value))
        for name, value in chosen.as_parameters().items()
    ]


def list_label_filters(user: Any) -> dict[str, str]:
    """Value → label of what sessions can be filtered by of their labels."""
    known = hooks.labels.SESSION_LABELS
    permitted = user is None or user.has_perm(known.permission)
    return {value: label for value, (label, *_) in known.filters.items()} if permitted else {}


def build_conditions(dataset_id: int, chosen: SessionFilter) -> list[Condition]:
    """Cheap ones first."""
    make = session_pages
    conditions = []
    if chosen.split:
        conditions.append(make.in_split(chosen.split))
    if chosen.excluded:
        conditions.append(make.that_is_excluded(chosen.excluded == YES))
    if chosen.persona:
        conditions.append(make.of_persona(chosen.persona))
    if chosen.min is not None or chosen.max is not None:
        conditions.append(make.with_length(chosen.min, chosen.max))
    if chosen.id:
        conditions.append(make.with_id_prefix(chosen.id))
    if chosen.code:
        report = CheckReport.objects.filter(dataset=dataset_id).values_list("pk", flat=True).first()
        conditions.append(make.with_finding(report or 0, "" if chosen.code == ANY else chosen.code))
    if chosen.kind:
        scrub = ScrubRun.objects.filter(dataset=dataset_id).values_list("pk", flat=True).first()
        conditions.append(make.with_personal_data(scrub or 0, chosen.kind))
    if chosen.commented:
        conditions.append(make.with_comment())
    if found := hooks.labels.SESSION_LABELS.filters.get(chosen.labels):
        conditions.append(Condition(found[1], {}, found[2]))
    if chosen.since or chosen.until:
        conditions.append(make.with_date(chosen.since, chosen.until))
    if chosen.tag:
        conditions.append(make.with_tag(chosen.tag))
    if chosen.reply_min is not None or chosen.reply_max is not None:
        conditions.append(make.with_reply(chosen.reply_min, chosen.reply_max))
    if chosen.meta:
        conditions.append(make.with_metadata(*chosen.meta.partition("=")[::2]))
    if chosen.q:
        conditions.append(make.with_words(chosen.q))
    return conditions
