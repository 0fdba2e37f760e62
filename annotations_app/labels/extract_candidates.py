"""A conversation file → its replies as lines to label. No database."""

import gzip
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

from annotations_app.domain.candidates import (
    CandidateReply,
    LabeledReplies,
    RepeatedReplies,
    encode_candidate,
    find_candidates,
    sample_candidates,
)
from datasets_app.core.errors import UserError
from datasets_app.core.line_problems import LineProblems
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, find_session_id
from datasets_app.domain.conversations.lines import Limits, UnreadableFile, read_lines
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.metadata.metadata import (
    MetadataError,
    get_stated_split,
    metadata_path,
    read_metadata,
)
from datasets_app.domain.quality.e202_repeated_turns import refuse_repeated

# The split that is held back: see split_dataset.
LOCKED_SPLIT = "test"


class CandidateOptions(NamedTuple):
    """Which replies: with a ``tag``; at most ``most`` of them (0: all), drawn by ``seed``, spread over
    sessions. They are labeled for ``persona``, or for the one each names. Each comes with
    ``context`` turns."""

    persona: str = ""
    tag: str = ""
    most: int = 0
    seed: int = 42
    context: int = 0


class ExtractionResult(NamedTuple):
    """The numbers of lines written, of their sessions, and of the lines whose text an earlier session has."""

    replies: int
    sessions: int
    repeated: int


def extract_candidates(
    file: ConversationFile,
    out: IO[bytes],
    options: CandidateOptions,
    *,
    labeled: LabeledReplies | None = None,
    compress: bool = False,
    report_progress: ProgressCallback = ignore_progress,
) -> ExtractionResult:
    """Write the selected replies of ``file`` to ``out`` (gzipped if ``compress``), in file order.

    Nothing reaches ``out`` before all lines exist. Raises UserError with the lines that aren't turns.
    """
    problems = LineProblems("nothing was written")
    with tempfile.TemporaryFile(prefix="alignmenter-candidates-") as spool:
        try:
            lines = file.turns(lambda done: report_progress(done, file.bytes_total))
            turns = problems.skip(file.name, refuse_repeated(lines))
            found = find_candidates(turns, tag=options.tag, labeled=labeled, context=options.context)
            written = _write_candidates(
                sample_candidates(found, options.most, options.seed) if options.most else found,
                spool,
                options,
            )
        except UnreadableFile as error:
            raise UserError(f"{file.name} {error}. Nothing was written.") from None
        problems.raise_if_any(file.name)
        if not written.replies:
            raise UserError(_no_candidates_message(options, labeled))
        spool.seek(0)
        if compress:
            # No name and no time in the header: the same lines give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as target:
                shutil.copyfileobj(spool, target)
        else:
            shutil.copyfileobj(spool, out)
    return written


def refuse_test_split(data: Path, *, override: str = "") -> None:
    """Refuse a file whose metadata marks it as the locked test split, since calibration must not use
    evaluation data. ``override`` is a reason to allow it."""
    path = metadata_path(data)
    try:
        stated = read_metadata(path)
    except MetadataError:
        return  # unreadable metadata marks no split, and nothing else is needed from it
    if stated is None or override.strip():
        return
    if get_stated_split(stated) == LOCKED_SPLIT:
        raise UserError(
            f"{path.name} says that this is the test split, which is locked: what is calibrated on it can't "
            "be tried on it. Nothing was written. Who must may give a reason (--override)."
        )


def read_labeled_replies(path: Path, limits: Limits, *, persona: str = "", name: str = "") -> LabeledReplies:
    """The replies that a file has labels for (of ``persona``, if given): annotation lines, or those of
    Alignmenter's own tool. A null label means not labeled yet. Raises UserError with the invalid lines."""
    name = name or path.name
    labeled, problems = LabeledReplies(), LineProblems("nothing was written")
    try:
        for line in problems.skip(name, map(_parse_label_line, read_lines(path, limits))):
            if line.get("label") is not None and (not persona or line.get("persona_id") == persona):
                labeled.add(line["text"], line.get("session_id"), line.get("turn_index"))
    except UnreadableFile as error:
        raise UserError(f"{name} {error}. Nothing was written.") from None
    problems.raise_if_any(name)
    return labeled


def _parse_label_line(item: tuple[int, bytes] | LineError) -> dict[str, Any] | LineError:
    if isinstance(item, LineError):
        return item
    number, raw = item
    try:
        value = decode_object(raw)
    except InvalidRecord as error:
        return error.to_line_error(number, find_session_id(raw))
    if type(value.get("text")) is not str:
        return LineError(number, "E102", "text must be a string", field="text")
    return value


def _write_candidates(
    candidates: Iterable[CandidateReply], spool: IO[bytes], options: CandidateOptions
) -> ExtractionResult:
    count = sessions = 0
    last: str | None = None
    repeated = RepeatedReplies()
    for reply in repeated.watch(candidates):
        persona = options.persona or reply.turn.persona_id
        if not persona:
            raise UserError(
                f"Line {reply.turn.line} names no persona; name the persona to label the replies for with "
                "--persona ID. Nothing was written."
            )
        spool.write(encode_candidate(reply, persona, with_context=options.context > 0))
        count += 1
        sessions += reply.turn.session_id != last
        last = reply.turn.session_id
    return ExtractionResult(count, sessions, repeated.total)


def _no_candidates_message(options: CandidateOptions, labeled: LabeledReplies | None) -> str:
    tagged = f" with the tag {options.tag!r}" if options.tag else ""
    unlabeled = " that is not labeled yet" if labeled is not None else ""
    return f"There is no assistant's turn with a text{tagged}{unlabeled}. Nothing was written."
