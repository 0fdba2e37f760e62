import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from annotations_app.domain.candidates import LabeledReplies
from annotations_app.labels.extract_candidates import (
    CandidateOptions,
    ExtractionResult,
    extract_candidates,
    read_labeled_replies,
    refuse_test_split,
)
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import FORMATS, ConversationFile
from datasets_app.management.files import open_output
from datasets_app.management.terminal import (
    Progress,
    command_error,
    interrupt_on_sigterm,
    pluralize,
    provide_local_file,
    report_errors,
)

HELP = """\
Take the replies that are to be labelled out of a conversation file.

Each assistant's turn that has a text becomes a line with its text, persona_id, session_id,
turn_index and scenario_tags, and with label, confidence and the rest still empty: what
`alignmenter calibrate label --input FILE` asks about, one by one. Needs no database; the file is
streamed, whatever its size and order. A file whose .meta.yaml says that it is the test split is
refused: it is locked.

examples:
  manage.py extract_candidates --input logs.jsonl --out candidates.jsonl
  manage.py extract_candidates --input logs.jsonl.gz --persona default_v1 --max 200 \\
      --skip-labelled labels.jsonl --out candidates.jsonl
  zcat logs.jsonl.gz | manage.py extract_candidates --input - --out - --tag scenario:billing

exit codes:
  0  written
  1  lines are wrong (listed, the first hundred); nothing was written
  2  could not run: no such file, wrong arguments, no reply to be labelled
  130 and 141: stopped by Ctrl-C, or because the output was no longer read
"""


class Command(BaseCommand):
    help = HELP
    # Files are worked on without a database, wherever they are.
    requires_system_checks = ()

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--input", metavar="FILE", required=True, help="JSONL, plain or gzipped; - for standard input"
        )
        parser.add_argument(
            "--out", metavar="FILE", default="-", help=".gz: gzipped; default: -, standard output"
        )
        parser.add_argument(
            "--format", choices=["auto", *FORMATS], default="auto", help="of the input; default: auto"
        )
        parser.add_argument(
            "--persona", metavar="ID", default="", help="label for this persona (default: the one named)"
        )
        parser.add_argument("--tag", metavar="TAG", default="", help="only replies with this tag")
        parser.add_argument(
            "--max",
            type=int,
            default=0,
            metavar="N",
            help="at most N, drawn at random and spread over sessions (default: all)",
        )
        parser.add_argument("--seed", type=int, default=42, metavar="N", help="of --max (default: 42)")
        parser.add_argument(
            "--context", type=int, default=0, metavar="N", help="add the N turns before each (default: 0)"
        )
        parser.add_argument(
            "--skip-labelled", metavar="FILE", help="labels there are already: these replies are left out"
        )
        parser.add_argument(
            "--override",
            metavar="REASON",
            default="",
            help="why replies of the test split are to be labelled for calibration",
        )

    def handle(self, **options: Any) -> None:
        _validate_options(options)
        limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
        with report_errors(self), interrupt_on_sigterm():
            labelled = _read_labeled(options["skip_labelled"], limits, options["persona"])
            if options["input"] != "-":
                refuse_test_split(Path(options["input"]), override=options["override"])
            with provide_local_file(options["input"]) as path:
                name = "standard input" if options["input"] == "-" else options["input"]
                try:
                    file = ConversationFile(path, format=options["format"], limits=limits, name=name)
                except UnreadableFile as error:
                    raise command_error(f"{name}: {error}.") from None
                done = self.write_candidates(file, options, labelled)
        # On the error stream, so that what is piped on is lines and nothing else.
        self.stderr.write(
            f"{pluralize(done.replies, 'candidate')} of {pluralize(done.sessions, 'session')}.",
            style_func=str,
        )

    def write_candidates(
        self, file: ConversationFile, options: dict[str, Any], labeled: LabeledReplies | None
    ) -> ExtractionResult:
        choice = CandidateOptions(
            options["persona"], options["tag"], options["max"], options["seed"], options["context"]
        )
        progress = Progress("Extracting")
        try:
            with open_output(options["out"], self.stdout) as out:
                return extract_candidates(
                    file,
                    out,
                    choice,
                    labeled=labeled,
                    compress=options["out"].lower().endswith(".gz"),
                    report_progress=progress,
                )
        finally:
            progress.clear()


def _read_labeled(name: str | None, limits: Limits, persona: str) -> LabeledReplies | None:
    if name is None:
        return None
    with provide_local_file(name) as path:
        return read_labeled_replies(path, limits, persona=persona, name=name)


def _validate_options(options: dict[str, Any]) -> None:
    for name in ("max", "context"):
        if options[name] < 0:
            raise command_error(f"--{name} must be 0 or more.")
    if options["input"] == options["skip_labelled"] == "-":
        raise command_error("Standard input can be read only once.")
    for name in ("input", "skip_labelled"):
        if options[name] not in (None, "-") and Path(options[name]).is_dir():
            raise command_error(f"{options[name]} is a directory; name a file in it.")
    if options["out"] == "-":
        return
    out = Path(options["out"])
    if out.is_dir():
        raise command_error(f"{out} is a directory; name a file in it.")
    if not out.resolve().parent.is_dir():
        raise command_error(f"{out} can't be written: there is no folder {out.parent}.")
    for name in ("input", "skip_labelled"):
        if options[name] is not None and _is_same_file(options[name], out):
            raise command_error(f"{out} is the input itself; it stays as it is. Name another file.")


def _is_same_file(source: str, out: Path) -> bool:
    with suppress(OSError, AttributeError, ValueError):
        if source == "-":
            return os.path.samestat(os.fstat(sys.stdin.fileno()), out.stat()) and out.is_file()
        return out.samefile(source)
    return False
