"""A conversation file → its replies as lines to be labelled. No database."""

import gzip
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from annotations_app.domain.candidates import Labelled, Reply, encode_candidate, replies, sample
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.conversations.jsonl import NotARecord, decode_object, session_of
from datasets_app.domain.conversations.lines import (
    Limits,
    UnreadableFile,
    numbered_lines,
    open_file,
    unpacked,
)
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.metadata.metadata import MetadataError, metadata_path, read_metadata, stated_split

PROBLEMS_LISTED = 100
# Under this name sessions are kept back: see split_dataset.
LOCKED_SPLIT = "test"

Record = TypeVar("Record", TurnRecord, "_LabelLine")


class Choice(NamedTuple):
    """Which replies: with a ``tag``; at most ``most`` of them (0: all), drawn by ``seed``, spread over
    sessions. They are labelled for ``persona``, or else for the one that each names. With each so many
    turns ``context``."""

    persona: str = ""
    tag: str = ""
    most: int = 0
    seed: int = 42
    context: int = 0


class Extracted(NamedTuple):
    """How many lines were written, and of how many sessions."""

    replies: int
    sessions: int


def extract_candidates(
    file: ConversationFile,
    out: IO[bytes],
    choice: Choice,
    *,
    labelled: Labelled | None = None,
    packed: bool = False,
    report_progress: ProgressCallback = ignore,
) -> Extracted:
    """Write the chosen replies of ``file`` to ``out`` (gzipped if ``packed``), in the order they stand in.

    Nothing reaches ``out`` before all lines are made. Raises Refused, with the lines that are no turns.
    """
    problems = _Problems(file.name)
    with tempfile.TemporaryFile(prefix="alignmenter-candidates-") as spool:
        try:
            turns = problems.without(file.turns(lambda done: report_progress(done, file.bytes_total)))
            found = replies(turns, tag=choice.tag, labelled=labelled, context=choice.context)
            written = _write(sample(found, choice.most, choice.seed) if choice.most else found, spool, choice)
        except UnreadableFile as error:
            raise Refused(f"{file.name} {error}. Nothing was written.") from None
        problems.refuse()
        if not written.replies:
            raise Refused(_nothing(choice, labelled))
        spool.seek(0)
        if packed:
            # No name and no time in the header: the same lines give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as target:
                shutil.copyfileobj(spool, target)
        else:
            shutil.copyfileobj(spool, out)
    return written


def refuse_test_split(data: Path, *, override: str = "") -> None:
    """Refuse a file whose metadata says that it is the locked test split: what is calibrated must not learn
    from what it is tried on. ``override`` is a reason why it may all the same."""
    path = metadata_path(data)
    try:
        stated = read_metadata(path)
    except MetadataError:
        return  # it says nothing that can be understood, and nothing here depends on the rest
    if stated is None or override.strip():
        return
    if stated_split(stated) == LOCKED_SPLIT:
        raise Refused(
            f"{path.name} says that this is the test split, which is locked: what is calibrated on it can't "
            "be tried on it. Nothing was written. Who must may give a reason (--override)."
        )


def read_labelled(path: Path, limits: Limits, *, persona: str = "", name: str = "") -> Labelled:
    """What a file has labels for (of ``persona``, if given): annotation lines, or those of Alignmenter's own
    tool. A line whose label is null is not labelled yet. Raises Refused, with the lines that are wrong."""
    labelled, problems = Labelled(), _Problems(name or path.name)
    try:
        with open_file(path) as raw:
            for item in problems.without(map(_label_at, numbered_lines(unpacked(raw), limits))):
                if item.is_label and (not persona or item.persona_id == persona):
                    labelled.add(item.text, item.session_id, item.turn_index)
    except UnreadableFile as error:
        raise Refused(f"{problems.name} {error}. Nothing was written.") from None
    problems.refuse()
    return labelled


class _LabelLine(NamedTuple):
    """What is asked of a line: which reply it is about, and whether it says anything of it."""

    text: str
    session_id: str | None
    turn_index: int | None
    persona_id: str | None
    is_label: bool


def _label_at(item: tuple[int, bytes] | LineError) -> _LabelLine | LineError:
    if isinstance(item, LineError):
        return item
    number, raw = item
    try:
        value = decode_object(raw)
    except NotARecord as error:
        return error.at(number, session_of(raw))
    text, session, index = value.get("text"), value.get("session_id"), value.get("turn_index")
    if type(text) is not str:
        return LineError(number, "E102", "text must be a string", field="text")
    placed = type(session) is str and type(index) is int
    return _LabelLine(
        text,
        session if placed else None,
        index if placed else None,
        value.get("persona_id"),
        value.get("label") is not None,
    )


def _write(chosen: Iterable[Reply], spool: IO[bytes], choice: Choice) -> Extracted:
    count = sessions = 0
    last: str | None = None
    for reply in chosen:
        persona = choice.persona or reply.turn.persona_id
        if not persona:
            raise Refused(
                f"Line {reply.turn.line} names no persona; say with --persona ID for which one the replies "
                "are to be labelled. Nothing was written."
            )
        spool.write(encode_candidate(reply, persona, with_context=choice.context > 0))
        count += 1
        sessions += reply.turn.session_id != last
        last = reply.turn.session_id
    return Extracted(count, sessions)


def _nothing(choice: Choice, labelled: Labelled | None) -> str:
    tagged = f" with the tag {choice.tag!r}" if choice.tag else ""
    unlabelled = " that is not labelled yet" if labelled is not None else ""
    return f"There is no assistant's turn with a text{tagged}{unlabelled}. Nothing was written."


class _Problems:
    """Sets lines that are wrong aside, and refuses the file for them in the end."""

    def __init__(self, name: str) -> None:
        self.name, self.total = name, 0
        self.listed: list[dict[str, Any]] = []

    def without(self, lines: Iterable[Record | LineError]) -> Iterator[Record]:
        for line in lines:
            if not isinstance(line, LineError):
                if not self.total:
                    yield line
                continue
            self.total += 1
            if self.total <= PROBLEMS_LISTED:
                self.listed.append({"file": self.name, **line._asdict()})

    def refuse(self) -> None:
        if self.total:
            lines = "1 line is" if self.total == 1 else f"{self.total:,} lines are"
            raise Refused(
                f"{self.name}: {lines} wrong; nothing was written.",
                {"problems": self.listed, "problem_total": self.total},
            )
