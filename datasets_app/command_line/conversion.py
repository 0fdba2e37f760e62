"""``convert_dataset`` and ``alignmenter-datasets convert``: a file of any format into another one."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO

from datasets_app.command_line.options import option
from datasets_app.command_line.remedies import SESSIONS_REMEDY, append_remedy
from datasets_app.command_line.streams import CommandFailure, Progress, provide_local_file, show_name
from datasets_app.domain.conversations.lines import DEFAULT_LIMITS, Limits, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.quality.e202_repeated_turns import refuse_repeated
from datasets_app.domain.traces.convert import ConvertOptions, check_columns
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import (
    describe_report,
    explain_missing_sessions,
    list_left_out_with_lines,
    list_warnings,
)
from datasets_app.domain.traces.reasons import UNKNOWN_ROLES, UNNUMBERED, UNREADABLE_FORM
from datasets_app.domain.traces.report import Note, Report
from datasets_app.domain.traces.sides import UnknownSender
from datasets_app.domain.traces.table_columns import parse_columns
from datasets_app.domain.traces.targets import Conversations, Encoder

MAX_SENDERS_LISTED = 50
ORIGIN_HELP = "of a new dataset, which decides on its rules; if nothing states it, external is assumed"
# At every door but the page, which asks.
ASSUMED_ORIGIN = (
    "Nothing stated the origin, so external is assumed: names and other judged findings don't close the "
    "gate. For conversations of your own users, state production; a privacy officer can still change it."
)
MAX_PROBLEMS_KEPT = 100


READING_OPTIONS = (
    option(
        "--assistant NAME",
        "who is the assistant in a messenger's export or a table; default: all but the first sender",
        default="",
    ),
    option(
        "--map FIELD=COLUMN",
        "a table's column for session_id, turn_index, role, text, timestamp or tags; repeatable. "
        "Of rows with a question and several answers: question and answer. tags= uses none. "
        "Without a session column: session_id=one-conversation or each-row. For dates like "
        "03/04/2026: dates=day-first or month-first, in every format. What a sender or a role is: "
        "'sender:NAME=user', =assistant or =leave-out. repeated=drop leaves out exact repetitions of a "
        "message. What lines of a CSV that aren't UTF-8 are in: encoding=windows-1252",
        repeatable=True,
        dest="mapping",
    ),
)


def read_mapping(items: Sequence[str], file_name: str = "") -> dict[str, str]:
    """The columns of --mapping FILE, with those of --map in their place. Raises CommandFailure."""
    try:
        chosen = json.loads(Path(file_name).read_text(encoding="utf-8")) if file_name else {}
        check_columns(chosen)
        return {**chosen, **parse_columns(items)}
    except OSError as error:
        raise CommandFailure(f"{file_name} can't be read: {error.strerror}.") from None
    except ValueError:
        raise CommandFailure(f"--mapping: {file_name} is not JSON.") from None
    except UnreadableFile as error:
        raise CommandFailure(f"--map, --mapping: {error}.") from None


@contextmanager
def open_conversations(
    file_name: str, *, format: str = "auto", reading: ConvertOptions = ConvertOptions(),  # noqa: B008
    limits: Limits = DEFAULT_LIMITS, tell: Callable[[str], object] | None = None,
) -> Iterator[ConversationFile]:  # fmt: skip
    """The conversations of a file of any format, or of standard input for ``-``. ``tell`` is called with
    what a conversion has made and left out. Raises CommandFailure."""
    with _open_file(file_name, format, reading, limits) as file:
        file.scan()
        if isinstance(file, ConvertedFile):
            for line in describe_conversion(show_name(file_name), file.report) if tell else ():
                tell(line)  # type: ignore[misc]  # there are no lines without it
            if reason := explain_missing_sessions(file.report):
                raise CommandFailure(f"{show_name(file_name)}: {reason}")
        yield file


def convert_file(
    file_name: str,
    out: AbstractContextManager[IO[bytes]],
    encode: Encoder,
    *,
    format: str,
    reading: ConvertOptions,
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """Raises CommandFailure, before anything is written for a table that doesn't say which rows are one
    conversation."""
    with _open_file(file_name, format, reading, limits) as file, out as target:
        return _write_conversations(file, encode, target)


@contextmanager
def _open_file(
    file_name: str, format: str, reading: ConvertOptions, limits: Limits
) -> Iterator[ConversationFile]:
    shown = show_name(file_name)
    with provide_local_file(file_name) as path:
        try:
            yield open_conversation_file(
                path, format=format, limits=limits, name=Path(shown).name, options=reading
            )
        except UnreadableFile as error:
            raise CommandFailure(_describe_unreadable(shown, error)) from None


def _write_conversations(file: ConversationFile, encode: Encoder, out: IO[bytes]) -> Report:
    report = Report(format=file.format)
    with Progress("Converting") as progress:
        file.scan(lambda done: progress(done, file.bytes_total))
        if isinstance(file, ConvertedFile):
            report = file.report
            if reason := explain_missing_sessions(report):
                raise CommandFailure(f"{file.name}: {reason}{SESSIONS_REMEDY}")
        for block in encode(_group(file, report)):
            out.write(block)
    return report


def is_complete(report: Report) -> bool:
    """Whether all of the file was read, and there was something to read: exit code 0."""
    return bool(report.conversations) and not report.problem_total


def list_problems(name: str, report: Report) -> list[str]:
    """In the format of linters, and how many more there are."""
    listed = [
        f"{name}{f':{problem.line}' * bool(problem.line)}: "
        f"{problem.code} {append_remedy(problem.code, problem.message)}"
        for problem in report.problems[:MAX_PROBLEMS_KEPT]
    ]
    more = report.problem_total - len(listed)
    return [*listed, f"… and {more:,} more."] if more > 0 else listed


def describe_conversion(name: str, report: Report, *, with_roles: bool = True) -> list[str]:
    """What became of a file, line by line, for the person who reads it; ``with_roles`` also those that nobody
    knows, which may be people."""
    lines = [f"{name}: {describe_report(report)}"]
    lines += [f"  left out: {described}" for described in list_left_out_with_lines(report)]
    if with_roles and (unknown := report.left_out.get(UNKNOWN_ROLES)):
        say = "Say what each is: --map 'sender:ROLE=user'"
        lines.append(f"  unknown roles: {_list_kinds(unknown)}. {say}")
    if (unread := report.left_out.get(UNREADABLE_FORM)) and unread.kinds:
        lines.append(f"  forms of texts that aren't known: {_list_kinds(unread)}")
    return lines + [f"  warning: {warning}" for warning in list_warnings(report)]


def _list_kinds(note: Note) -> str:
    listed = [f"{kind} {count:,}" for kind, count in note.kinds.most_common(MAX_SENDERS_LISTED)]
    more = len(note.kinds) - len(listed)
    return ", ".join([*listed, f"{more:,} more"] if more > 0 else listed)


def _describe_unreadable(name: str, error: UnreadableFile) -> str:
    """With the senders there are, if nobody has the name that was given for the assistant."""
    senders = error.senders[:MAX_SENDERS_LISTED] if isinstance(error, UnknownSender) else []
    listed = f": {', '.join(senders)}" if senders else ""
    return f"{name}: {error}{listed}."


def _group(file: ConversationFile, report: Report) -> Conversations:
    """Conversations one at a time; problems of a file that needs no conversion are counted here."""
    converted = isinstance(file, ConvertedFile)
    counted = set(report.problems) if converted else ()
    for _, group in groupby(refuse_repeated(file.turns()), key=lambda turn: turn.session_id):
        turns = []
        for turn in group:
            if isinstance(turn, TurnRecord):
                turns.append(turn)
            elif turn not in counted:
                _add_problem(report, turn)
        if turns and not converted:
            report.conversations += 1
            report.turns += len(turns)
        if [turn.turn_index for turn in turns] != list(range(1, len(turns) + 1)):
            report.remarks[UNNUMBERED].add(turns[0].line)
        if turns:
            yield turns


def _add_problem(report: Report, problem: LineError) -> None:
    report.problem_total += 1
    if len(report.problems) < MAX_PROBLEMS_KEPT:
        report.problems.append(problem)
