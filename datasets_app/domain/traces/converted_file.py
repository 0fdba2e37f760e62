"""A file of any format as a :class:`ConversationFile`: what isn't conversation JSONL is converted first."""

import tempfile
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from datasets_app.domain.conversations.chat import CHAT_FORMATS
from datasets_app.domain.conversations.jsonl import (
    encode_turn,
    find_first_object,
    find_session_id,
    parse_turn,
)
from datasets_app.domain.conversations.lines import (
    DEFAULT_LIMITS,
    Limits,
    OnBytes,
    StopReading,
    UnreadableFile,
    describe_text,
    read_lines,
)
from datasets_app.domain.conversations.reading import (
    FORMATS,
    MAX_DETECTION_LINES,
    ConversationFile,
    FileScan,
    detect_format,
)
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.conversations.roles import USER, find_role, find_withheld
from datasets_app.domain.spool import Spool
from datasets_app.domain.traces.alignmenter_runs import is_transcript
from datasets_app.domain.traces.archives import ArchiveConversion
from datasets_app.domain.traces.containers import open_source
from datasets_app.domain.traces.convert import (
    MAX_PEEKED,
    NAMES,
    NUMBERED,
    Conversion,
    ConvertOptions,
    detect,
)
from datasets_app.domain.traces.documents import Document, peek_documents
from datasets_app.domain.traces.marked_texts import explain_texts, read_text
from datasets_app.domain.traces.numbered_turns import has_tool_turns
from datasets_app.domain.traces.pairs import find_answer
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.table_columns import PAIR, SENDER, WITH_COLUMN, WITHOUT_COLUMN
from datasets_app.domain.traces.values import as_dict, as_list

ALL_FORMATS = (*FORMATS, *NAMES, ArchiveConversion.format)
LINE_ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_TURN_KEYS = frozenset("session_id turn_index role text persona_id".split())
_PLAIN_ROLES = {"user", "assistant", "system", "developer", "tool", "function"}
_PLAIN_SPEAKERS = _PLAIN_ROLES.union(
    CHAT_FORMATS["sharegpt"].roles, ("function_call", "observation", "tool_call")
)


class ConvertedFile(ConversationFile):
    """The turns are kept in a temporary file; lines of findings are those of the original."""

    def __init__(
        self, path: Path, *, format: str, limits: Limits, name: str, options: ConvertOptions
    ) -> None:
        if path.is_dir():  # of a dataset, which has no bytes of its own
            self.path, self.limits, self.name = path, limits, name or path.name
            self.bytes_total, self._scan = 0, None
        else:
            super().__init__(path, format="turns", limits=limits, name=name)
        self._conversion: Conversion | ArchiveConversion
        if format == ArchiveConversion.format:
            self._conversion = ArchiveConversion(path, _open_member, limits, options)
        else:
            self._conversion = Conversion(path, format=format, limits=limits, name=self.name, options=options)
        self.format = self._conversion.format
        self._turns: IO[bytes] = tempfile.TemporaryFile(prefix="alignmenter-converted-")  # noqa: SIM115
        self._lines = array("q")

    @property
    def report(self) -> Report:
        self.scan()
        return self._conversion.report

    @property
    def table_columns(self) -> list[str]:
        """The columns of a table as far as it was read, also if it can't be read as conversations."""
        return self._conversion.report.columns

    def scan(self, on_bytes: OnBytes | None = None) -> FileScan:
        if self._scan is None:
            try:
                for turns in self._conversion.conversations(on_bytes):
                    for turn in turns:
                        self._turns.write(encode_turn(turn))
                        self._lines.append(turn.line)
            except StopReading:
                self._scan = FileScan(len(self._lines), 0)
                raise
            if not self._conversion.report.records:
                raise UnreadableFile("is empty, or has no more than a line of names")
            self._scan = FileScan(len(self._lines), 0)
            if isinstance(self._conversion, ArchiveConversion) and self._conversion.is_cut:
                self._join_sessions()
        return self._scan

    def _join_sessions(self) -> None:
        """Put the turns of each session behind each other."""
        stored: Spool[bytes] = Spool(bytes)
        places: dict[int, int] = {}
        for number, raw, session_id in self.read_raw_lines():
            place = places.setdefault(hash(session_id), len(places))
            stored.add(f"{place:012d}", 0, b"%d\t%s\n" % (number, raw))
        self._turns = tempfile.TemporaryFile(prefix="alignmenter-converted-")  # noqa: SIM115
        self._lines = array("q")
        for line in stored.values():
            number_text, _, raw = line.partition(b"\t")
            self._lines.append(int(number_text))
            self._turns.write(raw)

    def turns(self, on_bytes: OnBytes | None = None) -> Iterator[TurnRecord | LineError]:
        self.scan()
        yield from self._conversion.report.problems
        for number, raw, _ in self.read_raw_lines():
            yield parse_turn(number, raw)
        if on_bytes:
            on_bytes(self.bytes_total)

    def read_raw_lines(self) -> Iterator[tuple[int, bytes, str | None]]:
        """The turns, each with the line or record of the original file that its conversation begins in."""
        self.scan()
        self._turns.seek(0)
        for line, raw in zip(self._lines, self._turns, strict=True):
            raw = raw.rstrip(b"\n")
            yield line, raw, find_session_id(raw)

    def read_unread_lines(self) -> Iterator[bytes]:
        """Lines of the original of which nothing was read, as they stand."""
        self.scan()
        return self._conversion.read_unread_lines()


