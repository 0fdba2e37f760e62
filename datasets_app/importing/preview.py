"""Previews an import from the first lines of a file; saves nothing."""

import itertools
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.chat import CHAT_FORMATS, parse_chat
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, parse_turn
from datasets_app.domain.conversations.lines import (
    StopReading,
    UnreadableFile,
    is_tar,
    read_numbered_lines,
    unpack_stream,
)
from datasets_app.domain.conversations.reading import data_stem, detect_stream_format
from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.conversations.roles import UNKNOWN
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.quality.checks import INTEGRITY_CHECKS
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.runner import run_checks
from datasets_app.domain.quality.survey import renumber_turns
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import describe_report, list_left_out_with_lines, list_warnings
from datasets_app.domain.traces.label_rules import LabelTally
from datasets_app.domain.traces.reasons import AMBIGUOUS_TIMES, NOT_CONVERSATIONS
from datasets_app.domain.traces.report import MAX_KINDS_NOTED
from datasets_app.domain.traces.sides import UnknownSender
from datasets_app.domain.traces.tables import WrongEncoding
from datasets_app.domain.wording import format_count
from datasets_app.importing.parameters import ImportParameters

MAX_SPEAKERS = 50
MAX_LINES_READ = 1000
# Of 1 MiB uncompressed, including blank and overlong lines: a person waits for the page.
MAX_BLOCKS_READ = 32
MAX_PROBLEMS_SHOWN, MAX_TURNS_SHOWN = 20, 10
# What is converted takes a second for this much.
MAX_CONVERTED_BYTES = 8 << 20
# Archives and tables can only be read as a whole.
MAX_PACKED_BYTES = 256 << 20
# A small file may unpack to much.
MAX_SECONDS = 15


@dataclass
class ImportPreview:
    """``error`` is set when the file can't be read at all; everything else is then empty."""

    format: str = "turns"
    turns: list[TurnRecord] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)
    personal_data: int = 0
    lines_read: int = 0
    labels: int = 0
    unknown_keys: list[str] = field(default_factory=list)
    annotation_file: bool = False
    error: str | None = None
    has_other_encoding: bool = False
    # Of a file that is converted: what was read and made, what was left out, and keys of metadata.
    summary: str = ""
    left_out: list[str] = field(default_factory=list)
    # Of a table: which column is what, and the names of all of them.
    columns: dict[str, str] = field(default_factory=dict)
    table_columns: list[str] = field(default_factory=list)
    metadata_keys: list[str] = field(default_factory=list)
    # What may be misunderstood; (sender or role, what it is read as, messages).
    warnings: list[str] = field(default_factory=list)
    speakers: list[tuple[str, str, int]] = field(default_factory=list)
    more_speakers: str = ""
    lacks_sessions: bool = False
    has_ambiguous_dates: bool = False
    whole: bool = True
    # Labels of other tools: what becomes of each question's, and how many people gave them.
    tally: LabelTally = field(default_factory=LabelTally)
    questions: list[tuple[str, str]] = field(default_factory=list)
    annotators: int = 0

    def why_refused(self, on_error: str) -> str:
        """Why an import with these settings would fail, by what was read; empty if nothing tells so."""
        if self.has_other_encoding:
            return "Choose the encoding, then update the preview."
        if self.error:
            return "This file can't be imported."
        if self.annotation_file:
            return "This is a file of labels."
        if self.lacks_sessions:
            return "Choose the session column, or that there is none, then update the preview."
        if self.problems and on_error != "quarantine":
            if any(role == UNKNOWN for _, role, _ in self.speakers):
                return (
                    "Choose what each unknown role is and update the preview, or import valid sessions only."
                )
            return "The import would fail: fix the problems in the file, or import only the valid sessions."
        return ""


def preview_upload(
    file: IO[bytes],
    name: str,
    options: ImportParameters = ImportParameters(),  # noqa: B008
) -> ImportPreview:
    """Preview the first thousand lines of a seekable file, or its first 32 MiB, as an import reads it."""
    preview = _preview_conversion(file, name, options.format or "auto", options.reading)
    if preview is None:
        file.seek(0)
        preview = _preview_lines(file, name, options.format or "auto", options.renumber)
    preview.questions = preview.tally.describe(options.label_rules)
    preview.annotators = len(preview.tally.annotators)
    return preview


