"""The strings that a session consists of, and records rebuilt from replaced strings."""

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import HOLE, Match
from datasets_app.domain.pii.keys import (
    PLACE_OF_ADDRESS,
    find_place_keys,
    get_kind_by_key,
    get_owner_key,
    parse_tag_kind,
)
from datasets_app.domain.pii.session_ids import places_of

MIN_NUMBER_SEARCHED = 100_000_000  # nine digits: an SSN or a telephone number given as a number

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,40}")
_INDEX = re.compile(r"(?:\[\d+\])+$")
_KEY_IN_PATH = re.compile(r"[^.\[\] ]+")
# Under these stands what people wrote, even one word; all else is an identifier unless it has a space.
PROSE_KEYS = frozenset({"text", "content", "value", "notes"})


class Place(NamedTuple):
    """``field`` is a path such as ``metadata.user.email``; ``key`` is the last key on the way to it."""

    field: str
    key: str = ""
    is_key: bool = False


def is_prose(place: Place, text: str) -> bool:
    """Whether people wrote it, as far as one can tell: an identifier has no spaces."""
    return place.field == "text" or place.key in PROSE_KEYS or " " in text


class Span(NamedTuple):
    """``text[start:end]`` is replaced. ``kind`` is empty for a placeholder that was there before."""

    start: int
    end: int
    kind: str
    score: float = 1.0


Visitor = Callable[[Place, str], str]


class Piece:
    """One string of a session, and the parts of it to replace."""

    __slots__ = ("_ends", "_shifts", "_view", "matches", "place", "spans", "text")

    def __init__(self, place: Place, text: str, kept: list[Span]) -> None:
        self.place, self.text, self.spans = place, text, kept
        self._view: str | None = None
        # The detectors' matches in the view; None if they have not searched it yet.
        self.matches: list[Match] | None = None

    @property
    def is_prose(self) -> bool:
        return is_prose(self.place, self.text)

    def get_view(self) -> str:
        """The text for detectors, each removed part shown as one :data:`HOLE`."""
        if not self.spans:
            return self.text
        if self._view is None:
            parts: list[str] = []
            at = length = 0
            self._ends, self._shifts = [], []
            for span in self.spans:
                parts += (self.text[at : span.start], HOLE)
                length += span.start - at + 1
                self._ends.append(length)
                self._shifts.append(span.end - length)
                at = span.end
            self._view = "".join((*parts, self.text[at:]))
        return self._view

    def match_by_key(self) -> Iterator[Match]:
        """The whole value, if its key tells the class, which may be :data:`policy.ID`."""
        view, place, start = self.get_view(), self.place, 0
        if place.field.startswith("tags["):
            kind, start = parse_tag_kind(view) or (None, 0)
        else:
            kind = None if place.is_key or place.field == "text" else get_kind_by_key(place.key, self.text)
        if kind and any(map(str.isalnum, view[start:])):
            yield Match(kind, start, len(view))

    def overlaps_removed(self, start: int, end: int) -> bool:
        return any(span.start < end and start < span.end for span in self.spans)

    def map_matches(self, matches: list[Match]) -> Iterator[Span]:
        """Map matches in the view to spans of the text, cut where parts are removed already."""
        if not self.spans:
            for kind, start, end, score in matches:
                yield Span(start, end, kind, score)
            return
        view = self.get_view()
        for kind, start, end, score in matches:
            for first, last in _split_at_holes(view, start, end):
                hole = bisect_right(self._ends, first)
                shift = self._shifts[hole - 1] if hole else 0
                yield Span(first + shift, last + shift, kind, score)

    def remove_spans(self, spans: list[Span]) -> None:
        """Remove these parts too; they overlap neither each other nor a removed part."""
        if spans:
            self.spans = sorted([*self.spans, *spans])
            self._view = self.matches = None

    @property
    def has_findings(self) -> bool:
        return any(span.kind for span in self.spans)

    def render(self, replacement: Callable[[Span, str], str]) -> tuple[str, list[tuple[Span, int, int]]]:
        """The new text, and for each replaced span: the span, its replacement's start and length."""
        parts: list[str] = []
        placed: list[tuple[Span, int, int]] = []
        at = length = 0
        for span in self.spans:
            if not span.kind:
                continue
            new = replacement(span, self.text[span.start : span.end])
            parts += (self.text[at : span.start], new)
            length += span.start - at
            placed.append((span, length, len(new)))
            length += len(new)
            at = span.end
        return "".join((*parts, self.text[at:])), placed


