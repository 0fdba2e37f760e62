"""Columns of tables that hold labels: one with the annotator in another, or one for each annotator."""

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.labeled import Labeled, join_by_id, make_label, make_text
from datasets_app.domain.traces.records import Conversation
from datasets_app.domain.traces.values import as_name

_LABEL = re.compile(r"label|(is_)?on_?brand|brand_label|on_off_brand|(label|on_?brand)_(?P<annotator>.+)")
_ANNOTATORS = "annotator labeler annotator_id annotator_name annotated_by labeled_by rater".split()
_TIMES = ("labeled_at", "annotated_at", "label_timestamp")
_ABOUT_LABELS = "id name notes note comment confidence timestamp time source type".split()
_BESIDE = ("notes", "confidence")
_WORD = re.compile(r"[^a-z0-9]+")


class LabelColumns:
    """``found`` is false for a table without labels."""

    def __init__(self, columns: Iterable[str]) -> None:
        names = {_normalize(column): column for column in columns}
        self.annotator = next((names[name] for name in _ANNOTATORS if name in names), "")
        self.time = next((names[name] for name in _TIMES if name in names), "")
        self.beside = [names[name] for name in _BESIDE if name in names]
        self.labels: dict[str, str] = {}  # column → annotator it is named after
        for name, column in names.items():
            match = _LABEL.fullmatch(name)
            if match and match["annotator"] not in _ABOUT_LABELS:
                self.labels[column] = column[-len(match["annotator"]) :] if match["annotator"] else ""
        self.found = bool(self.labels)

    def take(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with a list of its labels instead of their columns."""
        if not self.found:
            return row
        given = {column: row[column] for column in self.labels if row.get(column) not in (None, "")}
        if any(type(value) in (list, dict) for value in given.values()):
            return row
        common = {"timestamp": row.get(self.time), **{column: row.get(column) for column in self.beside}}
        labels = []
        for column, value in given.items():
            name = self.labels[column]
            question = column.removesuffix(name).rstrip("_ -") if name else column
            by = name or as_name(row.get(self.annotator)) or None
            labels.append(make_label(question, value, annotator=by, **common))
        used = {*self.labels, self.annotator, *((self.time, *self.beside) if labels else ())}
        rest = {column: value for column, value in row.items() if column not in used}
        return {**rest, "labels": labels} if labels else rest

    def read(
        self, rows: Iterable[Document], read: Callable[[Iterable[Document]], Iterator[Any]]
    ) -> Iterator[Any]:
        """What ``read`` makes of the rows; conversations of one row get its labels, and rows of several
        annotators about the same one become one."""
        held: dict[int, list[Any]] = {}

        def without_labels() -> Iterator[Document]:
            for number, row in rows:
                row = self.take(row)
                held.clear()
                if type(row.get("labels")) is list:
                    held[number] = row.pop("labels")
                yield Document(number, row)

        for record in read(without_labels()):
            labels = held.get(record.line) if type(record) is Conversation else None
            yield _join(record._replace(labels=labels)) if labels else record

    def read_texts(self, rows: Iterable[Document]) -> Iterator[Labeled]:
        for number, row in rows:
            row = self.take(row)
            labels = row.pop("labels", [])
            row = {**{_normalize(column): value for column, value in row.items()}, **row}
            yield make_text(row, labels if type(labels) is list else [], number)


def _normalize(column: str) -> str:
    """ "Session ID" → "session_id"."""
    return _WORD.sub("_", column.strip().lower()).strip("_")


def _join(found: Conversation) -> Labeled:
    spoken = repr([(message.role, message.text) for message in found.messages]).encode(errors="replace")
    name = found.id or f"pair-{blake2b(spoken, digest_size=6).hexdigest()}"
    return join_by_id(found._replace(id=name))
