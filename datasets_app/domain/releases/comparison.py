"""What differs between two conversation files as the application writes them: sessions, turns, fields.

Each is read as lines, twice at most. What is held in memory is a digest for each session of the first;
of sessions that have changed, and stand at different places in the two, the lines until both are read.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import blake2b
from itertools import count, zip_longest
from typing import Any, NamedTuple

import msgspec

# An address is one word: half of one says nothing.
_WORDS = re.compile(r"\w+(?:[^\w\s]+\w+)*|\s+|[^\w\s]")


class Piece(NamedTuple):
    text: str
    changed: bool


def diff_words(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; what is only in one of them is ``changed``. Takes time by the square of the
    length, so give it excerpts."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    first: list[Piece] = []
    second: list[Piece] = []
    for kind, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        changed = kind != "equal"
        _add(first, "".join(old[old_start:old_end]), changed)
        _add(second, "".join(new[new_start:new_end]), changed)
    return first, second


def _add(pieces: list[Piece], text: str, changed: bool) -> None:
    if text:
        pieces.append(Piece(text, changed))


# So many sessions of each kind are listed; the totals are of all.
MAX_SESSIONS_LISTED = 500
PROGRESS_EVERY_LINES = 5000

Lines = Iterable[bytes]
OnLines = Callable[[int], None]
_SESSION_START = re.compile(rb'\{"session_id":"((?:[^"\\]|\\.)*)",')
_decode = msgspec.json.Decoder().decode
# Equal only for what is the same in JSON: Python takes true for 1.
_encode = msgspec.json.Encoder(order="sorted").encode


class FieldChange(NamedTuple):
    """``name`` is that of a field, or ``metadata.KEY``. Values are None where there is none."""

    name: str
    before: Any
    after: Any


class TurnChange(NamedTuple):
    """``kind`` is "added", "removed" or "changed"; ``fields`` tells what, of one that has changed."""

    turn_index: int
    kind: str
    fields: list[FieldChange]


class SessionChange(NamedTuple):
    session_id: str
    turns: list[TurnChange]


@dataclass
class Difference:
    """Totals are complete, lists are not. ``fields`` counts the turns in which a field has changed."""

    sessions_added: int = 0
    sessions_removed: int = 0
    sessions_changed: int = 0
    sessions_same: int = 0
    turns_added: int = 0
    turns_removed: int = 0
    turns_changed: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changes: list[SessionChange] = field(default_factory=list)

    def counts_as_json(self) -> dict[str, Any]:
        """For records that are to hold no text and no id."""
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        return numbers | {"fields": dict(sorted(self.fields.items()))}


class _SessionLines(NamedTuple):
    """Lines that stand together: ``name`` is the id as written in JSON, without its quotes."""

    name: bytes
    lines: list[bytes]

    @property
    def key(self) -> bytes:
        return _hash_content(self.name)

    @property
    def session_id(self) -> str:
        return str(_decode(b'"' + self.name + b'"'))


def compare_files(
    before: Callable[[], Lines], after: Callable[[], Lines], on_lines: OnLines = lambda count: None
) -> Difference:
    """What has happened between the two. Both are functions, for they are read from the start again.

    ``on_lines`` is told from time to time how many lines were read; it may raise to stop.
    """
    numbers = count(1)

    def read(lines: Callable[[], Lines]) -> Iterator[_SessionLines]:
        return _group_sessions(_watch_lines(lines(), numbers, on_lines))

    result = Difference()
    known = {session.key: _hash_content(b"".join(session.lines)) for session in read(before)}
    changed: set[bytes] = set()
    for session in read(after):
        digest = known.pop(session.key, None)
        if digest is None:
            _append_session_id(result.added, session)
            result.sessions_added += 1
            result.turns_added += len(session.lines)
        elif digest == _hash_content(b"".join(session.lines)):
            result.sessions_same += 1
        else:
            changed.add(session.key)
    removed = known.keys()
    if removed or changed:
        new = read(after) if changed else iter(())
        _compare_changed_sessions(result, read(before), new, set(removed), changed)
    return result


def _hash_content(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _append_session_id(session_ids: list[str], session: _SessionLines) -> None:
    if len(session_ids) < MAX_SESSIONS_LISTED:
        session_ids.append(session.session_id)


def _watch_lines(lines: Lines, numbers: Iterator[int], on_lines: OnLines) -> Iterator[bytes]:
    for line, number in zip(lines, numbers, strict=False):
        if number % PROGRESS_EVERY_LINES == 0:
            on_lines(number)
        yield line


def _group_sessions(lines: Iterable[bytes]) -> Iterator[_SessionLines]:
    """Lines of one session, which stand together, taken together."""
    begins = b"\n"  # no line does
    current: _SessionLines | None = None
    for line in lines:
        if current is not None and line.startswith(begins):
            current.lines.append(line)
            continue
        if current is not None:
            yield current
        match = _SESSION_START.match(line)
        if match is None:
            raise ValueError("a line does not begin with its session_id")
        begins, current = match[0], _SessionLines(match[1], [line])
    if current is not None:
        yield current


# --- the sessions that differ --------------------------------------------------------------------------


def _compare_changed_sessions(
    result: Difference,
    old: Iterator[_SessionLines],
    new: Iterator[_SessionLines],
    removed: set[bytes],
    changed: set[bytes],
) -> None:
    def list_changed() -> Iterator[_SessionLines]:
        for session in old:
            key = session.key
            if key in changed:
                yield session
            elif key in removed:
                _append_session_id(result.removed, session)
                result.sessions_removed += 1
                result.turns_removed += len(session.lines)

    for one, other in _pair_sessions(list_changed(), (item for item in new if item.key in changed)):
        _compare_sessions(result, one, other)


def _pair_sessions(
    old: Iterator[_SessionLines], new: Iterator[_SessionLines]
) -> Iterator[tuple[_SessionLines, _SessionLines]]:
    """The two of each name; the first waits for the second. Where the order is the same, none waits."""
    waiting_old: dict[bytes, _SessionLines] = {}
    waiting_new: dict[bytes, _SessionLines] = {}
    for one, other in zip_longest(old, new):
        if one and other and one.name == other.name:
            yield one, other
            continue
        if one:
            waiting_old[one.name] = one
        if other:
            waiting_new[other.name] = other
        for name in {session.name for session in (one, other) if session}:
            if name in waiting_old and name in waiting_new:
                yield waiting_old.pop(name), waiting_new.pop(name)


def _compare_sessions(result: Difference, old: _SessionLines, new: _SessionLines) -> None:
    changes = list(_find_turn_changes(_index_turns(old), _index_turns(new)))
    if not changes:  # written otherwise, and yet the same
        result.sessions_same += 1
        return
    result.sessions_changed += 1
    for change in changes:
        result.turns_added += change.kind == "added"
        result.turns_removed += change.kind == "removed"
        result.turns_changed += change.kind == "changed"
        result.fields.update(item.name for item in change.fields)
    if len(result.changes) < MAX_SESSIONS_LISTED:
        result.changes.append(SessionChange(new.session_id, changes))


def _index_turns(session: _SessionLines) -> dict[int, dict[str, Any]]:
    turns = [_decode(line) for line in session.lines]
    return {turn["turn_index"]: turn for turn in turns}


def _find_turn_changes(
    old: dict[int, dict[str, Any]], new: dict[int, dict[str, Any]]
) -> Iterator[TurnChange]:
    for index in sorted(old.keys() | new.keys()):
        if index not in new:
            yield TurnChange(index, "removed", [])
        elif index not in old:
            yield TurnChange(index, "added", [])
        elif fields := list(_find_field_changes(old[index], new[index])):
            yield TurnChange(index, "changed", fields)


def _find_field_changes(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> Iterator[FieldChange]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if (name in old) == (name in new) and _encode(before) == _encode(after):
            continue
        if name == "metadata" and not prefix and isinstance(before, dict) and isinstance(after, dict):
            yield from _find_field_changes(before, after, "metadata.")
        else:
            yield FieldChange(prefix + name, before, after)
