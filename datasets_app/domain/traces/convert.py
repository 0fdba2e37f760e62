"""A file of any tool → turns, one conversation at a time, with a count of everything that was left out."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from datasets_app.domain.conversations.jsonl import MAX_NAME_CHARACTERS
from datasets_app.domain.conversations.lines import DEFAULT_LIMITS, Limits, OnBytes, UnreadableFile
from datasets_app.domain.conversations.reading import data_stem
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.traces import alignmenter_runs, reasons, table_columns
from datasets_app.domain.traces.assemble import Record, assemble
from datasets_app.domain.traces.attached import count_files, find_texts, list_unread
from datasets_app.domain.traces.columns import UNEVEN_COLUMNS, spread_columns
from datasets_app.domain.traces.containers import Source, open_source, read_chosen_lines
from datasets_app.domain.traces.dates import DateReader, describe_shape, is_written
from datasets_app.domain.traces.documents import Document, peek_documents
from datasets_app.domain.traces.formats.messages import read as read_lists
from datasets_app.domain.traces.formats.messages import read_answers
from datasets_app.domain.traces.label_columns import LabelColumns
from datasets_app.domain.traces.marked_texts import explain_texts, read_text
from datasets_app.domain.traces.numbered_turns import number_turns, read_numbered_turns, read_rows
from datasets_app.domain.traces.records import ORIGINAL_TIMESTAMP, TEXT_BETWEEN, Conversation
from datasets_app.domain.traces.registry import ALIASES, FORMATS, TEXT_FORMATS, recognize, recognize_text
from datasets_app.domain.traces.repeated import find_repetition
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.sides import Sides
from datasets_app.domain.traces.table_rows import UNEVEN, RowReader
from datasets_app.domain.traces.trees import leave_out_branches
from datasets_app.domain.traces.turn_tables import TurnRow
from datasets_app.domain.traces.turns import add_labels, build_turns, has_answer, make_session_id
from datasets_app.domain.traces.written_dates import replace_written_dates

T = TypeVar("T")

MAX_PEEKED = 20
# Columns that are empty in all of these can't be chosen.
MAX_ROWS_PEEKED = 200
# Of a mapping in one text: fifty senders with long names, and all columns.
MAX_COLUMNS_CHARACTERS = 20_000
_ENDINGS = tuple(".gz .zip .jsonl .ndjson .json .csv .tsv .xlsx .parquet .arrow .txt".split())
# A file of turns in which tools have turns too. It is chosen by the content, never by name.
NUMBERED = "turns-with-tools"
# A table that the application has exported, also chosen by its content.
TURN_TABLE = "turn-table"
_PLACES = {"xlsx": "row", "parquet": "row", "document": "record"}
TABLES = {"csv": "CSV", "xlsx": "XLSX", "parquet": "Parquet or Arrow", "json": "JSON"}
LABELS = {
    **{item.name: item.label for item in (*FORMATS.values(), *TEXT_FORMATS.values())},
    "alignmenter": "Alignmenter run or transcript",
    NUMBERED: "Turns with calls of tools",
    TURN_TABLE: "Table of turns",
    **{name: f"{label} table" for name, label in TABLES.items()},
}
NAMES = (*(name for name in LABELS if name not in (NUMBERED, TURN_TABLE)), *ALIASES)


class ConvertOptions(NamedTuple):
    """``assistant`` is the name of the participant who is the assistant; ``mapping`` names columns of a
    table, the order of its dates, and what its senders are. ``labeled_texts`` makes a reply of each labeled
    text
    that isn't a conversation."""

    assistant: str = ""
    mapping: Mapping[str, str] = {}
    answered_only: bool = False
    labeled_texts: bool = False


def read_convert_options(assistant: str, columns: str) -> ConvertOptions:
    """``columns`` is "text=Body, role=Author", as :func:`format_columns` writes it. Raises UnreadableFile."""
    try:
        lines = csv.reader(io.StringIO(columns, newline=""), skipinitialspace=True, strict=True)
        items = [item for line in lines for item in line]
    except csv.Error:
        raise UnreadableFile(f"a quotation mark isn't closed; {table_columns.COLUMNS_FORM}") from None
    return ConvertOptions(assistant.strip(), table_columns.parse_columns(items))


