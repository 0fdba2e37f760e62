"""Reads annotation JSONL into arrays of labels, line by line, without a database; keeps no text.

A label belongs to the item of its session and turn number, or else to that of its text, for each persona.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np

from annotations_app.domain.label_table import LabelPart, LabelTable, build_label_table, order_by_session
from datasets_app.domain.annotation_lines import parse_label
from datasets_app.domain.conversations.lines import DEFAULT_LIMITS, Limits, read_lines
from datasets_app.domain.conversations.records import LabelRecord, LineError

NO_VALUE = "none"
_MONTH_PATTERN = re.compile(r"(\d{4})-?(0[1-9]|1[0-2])(?:-|\d\d|$)")


def parse_month(timestamp: str | None) -> str:
    """``2025-11-03T…`` or ``20251103T…`` → ``2025-11``."""
    found = _MONTH_PATTERN.match(timestamp or "")
    return f"{found[1]}-{found[2]}" if found else NO_VALUE


def read_label_file(
    path: Path, limits: Limits = DEFAULT_LIMITS, on_bytes: Callable[[int], None] | None = None
) -> Iterator[LabelRecord | LineError]:
    """The labels of a file, plain or gzipped. Raises UnreadableFile."""
    for item in read_lines(path, limits, on_bytes):
        label = item if isinstance(item, LineError) else parse_label(*item)
        if isinstance(label, LabelRecord) and label.answer:
            message = "is an answer under a schema; files are measured by on-brand labels only"
            yield LineError(label.line, "E102", f"criterion {message}", label.session_id, "criterion")
        else:
            yield label


class LabelCollector:
    """Collects labels one by one; :meth:`table` returns them as arrays.

    ``by`` may hold "persona", "month", "tag" and "split"; tags and split are extra keys of the line.
    """

    def __init__(self, by: Iterable[str] = ()) -> None:
        self.by = tuple(by)
        self._item, self._annotator, self._label = array("q"), array("q"), array("b")
        self._month = array("q")
        self._items: dict[bytes, int] = {}
        self._sessions: dict[str, int] = {}
        self._session_of = array("q")
        self._names: dict[str | None, int] = {None: -1}
        self._months: dict[str, int] = {}
        self._members: dict[str, dict[str, array[int]]] = {
            kind: {} for kind in self.by if kind in ("persona", "tag", "split")
        }

    def add(self, record: LabelRecord) -> None:
        assert record.label is not None  # those under a schema are left out before  # nosec B101
        self._item.append(self._find_or_add_item(record))
        self._annotator.append(self._names.setdefault(record.annotator, len(self._names) - 1))
        self._label.append(record.label)
        if "month" in self.by:
            month = parse_month(record.timestamp)
            self._month.append(self._months.setdefault(month, len(self._months)))

    def table(self) -> LabelTable:
        order, place, session = order_by_session(np.array(self._session_of, np.int64))
        names = sorted(name for name in self._names if name is not None)
        renumbered = _positions_in([name for name in self._names if name is not None], names)
        months = sorted(self._months)
        month = _positions_in(list(self._months), months)[np.array(self._month, np.int64)]
        return build_label_table(
            names,
            place[np.array(self._item, np.int64)],
            # Index -1 (no name) maps to the appended last element.
            np.append(renumbered, -1)[np.array(self._annotator, np.int64)],
            np.array(self._label, np.int8),
            session,
            parts=tuple(
                LabelPart(
                    kind, {value: np.sort(place[np.array(items, np.int64)]) for value, items in found.items()}
                )
                for kind, found in self._members.items()
            ),
            month=month if "month" in self.by else None,
            months=tuple(months),
        )

    def _find_or_add_item(self, record: LabelRecord) -> int:
        if record.session_id is None or record.turn_index is None:
            parts = ("text", record.persona_id, record.text)
        else:
            parts = ("place", record.persona_id, f"{record.session_id}\0{record.turn_index}")
        # Keys may be as long as a text, so keep their digests. No field contains a NUL.
        key = blake2b("\0".join(parts).encode(), digest_size=16).digest()
        known = self._items.get(key)
        return self._add_item(key, record) if known is None else known

    def _add_item(self, key: bytes, record: LabelRecord) -> int:
        item = self._items[key] = len(self._items)
        # An item without a session is its own session.
        own = f"\0{item}" if record.session_id is None else record.session_id
        self._session_of.append(self._sessions.setdefault(own, len(self._sessions)))
        for kind, members in self._members.items():
            for value in _part_values(kind, record):
                members.setdefault(value, array("q")).append(item)
        return item


def _part_values(kind: str, record: LabelRecord) -> list[str]:
    if kind == "persona":
        return [record.persona_id]
    if kind == "split":
        split = (record.extra or {}).get("split")
        return [split] if isinstance(split, str) and split else [NO_VALUE]
    tags = (record.extra or {}).get("tags")
    found = dict.fromkeys(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else {}
    return list(found) or [NO_VALUE]


def _positions_in(before: list[str], after: list[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The index of each of ``before`` in ``after``."""
    place = {name: number for number, name in enumerate(after)}
    return np.array([place[name] for name in before], np.int64)
