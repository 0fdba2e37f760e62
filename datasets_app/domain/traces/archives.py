"""Archives of exports: every file in them that holds conversations, in order, with one report."""

import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from math import inf
from pathlib import Path, PurePosixPath
from typing import IO, Any

import msgspec

from datasets_app.domain.conversations.lines import UTF8_BOM, Limits, OnBytes, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.containers import ARCHIVE_ERRORS, ZIP, read_chosen_lines
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.documents import read_whole_documents
from datasets_app.domain.traces.formats.messengers import CHANNEL, USERS
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.sides import UnknownSender
from datasets_app.domain.traces.turns import make_session_id
from datasets_app.domain.traces.values import as_dict, as_list, as_name

# Of these, archives and what is packed in another way are errors.
_DATA = re.compile(
    r"\.(jsonl?|ndjson|txt|csv|tsv|xlsx|parquet|arrow|eval|gz|zip|tar|tgz|7z|rar|bz2|xz|zst)$", re.IGNORECASE
)
# Folders, and what operating systems and editors leave behind.
_JUNK = re.compile(r"(^|/)(__MACOSX/|\._|\.DS_Store$|~\$)|/$")
_HIDDEN = re.compile(r"(^|/)\.(?!\.?/)")  # "./chats.json" is not
# What exports put beside their conversations.
_BESIDE = re.compile(
    r"(^|/)((users?|account|channels|groups|dms|mpims|integration_logs|canvases|lists|huddle_transcripts|projects|memories"
    r"|message_feedback|model_comparisons|shared_conversations|user_settings|group_chats|shopping|sora|dataset_infos?"
    r"|dataset_dict|state|manifest|metadata|package|config|autofill_information|stickers_used)\.json"
    r"|(readme|licen[cs]e)[^/]*\.(txt|md)?)$",
    re.IGNORECASE,
)
# Facebook and Instagram write ten thousand messages of a conversation into a file.
_FACEBOOK_PART = re.compile(r"((?:[^/]+/)*?[^/]+)/message_\d+\.json")
_SLACK_DAY = re.compile(r"((?:[^/]+/)*?[^/]+)/\d{4}-\d{2}-\d{2}\.json")
_MAX_MEMBERS = 200_000
_MAX_EMPTY_BYTES = 1000

# Opens an unpacked file of any format, by its path, limits, name and options.
OpenFile = Callable[[Path, Limits, str, ConvertOptions], ConversationFile]