def _preview_conversion(
    file: IO[bytes], name: str, format: str, options: ConvertOptions
) -> ImportPreview | None:
    """The preview of an export of another tool; None for conversation files of our own formats."""
    whole, opened = True, None
    with tempfile.NamedTemporaryFile(prefix="alignmenter-preview-") as copy:
        try:
            whole = _copy_start(file, copy)
            end = time.monotonic() + MAX_SECONDS
            limits = configured_limits()._replace(on_step=_stop_if(lambda: time.monotonic() > end))
            if not whole:  # records are read one by one, not to stumble over the end of the copy
                limits = limits._replace(line_bytes=min(limits.line_bytes, MAX_CONVERTED_BYTES // 2))
            opened = open_conversation_file(
                Path(copy.name), format=format, limits=limits, name=name, options=options
            )
            if not isinstance(opened, ConvertedFile):
                return None
            return _describe_conversion(opened, whole)
        except StopReading:
            return ImportPreview(format=format, error="E100 Takes too long to read. Is this the right file?")
        except (EOFError, OSError, zlib.error):
            return None  # what is damaged is told with its place, as for every file
        except UnreadableFile as error:
            listed = f": {', '.join(error.senders[:50])}" if isinstance(error, UnknownSender) else ""
            message = (
                f"{error}{listed}" if whole else f"{error} (only the beginning of this large file was read)"
            )
            if isinstance(error, WrongEncoding):
                message = f"Line {error.line:,} isn't UTF-8. Choose its encoding and update the preview."
                return ImportPreview(format=format, error=f"{error.code} {message}", has_other_encoding=True)
            found = opened.table_columns if isinstance(opened, ConvertedFile) else []
            return ImportPreview(format=format, error=f"{error.code} {message}", table_columns=found)


def _stop_if(is_over: Callable[[], bool]) -> Callable[[], None]:
    def stop() -> None:
        if is_over():
            raise StopReading

    return stop


def _copy_start(file: IO[bytes], copy: IO[bytes]) -> bool:
    """Copy the first 8 MiB, unpacked; tables and archives in full. Whether it was everything."""
    start = file.read(8)
    file.seek(0)
    packed = start.startswith((b"PK\x03\x04", b"PAR1", b"ARROW1", b"SQLite f"))
    source = file if packed else unpack_stream(file)
    packed = packed or is_tar(source.read(512))
    source.seek(0)
    left = MAX_PACKED_BYTES if packed else MAX_CONVERTED_BYTES
    while left and (block := source.read(min(left, 1 << 20))):
        copy.write(block)
        left -= len(block)
    whole = bool(left) or not source.read(1)
    if not whole and not packed:
        _drop_last_line(copy)
    copy.flush()
    return whole


def _drop_last_line(copy: IO[bytes]) -> None:
    """The end of a file that is copied in part is in the middle of a line, which would look cut off."""
    start = max(0, copy.tell() - (1 << 20))
    copy.seek(start)
    end = copy.read().rfind(b"\n")
    if end >= 0:
        copy.truncate(start + end + 1)


def _describe_conversion(file: ConvertedFile, whole: bool) -> ImportPreview:
    try:
        file.scan()
    except StopReading:
        whole = False
    report = file.report
    preview = ImportPreview(format=file.format, lines_read=report.records, whole=whole, labels=report.labels)
    records = list(itertools.islice(file.turns(), MAX_LINES_READ))
    if not whole:  # the copy ends in the middle of a record
        records = [record for record in records if isinstance(record, TurnRecord)]
    _check_records(preview, records, whole and len(records) < MAX_LINES_READ, renumber=False)
    turns = _show_turns(preview, records)
    preview.metadata_keys = sorted({key for turn in turns for key in turn.metadata or ()})[:30]
    preview.summary = describe_report(report)
    preview.left_out = list_left_out_with_lines(report)
    preview.warnings = list_warnings(report)
    preview.speakers, preview.more_speakers = _list_speakers(report.speakers)
    preview.lacks_sessions = report.lacks_sessions
    preview.has_ambiguous_dates = bool(report.remarks[AMBIGUOUS_TIMES].total)
    preview.columns = report.mapping
    preview.table_columns = report.columns
    if whole and not report.conversations:
        if report.left_out[NOT_CONVERSATIONS].total:
            preview.annotation_file = True
        else:
            preview.error = "E100 No conversations found. Is this the right file?"
    return preview


def _list_speakers(found: Counter[tuple[str, str]]) -> tuple[list[tuple[str, str, int]], str]:
    """Those who are listed, unknown roles first, as somebody has to say what they are; and how many more."""
    ranked = sorted(found.most_common(), key=lambda item: item[0][1] != UNKNOWN)
    listed = [(speaker, role, count) for (speaker, role), count in ranked[:MAX_SPEAKERS]]
    roles: Counter[str] = Counter()
    for (_, role), count in ranked[MAX_SPEAKERS:]:
        roles[role] += count
    if not roles:
        return listed, ""
    least = "at least " if len(found) >= MAX_KINDS_NOTED else ""
    read = ", ".join(f"{format_count(count, 'message')} as {role}" for role, count in roles.most_common())
    return (
        listed,
        f"{least}{format_count(len(found) - MAX_SPEAKERS, 'more sender')} with fewer messages: {read}",
    )


def _preview_lines(file: IO[bytes], name: str, format: str, renumber: bool) -> ImportPreview:
    preview = ImportPreview(format="turns" if format == "auto" else format)
    blocks = itertools.count(1)
    limits = configured_limits()._replace(on_step=_stop_if(lambda: next(blocks) > MAX_BLOCKS_READ))
    records: list[TurnRecord | LineError] = []
    whole = False
    try:
        if format == "auto":
            preview.format = detect_stream_format(unpack_stream(file), limits)
            file.seek(0)
        lines = read_numbered_lines(unpack_stream(file), limits)
        for item in itertools.islice(lines, MAX_LINES_READ):
            preview.lines_read += 1
            records += _parse_line(preview, item, name)
        whole = next(lines, None) is None
        if not preview.lines_read:
            preview.error = "E100 is empty; expected one JSON object per line"
    except StopReading:
        pass
    except UnreadableFile as error:
        preview.error = f"{error.code} {error}"
    _check_records(preview, records, whole, renumber)
    turns = _show_turns(preview, records)
    preview.unknown_keys = sorted({key for turn in turns for key in turn.extra or ()})[:30]
    preview.labels = sum((turn.extra or {}).get("label") in ON_BRAND.values for turn in turns)
    if records and not turns and not preview.error and not preview.annotation_file:
        preview.error = "E100 No conversations found. Is this the right file?"
    return preview


def _show_turns(preview: ImportPreview, records: list[TurnRecord | LineError]) -> list[TurnRecord]:
    """The turns among the records, of which the preview shows the first and counts the labels."""
    turns = [record for record in records if isinstance(record, TurnRecord)]
    preview.turns = turns[:MAX_TURNS_SHOWN]
    for turn in turns:
        labels = (turn.metadata or {}).get("labels")
        preview.tally.add(labels if type(labels) is list else [])
    return turns


def _parse_line(
    preview: ImportPreview, item: tuple[int, bytes] | LineError, name: str
) -> Sequence[TurnRecord | LineError]:
    if isinstance(item, LineError):
        return [item]
    number, raw = item
    if number == 1 and preview.format == "turns":
        preview.annotation_file = _is_annotation(raw)
    if preview.format not in CHAT_FORMATS:
        return [parse_turn(number, raw)]
    found = parse_chat(number, raw, CHAT_FORMATS[preview.format], f"{data_stem(name)}-{number:06d}")
    return [found] if isinstance(found, LineError) else found


def _check_records(
    preview: ImportPreview, records: list[TurnRecord | LineError], whole: bool, renumber: bool
) -> None:
    """Add the problems an import would refuse; skips the last session if the file continues it."""
    last = None if whole or not records else records[-1].session_id
    place = {record.session_id: number for number, record in reversed(list(enumerate(records)))}
    ordered = sorted(
        (record for record in records if isinstance(record, LineError) or record.session_id != last),
        key=lambda record: (place[record.session_id], getattr(record, "turn_index", 0), record.line),
    )
    checks = (*INTEGRITY_CHECKS, *PERSONAL_DATA_CHECKS)
    personal = {check.code for check in PERSONAL_DATA_CHECKS}
    for finding in run_checks(renumber_turns(ordered) if renumber else ordered, checks):
        if finding.code in personal:
            preview.personal_data += 1
        elif len(preview.problems) < MAX_PROBLEMS_SHOWN:
            preview.problems.append(finding)


def _is_annotation(raw: bytes) -> bool:
    try:
        value = decode_object(raw)
    except InvalidRecord:
        return False
    return "label" in value and "text" in value and "role" not in value
