import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from annotations_app.domain.candidates import Labelled
from annotations_app.labels.extract_candidates import (
    Choice,
    Extracted,
    extract_candidates,
    read_labelled,
    refuse_test_split,
)
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import FORMATS, ConversationFile
from datasets_app.management.files import output_file
from datasets_app.management.terminal import (
    Progress,
    could_not_run,
    counted,
    local_file,
    sentences_for_errors,
    terminated_like_interrupted,
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

    def handle(self, **given: Any) -> None:
        _check(given)
        limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
        with sentences_for_errors(self.stderr), terminated_like_interrupted():
            labelled = _labelled(given["skip_labelled"], limits, given["persona"])
            if given["input"] != "-":
                refuse_test_split(Path(given["input"]), override=given["override"])
            with local_file(given["input"]) as path:
                name = "standard input" if given["input"] == "-" else given["input"]
                try:
                    file = ConversationFile(path, format=given["format"], limits=limits, name=name)
                except UnreadableFile as error:
                    raise could_not_run(f"{name}: {error}.") from None
                done = self.extract(file, given, labelled)
        # On the error stream, so that what is piped on is lines and nothing else.
        self.stderr.write(
            f"{counted(done.replies, 'candidate')} of {counted(done.sessions, 'session')}.",
            style_func=str,
        )

    def extract(self, file: ConversationFile, given: dict[str, Any], labelled: Labelled | None) -> Extracted:
        choice = Choice(given["persona"], given["tag"], given["max"], given["seed"], given["context"])
        progress = Progress("Extracting")
        try:
            with output_file(given["out"], self.stdout) as out:
                return extract_candidates(
                    file,
                    out,
                    choice,
                    labelled=labelled,
                    packed=given["out"].lower().endswith(".gz"),
                    report_progress=progress,
                )
        finally:
            progress.clear()


def _labelled(given: str | None, limits: Limits, persona: str) -> Labelled | None:
    if given is None:
        return None
    with local_file(given) as path:
        return read_labelled(path, limits, persona=persona, name=given)


def _check(given: dict[str, Any]) -> None:
    for name in ("max", "context"):
        if given[name] < 0:
            raise could_not_run(f"--{name} must be 0 or more.")
    if given["input"] == given["skip_labelled"] == "-":
        raise could_not_run("Standard input can be read only once.")
    for name in ("input", "skip_labelled"):
        if given[name] not in (None, "-") and Path(given[name]).is_dir():
            raise could_not_run(f"{given[name]} is a directory; name a file in it.")
    if given["out"] == "-":
        return
    out = Path(given["out"])
    if out.is_dir():
        raise could_not_run(f"{out} is a directory; name a file in it.")
    if not out.resolve().parent.is_dir():
        raise could_not_run(f"{out} can't be written: there is no folder {out.parent}.")
    for name in ("input", "skip_labelled"):
        if given[name] is not None and _is_same(given[name], out):
            raise could_not_run(f"{out} is the input itself; it stays as it is. Name another file.")


def _is_same(source: str, out: Path) -> bool:
    with suppress(OSError, AttributeError, ValueError):
        if source == "-":
            return os.path.samestat(os.fstat(sys.stdin.fileno()), out.stat()) and out.is_file()
        return out.samefile(source)
    return False
