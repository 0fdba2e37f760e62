"""``sanitize`` and ``convert``: files on this machine, by the application's code, without a server."""

import argparse
import os
import secrets
import sys
from pathlib import Path

from datasets_app.command_line.conversion import (
    READING_OPTIONS,
    MissingSessions,
    describe_conversion,
    describe_unreadable,
    is_complete,
    list_problems,
    read_mapping,
    write_conversations,
)
from datasets_app.command_line.options import add_options
from datasets_app.command_line.remedies import SESSIONS_REMEDY
from datasets_app.command_line.streams import (
    EXIT_FINDINGS,
    CommandFailure,
    Progress,
    escape_terminal,
    provide_local_file,
)
from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError
from datasets_app.core.process_pool import available_cpus
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.pii.batches import ScrubSetup
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.policy import PLACEHOLDER_STYLES, Policy, PolicyError
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import explain_missing_sessions
from datasets_app.domain.traces.targets import TARGETS
from datasets_app.domain.wording import format_count
from datasets_app.scrubbing.sanitize_file import SanitizeResult, sanitize_file

KEY_VARIABLE = "ALIGNMENTER_HASH_KEY"
MIN_KEY_CHARACTERS = 32
SMALL_FILE_BYTES = 1 << 20


def add_sanitize(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="conversations in any format of docs/formats.md; - for standard input"
    )
    _add_reading_options(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="is written only if all is verified"
    )
    parser.add_argument("--placeholders", choices=PLACEHOLDER_STYLES, default="plain")
    parser.add_argument(
        "--classes", nargs="+", choices=KINDS, default=KINDS, metavar="CLASS", help="default: all"
    )
    parser.add_argument(
        "--allow", action="append", default=[], metavar="TERM", help="a value to keep; repeatable"
    )
    parser.add_argument(
        "--hash-session-ids", action="store_true", help=f"by HMAC-SHA-256 under {KEY_VARIABLE}"
    )
    parser.add_argument("--fuzz-timestamps", type=int, default=0, metavar="SECONDS")
    parser.add_argument("--drop-timestamps", action="store_true")
    parser.add_argument("--processes", type=int, metavar="N", help="default: one for each core")
    parser.set_defaults(handler=_sanitize)


def _sanitize(options: argparse.Namespace) -> int:
    out: Path = options.out
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise CommandFailure(f"{out} can't be written: name a file in a folder that exists")
    try:
        policy = Policy(
            kinds=tuple(options.classes),
            placeholders=options.placeholders,
            allow=tuple(options.allow),
            hash_session_ids=options.hash_session_ids,
            fuzz_seconds=options.fuzz_timestamps,
            drop_timestamps=options.drop_timestamps,
        )
    except PolicyError as error:
        raise CommandFailure(str(error)) from None
    setup = ScrubSetup(policy, _read_key(required=options.hash_session_ids))
    try:
        with provide_local_file(options.file) as path:
            if out.exists() and out.samefile(path):
                raise CommandFailure(f"{out} is the input, which is never overwritten")
            result = _write_sanitized(path, out, setup, options)
    except _Unverified as failure:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(failure.remaining.items()))
        print(f"Verification found remaining values ({kinds}); nothing was written.")
        return EXIT_FINDINGS
    except UserError as error:
        print(escape_terminal(error.message))
        return EXIT_FINDINGS
    except UnreadableFile as error:
        raise CommandFailure(f"{options.file} {error}") from None
    replaced, turns = format_count(result.total, "value"), format_count(result.turns, "turn")
    print(f"{replaced} replaced in {result.found_turns:,} of {turns}.")
    print(f"Verified: no pattern matches remain. sha256 {result.sha256}")
    return 0


class _Unverified(Exception):
    """Raised while the result is open, so that nothing of it is kept."""

    def __init__(self, remaining: dict[str, int]) -> None:
        super().__init__()
        self.remaining = remaining


def _write_sanitized(path: Path, out: Path, setup: ScrubSetup, options: argparse.Namespace) -> SanitizeResult:
    file = _open_scanned(path, options)
    processes = options.processes or (1 if path.stat().st_size < SMALL_FILE_BYTES else available_cpus())
    gzipped = out.name.lower().endswith(".gz")
    with Progress(f"Scrubbing {options.file}") as progress, write_atomically(out.resolve()) as target:
        result = sanitize_file(
            file, target, setup, gzipped=gzipped, processes=processes, report_progress=progress
        )
        if result.remaining:
            raise _Unverified(result.remaining)
    return result


def _open_scanned(path: Path, options: argparse.Namespace) -> ConversationFile:
    """The file, after what a conversion made of it and left out was printed."""
    reading = ConvertOptions(options.assistant, read_mapping(options.mapping, options.saved_mapping))
    name = Path(options.file).name
    file = open_conversation_file(path, format=options.format, name=name, options=reading)
    file.scan()
    if isinstance(file, ConvertedFile):
        for line in describe_conversion(options.file, file.report):
            print(escape_terminal(line), file=sys.stderr)
        if reason := explain_missing_sessions(file.report):
            raise CommandFailure(f"{options.file}: {reason}")
    return file


def _read_key(*, required: bool) -> bytes:
    key = os.environ.get(KEY_VARIABLE, "")
    if required and len(key) < MIN_KEY_CHARACTERS:
        raise CommandFailure(
            f"--hash-session-ids needs {KEY_VARIABLE}, of {MIN_KEY_CHARACTERS} characters or more"
        )
    return key.encode() or secrets.token_bytes(MIN_KEY_CHARACTERS)


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", default="auto", help="default: told by the content")
    add_options(parser, READING_OPTIONS)
    parser.add_argument(
        "--mapping", default="", metavar="FILE", dest="saved_mapping", help="columns from a JSON file"
    )


# --- convert -------------------------------------------------------------------------------------


def add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an export of another tool; - for standard input")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--to", choices=tuple(TARGETS), default="turns")
    _add_reading_options(parser)
    parser.add_argument(
        "--answered-only", action="store_true", help="leave out conversations without an answer"
    )
    parser.set_defaults(handler=_convert)


def _convert(options: argparse.Namespace) -> int:
    mapping = read_mapping(options.mapping, options.saved_mapping)
    reading = ConvertOptions(options.assistant, mapping, options.answered_only)
    with provide_local_file(options.file) as path:
        if options.out.exists() and options.out.samefile(path):
            raise CommandFailure(f"{options.out} is the input, which is never overwritten")
        try:
            file = open_conversation_file(
                path, format=options.format, name=Path(options.file).name, options=reading
            )
            with write_atomically(options.out.resolve()) as target:
                report = write_conversations(file, TARGETS[options.to], target)
        except MissingSessions as error:
            raise CommandFailure(f"{error}{SESSIONS_REMEDY}") from None
        except UnreadableFile as error:
            raise CommandFailure(describe_unreadable(options.file, error)) from None
    for line in (*list_problems(options.file, report), *describe_conversion(options.file, report)):
        print(escape_terminal(line), file=sys.stderr)
    return 0 if is_complete(report) else EXIT_FINDINGS