class ArchiveConversion:
    """As :class:`~.convert.Conversion`, over the files of a zip or tar archive. ``open_file`` opens one
    that is unpacked."""

    format = "archive"

    def __init__(self, path: Path, open_file: OpenFile, limits: Limits, options: ConvertOptions) -> None:
        self.path, self.limits, self.options = path, limits, options
        self._open = open_file
        self.report = Report(format="Archive", place="record")
        self._used: set[int] = set()
        self._copies: set[int] = set()
        # The number of the last turn of each session, and whether the turns of one are in several files.
        self._ends: dict[int, int] = {}
        self.is_cut = False
        # Lines of which nothing was read: of the file that is read, and (name, members, lines) of others.
        self._unread_numbers: set[int] = set()
        self._unread: list[tuple[str, list[zipfile.ZipInfo], set[int]]] = []
        self._missing: UnknownSender | None = None
        self._matched = False

    def conversations(self, on_bytes: OnBytes | None = None) -> Iterator[list[TurnRecord]]:
        done = 0
        try:
            with _open_zip(self.path, self.limits) as archive:
                for name, members in self._list_files(archive):
                    self.limits.on_step()
                    with tempfile.TemporaryDirectory(prefix="alignmenter-archive-") as folder:
                        file = self._unpack(archive, members, name, Path(folder))
                        yield from self._read_file(file, name)
                    if self._unread_numbers:
                        self._unread.append((name, members, self._unread_numbers))
                        self._unread_numbers = set()
                    done += sum(member.compress_size for member in members)
                    if on_bytes:
                        on_bytes(done)
        except ARCHIVE_ERRORS as error:
            raise UnreadableFile("the archive is damaged or encrypted; unpack it first") from error
        if self._missing and not self._matched:
            raise self._missing
        if not self.report.records:
            raise UnreadableFile("is an archive without a file of conversations; unpack it first")

    def read_unread_lines(self) -> Iterator[bytes]:
        """As those of a file."""
        with _open_zip(self.path, self.limits) as archive:
            for name, members, numbers in self._unread:
                with tempfile.TemporaryDirectory(prefix="alignmenter-archive-") as folder:
                    path = self._unpack(archive, members, name, Path(folder))
                    yield from read_chosen_lines(path, self.limits, numbers)

    def _list_files(self, archive: zipfile.ZipFile) -> Iterator[tuple[str, list[zipfile.ZipInfo]]]:
        """(name, members) of each file, in the order of their numbers; the days of one of Slack's channels
        are one."""
        members = [member for member in archive.infolist() if not _JUNK.search(member.filename)]
        if len(members) > _MAX_MEMBERS:
            raise UnreadableFile(f"holds more than {_MAX_MEMBERS:,} files; unpack it first")
        if sum(member.file_size for member in members) > self.limits.unpacked_bytes:
            raise UnreadableFile("is too large unpacked; split it")
        members.sort(key=lambda member: _order(member.filename))
        days = (
            member for member in members if _SLACK_DAY.fullmatch(member.filename) and member.file_size > 2
        )
        is_slack = any(PurePosixPath(member.filename).name == "users.json" for member in members)
        is_slack = is_slack or (first := next(days, None)) is not None and _is_slack_day(archive, first)
        for (name, is_data), group in groupby(
            members, key=lambda member: _name_group(member.filename, is_slack)
        ):
            found = list(group)
            if name == found[0].filename and len(found) > 1:  # written twice under one name
                yield from ((name, [member]) for member in found)
            elif is_data or ("." not in PurePosixPath(name).name and _is_json(archive, found[0])):
                yield name, found
            else:
                self.report.left_out[reasons.OTHER_MEMBERS].add(
                    kind=PurePosixPath(name).suffix or "without an ending"
                )

    def _unpack(
        self, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], name: str, folder: Path
    ) -> Path:
        """A file of the archive as one on disk; a channel of Slack as the lines of its messages."""
        path = folder / f"member{PurePosixPath(name).suffix}"
        if len(members) == 1 and not _SLACK_DAY.fullmatch(members[0].filename):
            with archive.open(members[0]) as source, path.open("wb") as target:
                _copy(source, target, self.limits)
            return path
        if _FACEBOOK_PART.fullmatch(members[0].filename):
            path.write_bytes(msgspec.json.encode(self._join_parts(archive, members)))
            return path
        users = self._read_users(archive)
        channel = PurePosixPath(name).name
        with path.open("wb") as target:
            for member in members:
                for message in self._read_list(archive, member):
                    added = {**as_dict(message), CHANNEL: channel, USERS: users}
                    users = {}
                    target.write(msgspec.json.encode(added) + b"\n")
        return path

    def _join_parts(self, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> dict[str, Any]:
        """The parts of a conversation as one; all have what the first has beside its messages."""
        parts = [as_dict(item) for member in members for item in self._read_list(archive, member)]
        messages = [message for part in parts for message in as_list(part.get("messages"))]
        return {**parts[0], "messages": messages} if parts else {}

    def _read_users(self, archive: zipfile.ZipFile) -> dict[str, str]:
        found = {}
        for member in archive.infolist():
            if PurePosixPath(member.filename).name == "users.json":
                for user in map(as_dict, self._read_list(archive, member)):
                    profile = as_dict(user.get("profile"))
                    name = profile.get("real_name") or user.get("real_name") or user.get("name")
                    found[as_name(user.get("id"))] = as_name(name)
        return found

    def _read_list(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[Any]:
        """The elements of a JSON array."""
        remarks = self.report.remarks
        with archive.open(member) as stream:
            for item in read_whole_documents(stream, self.limits, note=lambda what, _: remarks[what].add()):
                if isinstance(item, LineError):
                    raise UnreadableFile(f"{member.filename}: {item.message}")
                yield item.value

    def _read_file(self, path: Path, name: str) -> Iterator[list[TurnRecord]]:
        if path.stat().st_size < _MAX_EMPTY_BYTES and path.read_bytes().strip() in (b"", b"[]", b"{}"):
            self.report.left_out[reasons.EMPTY_MEMBERS].add()
            return
        try:
            file = self._open(path, self.limits, PurePosixPath(name).name, self.options)
            yield from self._read_turns(file, name)
        except UnreadableFile as error:
            if isinstance(error, UnknownSender):
                self._missing = self._missing or error
            self._add_problem(LineError(0, "E100", f"{name}: {error}"))

    def _read_turns(self, file: ConversationFile, name: str) -> Iterator[list[TurnRecord]]:
        problems: list[LineError] = []
        names: dict[str | None, str] = {}
        for session, group in groupby(file.turns(), key=lambda turn: turn.session_id):
            found = list(group)
            problems += (problem for problem in found if isinstance(problem, LineError))
            turns = [turn for turn in found if isinstance(turn, TurnRecord)]
            if session is None or not turns:
                continue
            key = hash((session, *((turn.role, turn.text) for turn in turns)))
            if key in self._copies:
                self.report.left_out[reasons.SECOND_COPY].add()
                continue
            self._copies.add(key)
            # Parts of an export may cut a session: the numbers of its turns go on in the next part.
            is_continued = file.format == "turns" and turns[0].turn_index > self._ends.get(hash(session), inf)
            self.is_cut = self.is_cut or is_continued
            unique = session if is_continued else make_session_id(session, session, self._used)
            names[session] = unique
            self._ends[hash(unique)] = turns[-1].turn_index
            if unique != session:
                self.report.remarks[reasons.RENAMED].add()
            self.report.conversations += not is_continued
            self.report.turns += len(turns)
            yield [turn._replace(session_id=unique) for turn in turns]
        # Problems of what is converted have the line of a conversation, which was read.
        read = names if isinstance(getattr(file, "report", None), Report) else {}
        self._unread_numbers = {problem.line for problem in problems if problem.session_id not in read}
        for problem in problems:  # of a session that another file has too, the problem is of this one
            message, own = f"{name}: {problem.message}", names.get(problem.session_id)
            self._add_problem(problem._replace(message=message, session_id=own))
        self._matched = True
        self._merge(file)

    def _merge(self, file: ConversationFile) -> None:
        """What the report of one file adds to that of the archive."""
        report, part = self.report, getattr(file, "report", None)
        if part is None:
            report.records += file.scan().lines
            return
        if part.format not in report.format:
            report.format += f"{', ' if ':' in report.format else ': '}{part.format}"
        for count in ("records", "calls", "traces", "unanswered", "labels"):
            setattr(report, count, getattr(report, count) + getattr(part, count))
        for mine, other in ((report.left_out, part.left_out), (report.remarks, part.remarks)):
            for reason, note in other.items():
                mine[reason].total += note.total
                mine[reason].kinds += note.kinds
        report.speakers += part.speakers
        report.mapping, report.columns = report.mapping or part.mapping, report.columns or part.columns
        report.lacks_sessions |= part.lacks_sessions
        report.guessed_roles += part.guessed_roles

    def _add_problem(self, problem: LineError) -> None:
        self.report.records += 1
        self.report.add_problem(problem)


@contextmanager
def _open_zip(path: Path, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """A zip archive, or a tar archive in the form of one."""
    with path.open("rb") as file, tempfile.TemporaryFile(prefix="alignmenter-archive-") as copy:
        is_zip = file.read(len(ZIP)) == ZIP
        if not is_zip:
            _pack_again(path, copy, limits)
        with zipfile.ZipFile(file if is_zip else copy) as archive:
            for member in archive.infolist():  # as some programs of Windows write them
                member.filename = member.filename.replace("\\", "/")
            yield archive


def _pack_again(path: Path, copy: IO[bytes], limits: Limits) -> None:
    left = limits.unpacked_bytes
    with tarfile.open(path) as archive, zipfile.ZipFile(copy, "w") as packed:
        for number, member in enumerate(archive):
            left -= member.size
            if left < 0 or number > _MAX_MEMBERS:
                raise UnreadableFile("is too large unpacked; split it")
            source = archive.extractfile(member) if member.isfile() else None
            if source is not None:
                with packed.open(member.name, "w", force_zip64=True) as target:
                    _copy(source, target, limits)
        archive.fileobj.seek(archive.offset)  # the library takes any end for the end
        if not archive.fileobj.read(512) == bytes(512):
            raise UnreadableFile("the tar archive is cut off or damaged; transfer it again")


def _copy(source: IO[bytes], target: IO[bytes], limits: Limits) -> None:
    while block := source.read(1 << 20):
        limits.on_step()
        target.write(block)


def _order(name: str) -> list[tuple[int, str]]:
    """conversations-2.json before conversations-10.json; the files of a folder together."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _is_json(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    with archive.open(member) as file:
        return file.read(256).removeprefix(UTF8_BOM).lstrip()[:1] in (b"{", b"[")


def _is_slack_day(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    with archive.open(member) as file:
        head = file.read(4096)
    return b'"ts"' in head and b'"type"' in head


def _name_group(name: str, is_slack: bool) -> tuple[str, bool]:
    if is_slack and (day := _SLACK_DAY.fullmatch(name)):
        return day[1], True
    if part := _FACEBOOK_PART.fullmatch(name):
        return part[1], True
    return name, bool(_DATA.search(name)) and not _BESIDE.search(name) and not _HIDDEN.search(name)