def check_columns(columns: Any) -> None:
    """Raises UnreadableFile for what isn't a mapping of the fields of a table."""
    if not isinstance(columns, Mapping) or not all(type(column) is str for column in columns.values()):
        raise UnreadableFile('a mapping names columns, such as {"text": "Body", "role": "Author"}')
    table_columns.check_mapping(columns, columns.values())


class Conversion:
    """A file in one of the formats of :data:`LABELS`. Raises UnreadableFile if it is in none of them."""

    def __init__(
        self, path: Path, *, format: str = "auto", limits: Limits = DEFAULT_LIMITS, name: str = "",
        options: ConvertOptions = ConvertOptions(),  # noqa: B008
    ) -> None:  # fmt: skip
        self.path, self.limits = path, limits
        self.name = name or path.name
        self.options = options
        format = ALIASES.get(format, format)
        detected = detect(path, limits) if format == "auto" or format in TABLES else format
        if format == "json":
            detected = detected or format
        if detected in (None, "messages") and any(options.mapping.get(field) for field in ("answer", "text")):
            detected = "json"
        if detected == TURN_TABLE and options != ConvertOptions():
            detected = "csv"  # whose reader heeds them
        if detected is None:
            raise UnreadableFile("is in no known format; name it with --format, or convert it to JSONL first")
        self.format = detected
        self._sides = Sides(options.mapping, options.assistant)
        self.report = Report(format=LABELS.get(detected, detected))

    def conversations(self, on_bytes: OnBytes | None = None) -> Iterator[list[TurnRecord]]:
        """The turns of each conversation; ``report`` is complete once all are read."""
        if self.format in ("alignmenter", NUMBERED, TURN_TABLE):
            yield from self._read_turns(on_bytes)
            return
        report = self.report
        used: set[int] = set()
        copies: set[int] = set()
        with open_source(self.path, self.limits, on_bytes) as source:
            source.encoding = self.options.mapping.get("encoding", "")
            if source.encoding and source.layout != "csv":
                raise UnreadableFile("is no CSV table, so it can't have lines in another encoding than UTF-8")
            source.note = lambda what, line: report.remarks[what].add(line)
            report.place = "record" if source.files else _PLACES.get(source.layout, "line")
            found = assemble(self._read(source), report, labeled_texts=self.options.labeled_texts)
            for conversation in _explain_surprises(found, report):
                turns = self._make_turns(conversation, used, copies)
                session_id = turns[0].session_id if turns else None
                for problem in self._sides.list_problems(conversation.line, session_id):
                    report.add_problem(problem)
                if turns:
                    report.conversations += 1
                    report.turns += len(turns)
                    report.labels += sum(len((turn.metadata or {}).get("labels") or ()) for turn in turns)
                    yield turns
        self._sides.check(report)

    def read_unread_lines(self) -> Iterator[bytes]:
        """Lines of which nothing was read, as they stand."""
        numbers = {problem.line for problem in self.report.problems if not problem.session_id}
        return read_chosen_lines(self.path, self.limits, numbers)

    def _read_turns(self, on_bytes: OnBytes | None) -> Iterator[list[TurnRecord]]:
        report = self.report
        with open_source(self.path, self.limits, on_bytes) as source:
            if self.format == NUMBERED:
                records = read_numbered_turns(self.path, self.limits)
            elif source.layout == "alignmenter":
                missing = alignmenter_runs.count_missing(self.path)
                report.left_out[reasons.NOT_CAPTURED].add(count=missing)
                records = alignmenter_runs.read_run(self.path, self.limits)
            else:
                records = read_rows(source.documents())
            found = number_turns(records, report)
            for _, group in groupby(found, key=lambda record: record.session_id):
                turns = []
                for record in group:
                    report.records += 1
                    if isinstance(record, LineError):
                        report.add_problem(record)
                    else:
                        turns.append(record)
                if turns:
                    report.conversations += 1
                    report.turns += len(turns)
                    report.unanswered += not has_answer(turns)
                    yield turns

    def _make_turns(self, conversation: Conversation, used: set[int], copies: set[int]) -> list[TurnRecord]:
        left_out = self.report.left_out
        conversation = conversation._replace(messages=leave_out_branches(conversation.messages))
        messages = self._sides.assign(conversation, self.report)
        is_told = len(messages) < len(conversation.messages)
        conversation = conversation._replace(messages=messages)
        stem = data_stem(self.name, _ENDINGS)[: MAX_NAME_CHARACTERS - 20]
        default = f"{stem}-{self.report.conversations + 1:06d}"
        turns = build_turns(conversation, conversation.id or default)
        if not turns:
            if not is_told:
                left_out[reasons.NO_MESSAGES].add(conversation.line)
            return []
        if self.report.mapping and (line := find_repetition(turns)):
            self.report.remarks[reasons.REPEATED_SESSIONS].add(line)
        for turn in turns:
            if cut := sum(key.endswith("truncated") for key in turn.metadata or {}):
                self.report.remarks[reasons.CUT_TEXTS].add(turn.line, count=cut)
            unread = (turn.metadata or {}).get(ORIGINAL_TIMESTAMP)
            if unread and "text" not in self.report.mapping and not is_written(unread):  # counted by then
                self.report.remarks[reasons.UNREAD_TIMES].add(turn.line, describe_shape(unread))
        if between := sum(len((turn.metadata or {}).get(TEXT_BETWEEN, ())) for turn in turns):
            self.report.remarks[reasons.BETWEEN_TURNS].add(conversation.line, count=between)
        if not has_answer(turns):
            if self.options.answered_only:
                left_out[reasons.NO_ANSWER].add()
                return []
            self.report.unanswered += 1
        key = hash((conversation.id, *((turn.role, turn.text) for turn in turns)))
        is_named_again = conversation.id and hash(conversation.id[: MAX_NAME_CHARACTERS - 10]) in used
        if is_named_again and key in copies:
            left_out[reasons.SECOND_COPY].add()
            return []
        copies.add(key)
        session_id = make_session_id(conversation.id, default, used)
        if is_named_again:
            self.report.remarks[reasons.RENAMED].add(conversation.line)
        turns = [turn._replace(session_id=session_id) for turn in turns]
        return add_labels(turns, conversation.labels)

    def _read(self, source: Source) -> Iterator[Record]:
        order = self.options.mapping.get("dates", "")
        if self.format in TEXT_FORMATS:
            yield from TEXT_FORMATS[self.format].read(self._count(source.lines()), order)
            return
        documents = self._take(spread_columns(source.documents(), self.options.mapping.values()))
        if self.format in TABLES:
            yield from self._read_table(documents)
            return
        remarks = self.report.remarks
        documents = replace_written_dates(
            documents, order, self._read_again, lambda place: remarks[reasons.UNREAD_DATES].add(place)
        )
        yield from FORMATS[self.format].read(documents)

    def _read_table(self, rows: Iterator[Document]) -> Iterator[Record]:
        peeked = peek_documents(rows, MAX_ROWS_PEEKED)
        columns = list(dict.fromkeys(key for _, row in peeked for key in row if key not in UNEVEN))
        self.report.columns = columns
        if "answer" in self.options.mapping:
            table_columns.check_mapping(self.options.mapping, columns)
            self.report.mapping = dict(self.options.mapping)
            yield from read_answers(chain(peeked, rows), self.options.mapping)
            return
        mapping = table_columns.complete_mapping(self.options.mapping, columns)
        labels = LabelColumns(columns)
        rows = chain(peeked, rows)
        named = any(field in table_columns.COLUMNS for field in self.options.mapping)
        inner = None if named else recognize(peeked[:MAX_PEEKED])
        is_row = mapping and not read_text(str(peeked[0].value.get(mapping["text"])))
        if inner is not None and inner.name != "doccano" and not (inner.name == "messages" and is_row):
            self.report.format, self.report.columns = f"{self.report.format}: {inner.label}", []
            if inner.name == "messages":  # an empty cell is an answer that nobody gave
                rows = (Document(number, {**dict.fromkeys(columns), **row}) for number, row in rows)
            reads_pairs = labels.found and inner.name == "messages"
            yield from (
                labels.read(rows, partial(read_lists, join_rows=False)) if reads_pairs else inner.read(rows)
            )
        elif mapping:
            self.report.mapping = dict(mapping)
            taken = (Document(number, labels.take(row)) for number, row in rows)
            times = mapping.get("timestamp", "")
            dates = DateReader(lambda: self._list_values(times), mapping.get("dates", ""), times)
            reader = RowReader(mapping, dates, self.report, self.options.assistant, self._list_values)
            yield from reader.read(taken)
        elif labels.found and self.options.labeled_texts:
            yield from labels.read_texts(rows)
        elif reason := next(filter(None, (explain_texts(row) for _, row in peeked)), ""):
            raise UnreadableFile(f"can't be read: {reason}")
        elif peeked:
            raise UnreadableFile(
                "has no columns that look like a conversation; name them: text=COLUMN, role=COLUMN, "
                "or question=COLUMN, answer=COLUMN. "
                f"Its columns: {', '.join(columns[:30])}"
            )

    def _list_values(self, column: str) -> Iterator[Any]:
        return (item.value.get(column) for item in self._read_again())

    def _read_again(self) -> Iterator[Document]:
        with open_source(self.path, self.limits) as source:
            source.encoding = self.options.mapping.get("encoding", "")
            items = spread_columns(source.documents(), self.options.mapping.values())
            yield from (item for item in items if isinstance(item, Document))

    def _take(self, items: Iterable[Document | LineError]) -> Iterator[Document]:
        """The documents; what isn't one is a problem."""
        for item in self._count(items):
            if isinstance(item, LineError):
                self.report.add_problem(item)
                continue
            for message in find_texts(item.value):
                if files := count_files(message):
                    self.report.remarks[reasons.ATTACHED].add(item.number, count=files)
                for key in () if self.format in TABLES else list_unread(message):
                    self.report.remarks[reasons.UNREAD_VALUES].add(item.number, key)
            yield item

    def _count(self, items: Iterable[T]) -> Iterator[T]:
        for item in items:
            self.report.records += 1
            yield item