def open_conversation_file(
    path: Path, *, format: str = "auto", limits: Limits = DEFAULT_LIMITS, name: str = "",
    options: ConvertOptions = ConvertOptions(),  # noqa: B008
) -> ConversationFile:  # fmt: skip
    """A file of any format. Raises :class:`UnreadableFile` if it can't be read as one."""
    if format == "auto" or is_archive(path, limits):
        names_columns = any(field in WITH_COLUMN for field in options.mapping)
        format = detect_any_format(path, limits, names_columns=names_columns)
    heeded = (*WITHOUT_COLUMN, *PAIR)
    if format in FORMATS and any(key.startswith(SENDER) or key in heeded for key in options.mapping):
        if format == "turns":
            raise UnreadableFile(
                "has turns, each with its role and with timestamps in ISO 8601; sender:NAME, "
                f"{', '.join(heeded)} are for other formats"
            )
        format = "messages"  # which asks the mapping who is who
    if format == "turns" and has_tool_turns(path, limits):
        format = NUMBERED
    if format in FORMATS:
        return ConversationFile(path, format=format, limits=limits, name=name)
    return ConvertedFile(path, format=format, limits=limits, name=name, options=options)


def _open_member(path: Path, limits: Limits, name: str, options: ConvertOptions) -> ConversationFile:
    """A file of an archive, which isn't an archive and must be in a known format."""
    format = detect_any_format(path, limits)
    if format == ArchiveConversion.format:
        raise UnreadableFile("is an archive within the archive; unpack it first")
    file = open_conversation_file(path, format=format, limits=limits, name=name, options=options)
    if format == "turns" and not _has_objects(path, limits):
        if PurePosixPath(name).name.endswith((".json", *LINE_ENDINGS)):
            _check_syntax(path, limits)
        raise UnreadableFile("is in no known format")
    return file


