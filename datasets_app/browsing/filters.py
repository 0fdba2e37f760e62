"""The filters of the list of sessions, as they are in its address."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.utils.datastructures import MultiValueDict

from datasets_app import hooks
from datasets_app.catalog.rows import session_conditions
from datasets_app.catalog.rows.session_conditions import Condition
from datasets_app.models import CheckReport, ScrubRun, Session

# Of a value, and values of a filter.
MAX_TEXT_LENGTH, MAX_VALUES = 500, 20
ANY, NONE, YES, NO = "any", "none", "yes", "no"
_DAY = r"\d{4}(-\d\d(-\d\d)?)?"
_CODE = re.compile(r"[EW]\d{3}")
SPLIT_CHOICES = [*Session.Split.choices, (session_conditions.NO_SPLIT, "No split")]
# What tells something about the text; not for people who may not read it.
TEXT_FILTERS = ("q", "id", "persona", "tag", "since", "until", "meta", "commented")
# Of those that aren't called like their parameter.
_TITLES = {
    "q": "Words",
    "id": "ID starts with",
    "since": "From",
    "until": "Until",
    "meta": "Metadata",
    "kind": "Personal data",
    "code": "Finding",
    "min": "Turns, at least",
    "max": "Turns, at most",
    "reply_min": "Characters of a reply, at least",
    "reply_max": "Characters of a reply, at most",
}


class SessionFilter(NamedTuple):
    """Each is empty, or None, if it doesn't limit the list. The fields have the names of the parameters.

    Of several values, those of one facet are alternatives.
    """

    q: str = ""
    id: str = ""
    persona: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    # Keys of the turns' metadata, or "key=value".
    meta: tuple[str, ...] = ()
    commented: str = ""
    # Of what the last scrub or preview found.
    kind: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    excluded: str = ""
    min: int | None = None
    max: int | None = None
    reply_min: int | None = None
    reply_max: int | None = None
    # What sessions may not have: "tag=scenario:refund".
    without: tuple[str, ...] = ()

    @property
    def is_active(self) -> bool:
        return bool(self.as_parameters())

    @property
    def has_text(self) -> bool:
        """Whether it names something that stands in a conversation."""
        chosen = [*self.as_parameters(), *map(split_pair, self.without)]
        return any(name in TEXT_FILTERS for name, _ in chosen)

    def as_parameters(self) -> list[tuple[str, str]]:
        """Those that limit the list, one for each value."""
        return [
            (name, str(value))
            for name, values in self._asdict().items()
            for value in (values if isinstance(values, tuple) else (values,))
            if value not in ("", None)
        ]


# Filters that take several values, and those that take a number.
SEVERAL = tuple(name for name, value in SessionFilter._field_defaults.items() if value == ())
NUMBERS = tuple(name for name, value in SessionFilter._field_defaults.items() if value is None)


def get_title(name: str) -> str:
    """What people read of a parameter."""
    return _TITLES.get(name, name.capitalize())


def split_pair(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return name, value


def find_group(name: str, value: str) -> str:
    """Values of one group are alternatives: tags that begin alike, values of a key of metadata."""
    separator = {"tag": ":", "meta": "="}.get(name)
    first, found, _ = value.partition(separator) if separator else ("", "", "")
    return first if found or name == "meta" else ""


def parse_filter(parameters: MultiValueDict[str, str], *, may_read: bool, user: Any) -> SessionFilter:
    """The filters in an address; leaves out what :func:`list_ignored` names."""
    labels = list_label_filters(user)
    may_see_kinds = user is None or user.has_perm("datasets_app.view_scrubfinding")

    def is_known(name: str, value: str) -> bool:
        if name not in SEVERAL or not value:
            return False
        if name in TEXT_FILTERS:
            return may_read
        if name == "kind":
            return may_see_kinds
        if name == "code":
            return value == ANY or bool(_CODE.fullmatch(value))
        return value in {"split": dict(SPLIT_CHOICES), "labels": labels}.get(name, ())

    def several(name: str) -> tuple[str, ...]:
        known = (value for value in _texts(parameters, name) if is_known(name, value))
        return tuple(dict.fromkeys(known))[:MAX_VALUES]

    def number(name: str) -> int | None:
        value = _text(parameters, name)
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None

    def matching(name: str, pattern: str) -> str:
        return value if re.fullmatch(pattern, value := _text(parameters, name)) else ""

    pairs = [pair for pair in _texts(parameters, "without") if is_known(*split_pair(pair))]
    chosen = SessionFilter(
        **{name: several(name) for name in SEVERAL if name != "without"},
        excluded=matching("excluded", f"{YES}|{NO}"),
        **{name: number(name) for name in NUMBERS},
        without=tuple(dict.fromkeys(pairs))[:MAX_VALUES],
    )
    if not may_read:
        return chosen
    return chosen._replace(
        commented=matching("commented", YES),
        **{name: matching(name, _DAY) for name in ("since", "until")},
        **{name: _text(parameters, name) for name in ("q", "id")},
    )


def _texts(parameters: MultiValueDict[str, str], name: str) -> list[str]:
    found = (_clean(value) for value in parameters.getlist(name))
    return [value for value in found if value]


def _clean(value: str) -> str:
    return value.replace("\0", " ").strip()[:MAX_TEXT_LENGTH]


def is_findable(parameters: Mapping[str, str]) -> bool:
    """Whether an address can filter by these values: not by one that ends with a space."""
    values = {name: value for name, value in parameters.items() if value}
    return bool(values) and all(_clean(value) == value for value in values.values())


def _text(parameters: MultiValueDict[str, str], name: str) -> str:
    """The last one, as of a form whose field repeats what is in the address."""
    return (_texts(parameters, name) or [""])[-1]


def list_ignored(parameters: MultiValueDict[str, str], chosen: NamedTuple) -> list[tuple[str, str]]:
    """(title, value) of what an address would filter by, but can't: an unknown value, too many, or text that
    the user may not read."""
    return [
        (get_title(name), value)
        for name, used in chosen._asdict().items()
        for value in dict.fromkeys(_texts(parameters, name))
        if (value not in used if isinstance(used, tuple) else used in ("", None))
    ]


def describe_filter(chosen: SessionFilter, user: Any) -> list[tuple[tuple[str, str], str, str]]:
    """(parameter, title, value) of each that limits the list, as people read it."""
    words = {"split": dict(SPLIT_CHOICES), "labels": list_label_filters(user)}
    described = []
    for parameter in chosen.as_parameters():
        is_without = parameter[0] == "without"
        name, value = split_pair(parameter[1]) if is_without else parameter
        title = f"Without {get_title(name).lower()}" if is_without else get_title(name)
        described.append((parameter, title, words.get(name, {}).get(value, value)))
    return described


def list_label_filters(user: Any) -> dict[str, str]:
    """Value → label of what sessions can be filtered by of their labels."""
    known = hooks.labels.SESSION_LABELS
    permitted = user is None or user.has_perm(known.permission)
    return {value: label for value, (label, *_) in known.filters.items()} if permitted else {}


def build_conditions(dataset_id: int, chosen: SessionFilter) -> list[Condition]:
    """Cheap ones first."""
    make = session_conditions
    conditions = [*_build_groups(dataset_id, chosen, ("split", "persona"))]
    if chosen.excluded:
        conditions.append(make.that_is_excluded(chosen.excluded == YES))
    if chosen.min is not None or chosen.max is not None:
        conditions.append(make.with_length(chosen.min, chosen.max))
    if chosen.id:
        conditions.append(make.with_id_prefix(chosen.id))
    conditions += _build_groups(dataset_id, chosen, ("code", "kind"))
    if chosen.commented:
        conditions.append(make.with_comment())
    conditions += _build_groups(dataset_id, chosen, ("labels",))
    if chosen.since or chosen.until:
        conditions.append(make.with_date(chosen.since, chosen.until))
    conditions += _build_groups(dataset_id, chosen, ("tag",))
    conditions += [make.none_of(_build(dataset_id, *split_pair(pair))) for pair in chosen.without]
    if chosen.reply_min is not None or chosen.reply_max is not None:
        conditions.append(make.with_reply(chosen.reply_min, chosen.reply_max))
    conditions += _build_groups(dataset_id, chosen, ("meta",))
    if chosen.q:
        conditions.append(make.with_words(chosen.q))
    return conditions


def _build_groups(dataset_id: int, chosen: SessionFilter, names: Iterable[str]) -> Iterator[Condition]:
    for name in names:
        groups = defaultdict(list)
        for value in getattr(chosen, name):
            groups[find_group(name, value)].append(_build(dataset_id, name, value))
        yield from map(session_conditions.any_of, groups.values())


def _build(dataset_id: int, name: str, value: str) -> Condition:
    """Of one value of a filter that takes several."""
    make = session_conditions
    if name == "code":
        report = CheckReport.objects.filter(dataset=dataset_id).values_list("pk", flat=True).first()
        return make.with_finding(report or 0, "" if value == ANY else value)
    if name == "kind":
        scrub = ScrubRun.objects.filter(dataset=dataset_id).values_list("pk", flat=True).first()
        return make.with_personal_data(scrub or 0, value)
    if name == "labels":
        _, test, hits = hooks.labels.SESSION_LABELS.filters[value]
        return Condition(test, {}, hits)
    if name == "meta":
        return make.with_metadata(*split_pair(value))
    makers = {"split": make.in_split, "persona": make.of_persona, "tag": make.with_tag}
    return makers[name](value)
