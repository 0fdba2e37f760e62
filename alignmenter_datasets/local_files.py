"""``sanitize`` and ``convert``: files on this machine, by the application's code, without a server."""

import argparse
import os
import secrets
import sys
from contextlib import nullcontext
from pathlib import Path

from datasets_app.command_line.conversion import (
    READING_OPTIONS,
    convert_file,
    describe_conversion,
    is_complete,
    list_problems,
    open_conversations,
    read_mapping,
)
from datasets_app.command_line.options import add_options, option
from datasets_app.command_line.streams import (
    EXIT_FINDINGS,
    CommandFailure,
    Progress,
    escape_terminal,
    get_standard_output,
)
from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError
from datasets_app.core.process_pool import available_cpus
from datasets_app.domain.pii.batches import ScrubSetup
from datasets_app.domain.pii.detector import KINDS, PREFERENCES, RECALL
from datasets_app.domain.pii.policy import PLACEHOLDER_STYLES, Policy, PolicyError
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.targets import TARGETS
from datasets_app.domain.wording import format_count
from datasets_app.scrubbing.sanitize_file import SanitizeResult, sanitize_file

KEY_VARIABLE = "ALIGNMENTER_HASH_KEY"
MIN_KEY_CHARACTERS = 32
SMALL_FILE_BYTES = 1 << 20


_FILE_OPTIONS = (
    option("--format FORMAT", "default: told by the content", default="auto"),
    *READING_OPTIONS,
    option("--mapping FILE", "columns from a JSON file", default="", dest="saved_mapping"),
)
_SANITIZE_OPTIONS = (
    option("file FILE", "conversations in any format of docs/formats.md; - for standard input"),
    *_FILE_OPTIONS,
    option("--out FILE", "is written only if all is verified", type=Path, required=True),
    option("--placeholders", choices=PLACEHOLDER_STYLES, default="plain"),
    option(
        "--prefer",
        "recall replaces words that may or may not be names; precision keeps them",
        choices=PREFERENCES,
        default=RECALL,
    ),
    option("--classes CLASS", "default: all", nargs="+", choices=KINDS, default=KINDS),
    option("--allow TERM", "a value to keep; repeatable", repeatable=True),
    option("--hash-session-ids", f"by HMAC-SHA-256 under {KEY_VARIABLE}"),
    option("--fuzz-timestamps SECONDS", default=0),
    option("--drop-timestamps"),
    option("--processes N", "default: one for each core", type=int),
)
_CONVERT_OPTIONS = (
    option("file FILE", "an export of another tool; - for standard input"),
    option("--out FILE", "file to write; - for standard output", type=Path, required=True),
    option("--to", choices=tuple(TARGETS), default="turns"),
    *_FILE_OPTIONS,
    option("--answered-only", "leave out conversations without an answer"),
)


def add_sanitize(parser: argparse.ArgumentParser) -> None:
    add_options(parser, _SANITIZE_OPTIONS)
    parser.set_defaults(handler=_sanitize)


def add_convert(parser: argparse.ArgumentParser) -> None:
    add_options(parser, _CONVERT_OPTIONS)
    parser.set_defaults(handler=_convert)


def _sanitize(options: argparse.Namespace) -> int:
    out: Path = options.out
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise CommandFailure(f"{out} can't be written: name a file in a folder that exists")
    try:
        policy = Policy(
            kinds=tuple(options.classes),
            placeholders=options.placeholders,
            prefer=options.prefer,
            allow=tuple(options.allow),
            hash_session_ids=options.hash_session_ids,
            fuzz_seconds=options.fuzz_timestamps,
            drop_timestamps=options.drop_timestamps,
        )
    except PolicyError as error:
        raise CommandFailure(str(error)) from None
    setup = ScrubSetup(policy, _read_key(required=options.hash_session_ids))
    _refuse_input(options)
    try:
        result = _write_sanitized(out, setup, options)
    except _Unverified as failure:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(failure.remaining.items()))
        print(f"Verification found remaining values ({kinds}); nothing was written.")
        return EXIT_FINDINGS
    except UserError as error:
        print(escape_terminal(error.message))
        return EXIT_FINDINGS
    replaced, turns = format_count(result.total, "value"), format_count(result.turns, "turn")
    print(f"{replaced} replaced in {result.found_turns:,} of {turns}.")
    print(f"Verified: no pattern matches remain. sha256 {result.sha256}")
    return 0


class _Unverified(Exception):
    """Raised while the result is open, so that nothing of it is kept."""

    def __init__(self, remaining: dict[str, int]) -> None:
        super().__init__()
        self.remaining = remaining


def _write_sanitized(out: Path, setup: ScrubSetup, options: argparse.Namespace) -> SanitizeResult:
    reading = ConvertOptions(options.assistant, read_mapping(options.mapping, options.saved_mapping))
    gzipped = out.name.lower().endswith(".gz")
    with (
        open_conversations(options.file, format=options.format, reading=reading, tell=_print_error) as file,
        Progress(f"Scrubbing {options.file}") as progress,
        write_atomically(out.resolve()) as target,
    ):
        processes = options.processes or (1 if file.bytes_total < SMALL_FILE_BYTES else available_cpus())
        result = sanitize_file(
            file, target, setup, gzipped=gzipped, processes=processes, report_progress=progress
        )
        if result.remaining:
            raise _Unverified(result.remaining)
    return result


def _print_error(line: str) -> None:
    print(escape_terminal(line), file=sys.stderr)


def _refuse_input(options: argparse.Namespace) -> None:
    if options.file != "-" and options.out.exists() and options.out.samefile(options.file):
        raise CommandFailure(f"{options.out} is the input, which is never overwritten")


def _read_key(*, required: bool) -> bytes:
    key = os.environ.get(KEY_VARIABLE, "")
    if required and len(key) < MIN_KEY_CHARACTERS:
        raise CommandFailure(
            f"--hash-session-ids needs {KEY_VARIABLE}, of {MIN_KEY_CHARACTERS} characters or more"
        )
    return key.encode() or secrets.token_bytes(MIN_KEY_CHARACTERS)


def _convert(options: argparse.Namespace) -> int:
    mapping = read_mapping(options.mapping, options.saved_mapping)
    _refuse_input(options)
    to_stdout = str(options.out) == "-"
    report = convert_file(
        options.file,
        nullcontext(get_standard_output()) if to_stdout else write_atomically(options.out.resolve()),
        TARGETS[options.to],
        format=options.format,
        reading=ConvertOptions(options.assistant, mapping, options.answered_only),
    )
    for line in (*list_problems(options.file, report), *describe_conversion(options.file, report)):
        _print_error(line)
    return 0 if is_complete(report) else EXIT_FINDINGS
