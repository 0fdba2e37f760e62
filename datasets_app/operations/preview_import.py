"""What an import would make of a file, by its first lines; nothing is saved."""

from dataclasses import dataclass, field
from itertools import islice
from typing import IO

from django.conf import settings

from datasets_app.domain.chat import CHAT_FORMATS, parse_chat
from datasets_app.domain.jsonl import NotARecord, decode_object, parse_turn
from datasets_app.domain.lines import Limits, UnreadableFile, numbered_lines, unpacked
from datasets_app.domain.reading import data_stem, format_of
from datasets_app.domain.records import LineError, TurnRecord

LINES_LOOKED_AT = 1000
# Of a file unpacked, blank lines and overlong ones included: a person waits for the page.
BYTES_LOOKED_AT = 32 << 20
PROBLEMS_SHOWN = 20


class _LookedEnough(Exception):
    pass


class _Head:
    """The beginning of a stream: whoever reads on is told that it is enough."""

    def __init__(self, stream: IO[bytes], left: int) -> None:
        self.stream, self.left = stream, left

    def read(self, size: int) -> bytes:
        if self.left <= 0:
            raise _LookedEnough
        block = self.stream.read(min(size, self.left))
        self.left -= len(block)
        return block


@dataclass
class ImportPreview:
    """``error`` is set when the file can't be read at all; everything else is then empty."""

    format: str = "turns"
    turns: list[TurnRecord] = field(default_factory=list)
    problems: list[LineError] = field(default_factory=list)
    lines_read: int = 0
    labels: int = 0
    unknown_keys: list[str] = field(default_factory=list)
    annotation_file: bool = False
    error: str | None = None


def preview_import(
    file: IO[bytes], *, name: str, format: str = "auto", turns_shown: int = 10
) -> ImportPreview:
    """Look at the first thousand lines of a seekable file, or at its first megabytes."""
    preview = ImportPreview(format="turns" if format == "auto" else format)
    limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
    keys: set[str] = set()
    try:
        head = _Head(unpacked(file), BYTES_LOOKED_AT)
        if format == "auto":
            preview.format = format_of(head, limits)  # type: ignore[arg-type]  # has all of IO that is used
            file.seek(0)
            head = _Head(unpacked(file), head.left)
        lines = numbered_lines(head, limits)  # type: ignore[arg-type]
        for item in islice(lines, LINES_LOOKED_AT):
            preview.lines_read += 1
            _look(preview, item, name, turns_shown, keys)
        if not preview.lines_read:
            preview.error = "E100 is empty; expected one JSON object per line"
    except _LookedEnough:
        pass
    except UnreadableFile as error:
        preview.error = f"{error.code} {error}"
    preview.unknown_keys = sorted(keys)[:30]
    return preview


def _look(
    preview: ImportPreview, item: tuple[int, bytes] | LineError, name: str, turns_shown: int, keys: set[str]
) -> None:
    if isinstance(item, LineError):
        return _problem(preview, item)
    number, raw = item
    if number == 1 and preview.format == "turns":
        preview.annotation_file = _is_label(raw)
    if preview.format in CHAT_FORMATS:
        found = parse_chat(number, raw, CHAT_FORMATS[preview.format], f"{data_stem(name)}-{number:06d}")
    else:
        turn = parse_turn(number, raw)
        found = turn if isinstance(turn, LineError) else [turn]
    if isinstance(found, LineError):
        return _problem(preview, found)
    for turn in found:
        preview.labels += turn.extra is not None and turn.extra.get("label") in (0, 1)
        keys.update(turn.extra or ())
        if len(preview.turns) < turns_shown:
            preview.turns.append(turn)
    return None


def _problem(preview: ImportPreview, error: LineError) -> None:
    if len(preview.problems) < PROBLEMS_SHOWN:
        preview.problems.append(error)


def _is_label(raw: bytes) -> bool:
    try:
        value = decode_object(raw)
    except NotARecord:
        return False
    return "label" in value and "text" in value and "role" not in value
