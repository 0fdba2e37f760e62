"""The filters of the list of sessions, as they are in its address."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from datasets_app import hooks
from datasets_app.catalog.rows import session_pages
from datasets_app.catalog.rows.session_pages import Condition
from datasets_app.models import CheckReport, Session

MAX_TEXT_LENGTH = 500
ANY = "any"
_DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_CODE = re.compile(r"[EW]\d{3}")
SPLIT_CHOICES = [*Session.Split.choices, (session_pages.NO_SPLIT, "No split")]
# What tells something about the text; not for people who may not read it.
TEXT_FILTERS = ("q", "id", "persona", "tag", "since", "until")


class SessionFilter(NamedTuple):
    """Each is empty, or None, if it doesn't limit the list. The fields have the names of the parameters."""

    q: str = ""
    id: str = ""
    persona: str = ""
    tag: str = ""
    since: str = ""
    until: str = ""
    split: str = ""
    code: str = ""
    labels: str = ""
    min: int | None = None
    max: int | None = None

    @property
    def is_active(self) -> bool:
        return any(value not in ("", None) for value in self)

    @property
    def has_more(self) -> bool:
        """Whether one of the fields is used that the page folds."""
        return any(value not in ("", None) for value in (*self[1:3], *self[4:6], self.min, self.max))

    @property
    def has_text(self) -> bool:
        """Whether it names something that stands in a conversation."""
        return any(getattr(self, name) for name in TEXT_FILTERS)

    def as_parameters(self) -> dict[str, str]:
        """Those that limit the list."""
        return {name: str(value) for name, value in self._asdict().items() if value not in ("", None)}


def parse_filter(parameters: Mapping[str, Any], *, may_read: bool, user: Any) -> SessionFilter:
    """The filters in an address; leaves out what is invalid, and what the user may not filter by."""

    def text(name: str) -> str:
        return str(parameters.get(name, "")).replace("\0", " ").strip()[:MAX_TEXT_LENGTH]

    def number(name: str) -> int | None:
        value = text(name)
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None

    def one_of(name: str, choices: Any) -> str:
        return text(name) if text(name) in choices else ""

    structure = SessionFilter(
        split=one_of("split", dict(SPLIT_CHOICES)),
        code=text("code") if text("code") == ANY or _CODE.fullmatch(text("code")) else "",
        labels=one_of("labels", list_label_filters(user)),
        min=number("min"),
        max=number("max"),
    )
    if not may_read:
        return structure
    days = {name: text(name) if _DAY.fullmatch(text(name)) else "" for name in ("since", "until")}
    return structure._replace(**{name: text(name) for name in ("q", "id", "persona", "tag")}, **days)


def list_label_filters(user: Any) -> dict[str, str]:
    """Value → label of what sessions can be filtered by of their labels."""
    known = hooks.labels.SESSION_LABELS
    permitted = user is None or user.has_perm(known.permission)
    return {value: label for value, (label, *_) in known.filters.items()} if permitted else {}


def build_conditions(dataset_id: int, chosen: SessionFilter) -> list[Condition]:
    """Cheap ones first."""
    conditions = []
    if chosen.split:
        conditions.append(session_pages.in_split(chosen.split))
    if chosen.persona:
        conditions.append(session_pages.of_persona(chosen.persona))
    if chosen.min is not None or chosen.max is not None:
        conditions.append(session_pages.with_length(chosen.min, chosen.max))
    if chosen.id:
        conditions.append(session_pages.with_id_prefix(chosen.id))
    if chosen.code:
        report = CheckReport.objects.filter(dataset=dataset_id).values_list("pk", flat=True).first()
        code = "" if chosen.code == ANY else chosen.code
        conditions.append(session_pages.with_finding(report or 0, code))
    if found := hooks.labels.SESSION_LABELS.filters.get(chosen.labels):
        conditions.append(Condition(found[1], {}, found[2]))
    if chosen.since or chosen.until:
        conditions.append(session_pages.with_date(chosen.since, chosen.until))
    if chosen.tag:
        conditions.append(session_pages.with_tag(chosen.tag))
    if chosen.q:
        conditions.append(session_pages.with_words(chosen.q))
    return conditions