def _explain_surprises(found: Iterator[Conversation], report: Report) -> Iterator[Conversation]:
    """A record that no reader expects ends in a sentence: its text must not reach a traceback."""
    try:
        yield from found
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError) as error:
        place = f"near record {report.records:,} ({type(error).__name__})"
        raise UnreadableFile(f"has a record of an unexpected shape {place}; name another --format") from None


def detect(path: Path, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """The name of the format, or None for what no format of this package knows."""
    with open_source(path, limits) as source:
        if source.layout in TABLES:
            return TURN_TABLE if _holds_turns(source) else source.layout
        if source.layout == "alignmenter":
            return source.layout
        if source.layout == "text":
            head = source.head_text()
            if known := recognize_text(head):
                return known.name
            return "messages" if read_text(head) else None
        if source.layout == "none":
            return None
        items = list(islice(spread_columns(source.documents()), MAX_PEEKED))
        if items and isinstance(items[0], LineError) and items[0].message == UNEVEN_COLUMNS:
            raise UnreadableFile(UNEVEN_COLUMNS)
        peeked = [item for item in items if isinstance(item, Document)]
        if found := recognize(peeked):
            return found.name
        rows = [document.value for document in peeked]
        is_table = (
            bool(rows) and all(type(row) is dict for row in rows) and table_columns.guess_mapping(rows[0])
        )
        return "json" if is_table else None


def _holds_turns(source: Source) -> bool:
    try:
        first = peek_documents(source.documents(), 1)
    except UnreadableFile:
        return False  # reading the rows will say what is wrong, or heed the stated encoding
    return bool(first) and type(first[0].value) is TurnRow
