"""Tables (CSV, XLSX, Parquet, Arrow) → rows → documents or single messages, by a mapping of columns."""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.messages import ROLES, read_message
from datasets_app.domain.traces.records import NO_MESSAGES, Call, LeftOut, Message
from datasets_app.domain.traces.values import as_name, decode_json, drop_empty, to_seconds

COLUMNS: dict[str, tuple[str, ...]] = {
    "session_id": ("session_id", "conversation_id", "thread_id", "ticket_id", "chat_id", "dialogue_id",
                   "dialog_id",
                   "conv_id", "case_id", "session", "conversation", "thread", "ticket", "conversationid",
                   "sessionid",
                   "chatid", "threadid", "interaction_id", "call_id"),
    "turn_index": ("turn_index", "turn", "turn_id", "turn_number", "message_index", "turn_no", "seq",
                   "sequence",
                   "utterance_idx", "message_number", "position", "order", "msg_index", "turn_idx",
                   "line_number"),
    "role": ("role", "speaker", "sender", "author", "from", "sender_type", "participant", "author_role",
             "author_type",
             "speaker_role", "user_type", "sender_role", "message_role", "type", "direction", "who", "name"),
    "text": ("text", "content", "message", "utterance", "body", "message_text", "message_body", "value",
             "comment",
             "transcript", "msg", "sentence", "message_content"),
    "timestamp": ("timestamp", "created_at", "time", "datetime", "date", "sent_at", "createdat",
                  "message_time",
                  "created", "create_time", "message_timestamp"),
}  # fmt: skip
_DIRECTIONS = {"inbound": "user", "incoming": "user", "in": "user", "outbound": "assistant", "outgoing":
               "assistant",
               "out": "assistant", "received": "user", "sent": "assistant"}  # fmt: skip
_WORD = re.compile(r"[^a-z0-9]+")
MAX_CELL_CHARACTERS = 16 << 20
MAX_SHARED_STRINGS = 200 << 20
MAX_COLUMNS = 2000

Mapping_ = Mapping[str, str]


def guess_mapping(columns: Iterable[str]) -> dict[str, str]:
    """{"text": "Body", …}: which column is what; empty unless there are a text and who wrote it."""
    names = {_WORD.sub("_", column.strip().lower()).strip("_"): column for column in reversed(list(columns))}
    found = {
        target: next(names[name] for name in candidates if name in names)
        for target, candidates in COLUMNS.items()
        if any(name in names for name in candidates)
    }
    return found if "text" in found and "role" in found else {}


def check_mapping(mapping: Mapping_, columns: Iterable[str]) -> None:
    """Raises UnreadableFile if the mapping names what is no column, or lacks what is needed."""
    known = list(columns)
    for target, column in mapping.items():
        if target not in COLUMNS:
            raise UnreadableFile(f"the mapping names {target!r}; use {', '.join(COLUMNS)}")
        if column not in known:
            raise UnreadableFile(f"has no column {column!r}; its columns: {', '.join(known[:30])}")
    if mapping and not {"text", "role"} <= mapping.keys():
        raise UnreadableFile("the mapping needs at least text and role")


def read_rows(rows: Iterable[Document], mapping: Mapping_, assistant: str = "") -> Iterator[Call | LeftOut]:
    """Rows of one message each. A speaker that names no role is a user, except the ``assistant``; without
    one,
    the first speaker of a conversation is its user."""
    first_speakers: dict[str, str] = {}
    for number, row in rows:
        text, speaker = row.get(mapping["text"]), row.get(mapping["role"])
        if text is None or not str(text).strip():
            yield LeftOut("empty messages", number)
            continue
        name = as_name(row.get(mapping.get("session_id", ""))) or "1"
        speaker = str(speaker) if speaker is not None else ""
        role = ROLES.get(speaker.strip().lower()) or _DIRECTIONS.get(speaker.strip().lower(), "")
        author = None
        if assistant:
            role = "assistant" if speaker.strip() == assistant else role if role != "assistant" else "user"
        if not role:
            first = first_speakers.setdefault(name, speaker)
            role, author = ("user" if speaker == first or assistant else "assistant"), speaker
        message = read_message({"role": role, "content": text if type(text) in (list, dict) else str(text)})
        if message is None:
            yield LeftOut(NO_MESSAGES, number)
            continue
        yield _make_call(row, mapping, name, message, author, number)