def is_archive(path: Path, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether a file is an archive of files that are read one by one."""
    try:
        with open_source(path, limits) as source:
            return source.layout == ArchiveConversion.format
    except UnreadableFile:
        return False


def detect_any_format(path: Path, limits: Limits = DEFAULT_LIMITS, *, names_columns: bool = False) -> str:
    """The name of the format; "turns" for what is none, whose lines then say what is wrong. If a mapping
    names columns, that is a table of JSON."""
    with open_source(path, limits) as source:
        layout, in_lines = source.layout, b"\n" in source.head.strip()
        head, in_array = source.head_text(), source.head.lstrip()[:1] == b"["
        is_json = not in_array and layout in ("lines", "document")
        try:
            first = peek_documents(source.documents(), 5) if is_json else []
        except UnreadableFile:  # each line says what is wrong
            return detect_format(path, limits)
    if layout == ArchiveConversion.format:
        return layout
    if first and all(is_transcript(document.value) for document in first):
        return "alignmenter"
    if not names_columns and any(_is_turn(document.value) for document in first):
        return "turns"
    found = detect(path, limits)
    if found is None and names_columns and layout in ("lines", "document"):
        return "json"
    is_plain = layout == "lines" and found in ("messages", "labelstudio") and _are_plain(first)
    if found is not None and not is_plain:
        return found
    if found is None:
        _check_markup(path, limits)
        if layout == "text" and not _has_objects(path, limits):
            raise UnreadableFile(describe_text(head))
    is_document = found is None and layout == "document" and not path.name.endswith(LINE_ENDINGS)
    if is_document:
        _check_syntax(path, limits)
    format = detect_format(path, limits)
    is_foreign = bool(first) and all(_TURN_KEYS.isdisjoint(as_dict(item.value)) for item in first)
    if (format == "turns" and is_foreign) or (is_document and (in_lines or in_array)):
        raise UnreadableFile(
            "is JSON, but in no known format; docs/formats.md lists those that are read. For rows of a "
            "table, name the columns: text=COLUMN, role=COLUMN"
        )
    return format


def _has_objects(path: Path, limits: Limits) -> bool:
    return find_first_object(islice(read_lines(path, limits), MAX_DETECTION_LINES)) is not None


def _check_syntax(path: Path, limits: Limits) -> None:
    """Raises UnreadableFile with line and column for a file whose beginning isn't JSON."""
    with open_source(path, limits) as source:
        for item in islice(source.documents(), 1000):
            if isinstance(item, LineError):
                raise UnreadableFile(f"is {item.message}")


def _check_markup(path: Path, limits: Limits) -> None:
    """Raises UnreadableFile for a file in a chat template that isn't a conversation."""
    with open_source(path, limits) as source:
        is_text = source.layout == "text"
        documents = [] if is_text else peek_documents(source.documents(), MAX_PEEKED)
        for value in [source.head_text()] if is_text else [document.value for document in documents]:
            if reason := explain_texts(value):
                raise UnreadableFile(f"can't be read: {reason}")


def _is_turn(value: object) -> bool:
    value = as_dict(value)
    if "text" not in value or not ("session_id" in value or "turn_index" in value or "persona_id" in value):
        return False
    if type(value["text"]) in (list, dict) and type(value.get("role")) is type(value["text"]):
        return False  # columns
    return "role" in value or type(value["text"]) is not str or not read_text(value["text"])


def _are_plain(documents: list[Document]) -> bool:
    """Lines of chat files as they are written for training, which are kept with every key."""
    for _, value in documents:
        for chat in CHAT_FORMATS.values():
            messages = as_list(as_dict(value).get(chat.messages))
            is_asked = bool(messages) and find_role(str(as_dict(messages[-1]).get(chat.role))) == USER
            if is_asked and find_answer(value):
                return False
            if messages and all(_is_plain(message, chat.role, chat.text, chat.name) for message in messages):
                break
        else:
            return False
    return bool(documents)


def _is_plain(message: object, role: str, text: str, name: str) -> bool:
    message = as_dict(message)
    content = message.get(text)
    if type(message.get(role)) is not str or "parts" in message or find_withheld(message):
        return False
    if message[role] not in (_PLAIN_ROLES if name == "openai" else _PLAIN_SPEAKERS):
        return False
    return (
        content is None
        or type(content) is str
        or all(as_dict(part).get("type") == "text" for part in as_list(content))
    )
