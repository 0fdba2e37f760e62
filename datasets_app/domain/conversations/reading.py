"""A conversation file of any format → its turns, session by session."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from datasets_app.domain.conversations.chat import CHAT_FORMATS, ChatFormat, parse_chat
from datasets_app.domain.conversations.jsonl import (
    MAX_NAME_CHARACTERS,
    MAX_TURN_INDEX,
    find_first_object,
    find_session_id,
    parse_turn,
)
from datasets_app.domain.conversations.lines import (
    DEFAULT_LIMITS,
    Limits,
    OnBytes,
    UnreadableFile,
    open_file,
    read_lines,
    read_numbered_lines,
    unpack_stream,
)
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.spool import Spool

# Lines in any order → sessions in one piece, turns counted upwards; in constant memory.
#
# A file in order, as nearly all are, is only looked over. One that is not is sorted on disk.
SORT_BUFFER_BYTES = 64 << 20


class _LinePosition(msgspec.Struct):
    session_id: str
    turn_index: int


_decode_position = msgspec.json.Decoder(_LinePosition).decode


def read_position(raw: bytes) -> tuple[str, int] | None:
    """(session id, turn index) of a line, or None if it has none that can be read."""
    try:
        place = _decode_position(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return place.session_id, place.turn_index


class OrderCheck:
    """Fed the lines of a file one by one, tells where the first stands out of order.

    Remembers 8 bytes' worth for each session (the hash of its id). Two ids of one hash would
    only cause a needless sort.
    """

    def __init__(self) -> None:
        self.first_out_of_order = 0
        self._seen: set[int] = set()
        self._session: str | None = None
        self._turn_index = 0

    def check_line(self, line: int, raw: bytes) -> None:
        place = read_position(raw)
        if place is None:
            return
        session_id, turn_index = place
        if session_id == self._session:
            if turn_index < self._turn_index:
                self.first_out_of_order = self.first_out_of_order or line
        else:
            key = hash(session_id)
            if key in self._seen:
                self.first_out_of_order = self.first_out_of_order or line
            self._seen.add(key)
            self._session = session_id
        self._turn_index = turn_index


# The formats of our own, as lists show them.
FORMAT_LABELS = {
    "turns": "Conversation JSONL, one turn a line",
    "openai": "OpenAI chat JSONL, one session a line",
    "sharegpt": "ShareGPT JSONL, one session a line",
}
FORMATS = tuple(FORMAT_LABELS)
# After so many unreadable lines, "turns" is assumed.
MAX_DETECTION_LINES = 20


class FileScan(NamedTuple):
    """The result of a scan of the whole file; ``first_out_of_order`` is a line number, or 0."""

    lines: int
    first_out_of_order: int


class ConversationFile:
    """A file of conversations, which can be read several times.

    ``name`` is shown to people, and begins the session ids of chat files that have none. Raises
    :class:`UnreadableFile` if the file can't be opened.
    """

    def __init__(
        self, path: Path, *, format: str = "auto", limits: Limits = DEFAULT_LIMITS, name: str = ""
    ) -> None:
        open_file(path).close()
        self.path, self.limits = path, limits
        self.name = name or path.name
        self.format = detect_format(path, limits) if format == "auto" else format
        self.bytes_total = path.stat().st_size
        self._scan: FileScan | None = None

    @property
    def is_out_of_order(self) -> bool:
        """Whether lines are out of order, so that ``turns()`` must sort them."""
        return self.scan().first_out_of_order > 0

    def scan(self, on_bytes: OnBytes | None = None) -> FileScan:
        """Count the lines and check their order. The result is cached."""
        if self._scan is None:
            check = OrderCheck()
            count = 0
            for item in self._read_lines(on_bytes):
                count += 1
                if not isinstance(item, LineError) and self.format == "turns":
                    check.check_line(item[0], item[1])
            if not count:
                raise UnreadableFile("is empty; expected one JSON object per line")
            self._scan = FileScan(count, check.first_out_of_order)
        return self._scan

    def turns(self, on_bytes: OnBytes | None = None) -> Iterator[TurnRecord | LineError]:
        """Every turn, sessions in one piece and turn_index never falling within one.

        Invalid lines come as :class:`LineError`. ``on_bytes`` receives now and then how much of
        ``bytes_total`` has been read; it may raise to stop.
        """
        if self.format in CHAT_FORMATS:
            return self._read_chat_turns(CHAT_FORMATS[self.format], on_bytes)
        if self.is_out_of_order:
            return self._read_sorted_turns(on_bytes)
        return self._read_turns_in_order(on_bytes)

    def read_raw_lines(self) -> Iterator[tuple[int, bytes, str | None]]:
        """(line number, line as it stands, session id as far as it can be told)."""
        session_id: str | None = None
        for item in self._read_lines(None):
            if isinstance(item, LineError):
                continue
            number, raw = item
            if self.format in CHAT_FORMATS:
                session_id = self._read_chat_session_id(number, raw)
            else:
                place = read_position(raw)
                session_id = place[0] if place else find_session_id(raw) or session_id
            yield number, raw, session_id

    def _read_turns_in_order(self, on_bytes: OnBytes | None) -> Iterator[TurnRecord | LineError]:
        session_id: str | None = None
        for item in self._read_lines(on_bytes):
            if isinstance(item, LineError):
                yield item._replace(session_id=session_id)
                continue
            turn = parse_turn(item[0], item[1], session_id)
            session_id = turn.session_id
            yield turn

    def _read_sorted_turns(self, on_bytes: OnBytes | None) -> Iterator[TurnRecord | LineError]:
        """What has no place in the order comes first: it is an error."""
        lines: Spool[bytes] = Spool(bytes, SORT_BUFFER_BYTES)
        session_id: str | None = None
        for item in self._read_lines(on_bytes):
            if isinstance(item, LineError):
                yield item._replace(session_id=session_id)
                continue
            number, raw = item
            place = read_position(raw)
            if place is None:
                yield parse_turn(number, raw, session_id)
                continue
            session_id, index = place
            lines.add(session_id, max(-1, min(index, MAX_TURN_INDEX + 1)), b"%d\t%s" % item)
        for stored in lines.values():
            line, _, raw = stored.partition(b"\t")
            yield parse_turn(int(line), raw)

    def _read_chat_turns(
        self, chat: ChatFormat, on_bytes: OnBytes | None
    ) -> Iterator[TurnRecord | LineError]:
        seen: set[int] = set()
        for item in self._read_lines(on_bytes):
            if isinstance(item, LineError):
                yield item
                continue
            number, raw = item
            turns = parse_chat(number, raw, chat, self._default_session_id(number))
            if isinstance(turns, LineError):
                yield turns
                continue
            key = hash(turns[0].session_id)
            if key in seen:
                yield LineError(
                    number, "E202", "an earlier line has a conversation of the same id", turns[0].session_id
                )
                continue
            seen.add(key)
            yield from turns

    def _default_session_id(self, number: int) -> str:
        return f"{data_stem(self.name)[: MAX_NAME_CHARACTERS - 20]}-{number:06d}"

    def _read_chat_session_id(self, number: int, raw: bytes) -> str:
        turns = parse_chat(number, raw, CHAT_FORMATS[self.format], self._default_session_id(number))
        session_id = turns.session_id if isinstance(turns, LineError) else turns[0].session_id
        return session_id or self._default_session_id(number)

    def _read_lines(self, on_bytes: OnBytes | None) -> Iterator[tuple[int, bytes] | LineError]:
        return read_lines(self.path, self.limits, on_bytes)


def detect_format(path: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    """ "turns", "openai" or "sharegpt", by the first line that is a JSON object."""
    with open_file(path) as raw:
        return detect_stream_format(unpack_stream(raw), limits)


def detect_stream_format(stream: IO[bytes], limits: Limits = DEFAULT_LIMITS) -> str:
    """As :func:`detect_format`, for an unpacked stream."""
    value = find_first_object(islice(read_numbered_lines(stream, limits), MAX_DETECTION_LINES)) or {}
    for chat in CHAT_FORMATS.values():
        if isinstance(value.get(chat.messages), list) and "text" not in value:
            return chat.name
    return "turns"


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_stem(name: str, endings: Sequence[str] = (".gz", ".jsonl", ".ndjson", ".json")) -> str:
    """``support.jsonl.gz`` → ``support``: without these ``endings``, each once, in their order."""
    for ending in endings:
        name = name.removesuffix(ending)
    return name
