from pathlib import Path
from typing import Any

from annotations_app.domain.candidates import LabeledReplies
from annotations_app.labels.extract_candidates import (
    CandidateOptions,
    extract_candidates,
    read_labeled_replies,
    refuse_test_split,
)
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress, provide_local_file, show_name
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import FORMATS, ConversationFile
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import check_target, open_output, refuse_folder
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Extract the replies to be labeled from a conversation file.

Each assistant's turn that has text becomes a line with its text, persona_id, session_id,
turn_index and scenario_tags, and with label, confidence and the rest still empty: what
`alignmenter calibrate label --input FILE` asks about, one by one. Needs no database; streams the
file, whatever its size and order. Refuses a file whose .meta.yaml says that it is the locked test
split.

examples:
  manage.py extract_candidates --input logs.jsonl --out candidates.jsonl
  manage.py extract_candidates --input logs.jsonl.gz --persona default_v1 --max 200 \\
      --skip-labelled labels.jsonl --out candidates.jsonl
  zcat logs.jsonl.gz | manage.py extract_candidates --input - --out - --tag scenario:billing

exit codes:
  0  written
  1  invalid lines (the first hundred are listed); nothing was written
  2  could not run: no such file, invalid arguments, no replies to label
  130 and 141: stopped by Ctrl-C, or because the output was closed"""

    arguments = (
        option("--input FILE", "JSONL, plain or gzipped; - for standard input", required=True),
        option("--out FILE", "gzipped if it ends in .gz; default: -, standard output", default="-"),
        option("--format", "input format; default: auto", choices=["auto", *FORMATS], default="auto"),
        option("--persona ID", "label for this persona (default: the one each turn names)", default=""),
        option("--tag TAG", "only replies with this tag", default=""),
        option("--max N", "at most N, drawn at random and spread over sessions (default: all)", default=0),
        option("--seed N", "seed of --max (default: 42)", default=42),
        option("--context N", "add the N turns before each (default: 0)", default=0),
        option("--skip-labelled FILE", "existing labels: their replies are left out"),
        option("--override REASON", "why to label replies of the test split", default=""),
    )

    def handle(self, **options: Any) -> None:
        _validate_options(options)
        limits = configured_limits()
        labeled = _read_labeled(options["skip_labelled"], limits, options["persona"])
        if options["input"] != "-":
            refuse_test_split(Path(options["input"]), override=options["override"])
        choice = CandidateOptions(
            options["persona"], options["tag"], options["max"], options["seed"], options["context"]
        )
        with (
            provide_local_file(options["input"]) as path,
            Progress("Extracting") as progress,
            open_output(options["out"]) as out,
        ):
            name = show_name(options["input"])
            try:
                file = ConversationFile(path, format=options["format"], limits=limits, name=name)
            except UnreadableFile as error:
                raise command_error(f"{name}: {error}.") from None
            result = extract_candidates(
                file,
                out,
                choice,
                labeled=labeled,
                compress=options["out"].lower().endswith(".gz"),
                report_progress=progress,
            )
        # Standard output may carry the lines.
        self.stderr.write(
            f"{format_count(result.replies, 'candidate')} from {format_count(result.sessions, 'session')}.",
            style_func=str,
        )
        if result.repeated:
            self.stderr.write(
                f"Warning: {format_count(result.repeated, 'candidate')} with the text of another session's. "
                "alignmenter calibrate label --append asks for each text only once, so these would stay "
                "without a label. Label them without --append, or in a campaign."
            )


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
        refuse_folder(options[name])
    check_target(options["out"], options["input"], options["skip_labelled"])