def make_piece(place: Place, text: str, placeholders: re.Pattern[str], hashed_id: str) -> Piece:
    """A string without its placeholders and the hashed id of its session, if there is one."""
    kept = [Span(*match.span(), "") for match in placeholders.finditer(text)] if "[" in text else []
    if hashed_id and hashed_id in text:
        kept += [Span(*span, "") for span in places_of(hashed_id, text)]
    return Piece(place, text, sorted(kept))


def _split_at_holes(view: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of ``view[start:end]`` between holes that hold a letter or digit."""
    at = start
    for part in view[start:end].split(HOLE):
        if any(map(str.isalnum, part)):
            indent = len(part) - len(part.lstrip())
            yield at + indent, at + len(part.rstrip())
        at += len(part) + 1


# --- from records and back ---------------------------------------------------------------------


def visit_turn(turn: TurnRecord, visit: Visitor) -> TurnRecord:
    """Pass every string of the turn through ``visit``: text, tags, metadata, unknown keys."""
    return turn._replace(
        text=visit(TEXT_PLACE, turn.text),
        tags=[visit(Place(f"tags[{place}]"), tag) for place, tag in enumerate(turn.tags)],
        persona_id=None if turn.persona_id is None else visit(PERSONA_PLACE, turn.persona_id),
        metadata=None if turn.metadata is None else visit_object(turn.metadata, "metadata", visit),
        extra=None if turn.extra is None else visit_object(turn.extra, "", visit),
    )


TEXT_PLACE, PERSONA_PLACE = Place("text"), Place("persona_id")
LABEL_PERSONA_PLACE = Place("beside.persona_id", "persona_id")
PERSONA_PLACES = (PERSONA_PLACE, LABEL_PERSONA_PLACE)


def visit_object(value: dict[str, Any], field: str, visit: Visitor) -> dict[str, Any]:
    """Pass the keys and strings of a JSON object through ``visit``, and lose none of its entries."""
    result: dict[str, Any] = {}
    places = find_place_keys(value)
    for key, item in value.items():
        new_key = visit(Place(f"a key of {field}" if field else "a key", "", True), key)
        path = join_path(field, new_key)
        last_key = PLACE_OF_ADDRESS if key in places else get_owner_key(_get_last_key(field), key)
        result[_make_unique_key(result, value, key, new_key)] = _visit_value(item, path, last_key, visit)
    return result


def join_path(field: str, key: str) -> str:
    """``metadata.user.email``; a key that may itself be personal becomes ``*``."""
    shown = key if _PLAIN_KEY.fullmatch(key) else "*"
    return f"{field}.{shown}" if field else shown


def _get_last_key(field: str) -> str:
    """``user`` of ``metadata.user`` and of ``metadata.users[3]``: the key on which an object stands."""
    return _INDEX.sub("", field.rpartition(".")[2])


def hide_keys(field: str, hidden: Container[str]) -> str:
    """The path with ``*`` for each of its keys that is ``hidden``."""
    return _KEY_IN_PATH.sub(lambda part: "*" if part[0] in hidden else part[0], field)


def _visit_value(value: Any, field: str, key: str, visit: Visitor) -> Any:
    kind = type(value)
    if kind is str:
        return visit(Place(field, key), value)
    if kind is dict:
        return visit_object(value, field, visit)
    if kind is list:
        return [_visit_value(item, f"{field}[{place}]", key, visit) for place, item in enumerate(value)]
    if (kind is int and get_kind_by_key(key, value)) or is_searched_number(value):
        text = write_number(value)
        new = visit(Place(field, key), text)
        return value if new == text else new
    return value


def is_searched_number(value: Any) -> bool:
    """Whether a number has as many digits as a telephone number, and no fraction."""
    if type(value) is float:
        return abs(value) >= MIN_NUMBER_SEARCHED and value.is_integer()
    return type(value) is int and abs(value) >= MIN_NUMBER_SEARCHED


def write_number(value: float) -> str:
    """Its digits, as a person would have written them."""
    return str(abs(int(value)))


def _make_unique_key(result: dict[str, Any], value: dict[str, Any], key: str, new_key: str) -> str:
    """Number a key whose placeholder another key has already."""
    if new_key == key or (new_key not in result and new_key not in value):
        return new_key
    number = 2
    while (numbered := f"{new_key} {number}") in result or numbered in value:
        number += 1
    return numbered