def _make_call(
    row: dict[str, Any], mapping: Mapping_, name: str, message: Message, author: str | None, number: int
) -> Call:
    time = to_seconds(row.get(mapping.get("timestamp", "")))
    index = row.get(mapping.get("turn_index", ""))
    try:
        order = float(index) if index is not None else time or float(number)
    except (TypeError, ValueError):
        order = time or float(number)
    rest = {key: value for key, value in row.items() if key not in mapping.values()}
    metadata = rest.pop("metadata", None)
    rest = {**metadata, **rest} if type(metadata) is dict else {**rest, "metadata": metadata}
    details = drop_empty({"timestamp": time, "author": author, **rest, **(message.details or {})})
    return Call(name, "", order, [], [message._replace(details=details or None)], {}, number, separate=True)


# --- CSV ---------------------------------------------------------------------------------------


def find_delimiter(head: str) -> str:
    """The delimiter of a CSV file that begins like this; empty if it is no table."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    best = max(",;\t|", key=first.count)
    if not first.count(best) or len(first) > 20_000:
        return ""
    try:
        rows = [
            row for row in csv.reader(io.StringIO(head[: head.rfind("\n")] or head), delimiter=best) if row
        ]
    except csv.Error:
        return ""
    names = [name.strip() for name in rows[0]] if rows else []
    named = (
        len(names) > 1
        and all(names)
        and len(set(names)) == len(names)
        and all(len(name) < 80 for name in names)
    )
    fits = [len(row) == len(names) for row in rows[1:20]]
    return best if named and sum(fits) * 2 >= len(fits) else ""


def read_csv(stream: IO[bytes], limits: Limits) -> Iterator[Document]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        head = text.read(1 << 16)
        delimiter = find_delimiter(head) or ","
        lines = _continue_lines(head, text)
        for number, row in enumerate(csv.DictReader(lines, delimiter=delimiter), 2):
            yield Document(
                number,
                {key: _read_cell(value) for key, value in row.items() if key and value not in (None, "")},
            )
    except UnicodeDecodeError:
        raise UnreadableFile("is not UTF-8; convert it: iconv -f WINDOWS-1252 -t UTF-8 IN > OUT") from None
    except csv.Error as error:
        raise UnreadableFile(f"is no valid CSV: {error}") from None


def _continue_lines(head: str, rest: IO[str]) -> Iterator[str]:
    lines = head.splitlines(keepends=True)
    last = lines.pop() if lines else ""
    yield from lines
    yield last + rest.readline()
    yield from rest


def _read_cell(value: Any) -> Any:
    decoded = decode_json(value)
    return decoded if type(decoded) in (dict, list) else value


# --- XLSX, Parquet, Arrow ----------------------------------------------------------------------


def read_xlsx(path: Path, limits: Limits) -> Iterator[Document]:
    """The rows of the first sheet; the first row names the columns."""
    try:
        import openpyxl
    except ImportError:
        raise UnreadableFile("needs openpyxl; install it: pip install openpyxl") from None
    with zipfile.ZipFile(path) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    if (
        sum(sizes.values()) > limits.unpacked_bytes
        or sizes.get("xl/sharedStrings.xml", 0) > MAX_SHARED_STRINGS
    ):
        raise UnreadableFile("is too large unpacked; save it as CSV")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # the library raises whatever its parsers raise
        raise UnreadableFile(
            f"can't be read as XLSX ({type(error).__name__}); save it again, or as CSV"
        ) from None
    with _closing(book.close):
        rows = book.worksheets[0].iter_rows(max_col=MAX_COLUMNS, values_only=True)
        header = [str(cell) if cell is not None else "" for cell in next(rows, ())]
        for number, row in enumerate(rows, 2):
            cells = {
                name: _read_cell(_plain(cell))
                for name, cell in zip(header, row, strict=False)
                if name and cell is not None
            }
            if cells:
                yield Document(number, cells)


class _closing:
    def __init__(self, close: Callable[[], None]) -> None:
        self.close = close

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self.close()


def _plain(value: Any) -> Any:
    """Dates and whatever else a library makes of a cell, as JSON has it."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return "" if isinstance(value, bytes) else str(value)


def read_arrow(path: Path, limits: Limits) -> Iterator[Document]:
    """The rows of a Parquet or Arrow file, a thousand at a time."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UnreadableFile("needs pyarrow; install it: pip install -r requirements-parquet.txt") from None
    number = 0
    try:
        for batch in _read_batches(path, pyarrow):
            for row in batch.to_pylist():
                number += 1
                yield Document(
                    number, {key: _read_cell(_plain(cell)) for key, cell in row.items() if cell is not None}
                )
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableFile(
            f"can't be read after row {number:,} ({type(error).__name__}); transfer it again"
        ) from None


def _read_batches(path: Path, pyarrow: Any) -> Iterator[Any]:
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"PAR1"):
        yield from pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=1000)
    elif magic == b"ARROW1":
        reader = pyarrow.ipc.open_file(path)
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from pyarrow.ipc.open_stream(path)
