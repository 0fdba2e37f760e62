import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import FORMATS, ConversationFile
from datasets_app.domain.splits.near_duplicates import DEFAULT_SIMILARITY
from datasets_app.domain.splits.report import format_report
from datasets_app.domain.splits.splits import STRATA, SplitError, SplitSettings
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error, pluralize

# What stands for an option that is not given: on the first split.
_DEFAULTS = {"ratios": "60,20,20", "seed": 42, "stratify": "scenario", "similarity": DEFAULT_SIMILARITY}


class Command(BaseCommand):
    help = """Split a file or a dataset into training, validation and test: whole sessions.

Each stratum (scenario, by its tags, or persona) has its shares. Sessions that say nearly the
same, and sessions with the same metadata.split_group, stay together. Run again after sessions
were added, it places those and moves no other: near-duplicates join their twins. The test split
is locked: nothing is calibrated on it. A file needs no database.

examples:
  manage.py split_dataset --input eval.jsonl --out-dir splits
  manage.py split_dataset --dataset support --ratios 80,20 --stratify persona
  manage.py split_dataset --dataset support --report report.json
  manage.py split_dataset --dataset support --again --ratios 70,15,15 --override "nothing was trained yet"

exit codes:
  0  done
  2  could not run: no such file or dataset, split otherwise before, wrong arguments

What is near, how sessions are placed, what the report says: docs/splits.md"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--input", metavar="FILE", help="a conversation file; - for standard input")
        parser.add_argument("--out-dir", metavar="DIR", help="where train, validation and test.jsonl go")
        parser.add_argument("--dataset", metavar="NAME", help="split this dataset instead of a file")
        parser.add_argument(
            "--format", choices=["auto", *FORMATS], default="auto", help="of the input; default: auto"
        )
        parser.add_argument(
            "--ratios",
            metavar="A,B,C",
            help="percent in training, validation and test; two: training and test (default: 60,20,20)",
        )
        parser.add_argument("--seed", type=int, metavar="N", help="another seed, another split (default: 42)")
        parser.add_argument("--stratify", choices=STRATA, help="by what shares are kept (default: scenario)")
        parser.add_argument(
            "--similarity",
            type=float,
            metavar="S",
            help="near-duplicates share so much of their pairs of words; 1: all (default: "
            f"{DEFAULT_SIMILARITY:g})",
        )
        parser.add_argument(
            "--report", metavar="FILE", help="write the report as JSON; - for standard output"
        )
        parser.add_argument("--again", action="store_true", help="split a dataset anew, all of it")
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why it may be split again; put on record"
        )

    def handle(self, **options: Any) -> None:
        _check_options(options)
        asked = _parse_settings(options)
        if options["input"] is not None:
            report, leaks, said = _split_file(options, asked)
        else:
            report, leaks, said = _split_dataset(options, asked)
        self._print_result(options, {**report, "leaks": leaks}, [*format_report(report, leaks), *said])

    def _print_result(self, options: dict[str, Any], report: dict[str, Any], lines: list[str]) -> None:
        as_json = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        if options["report"] == "-":
            self.stdout.write(as_json, ending="")
            return
        if options["report"] is not None:
            Path(options["report"]).write_text(as_json, encoding="utf-8")
        for line in lines:
            self.stdout.write(line)


def _check_options(options: dict[str, Any]) -> None:
    if (options["input"] is None) == (options["dataset"] is None):
        raise command_error("Name a file with --input FILE, or a dataset with --dataset NAME (not both).")
    if (options["input"] is None) != (options["out_dir"] is None):
        raise command_error("A file is split into a folder: --input FILE and --out-dir DIR go together.")
    if options["input"] is not None and (options["again"] or options["override"]):
        raise command_error("--again and --override are for datasets; split a file anew into another folder.")
    if options["override"] and not options["again"]:
        raise command_error("--override is the reason for --again.")


def _parse_settings(options: dict[str, Any]) -> SplitSettings | None:
    """What was asked for; None if nothing was, to go on as it was split before."""
    if all(options[name] is None for name in _DEFAULTS):
        return None
    said = {name: default if options[name] is None else options[name] for name, default in _DEFAULTS.items()}
    try:
        return SplitSettings.parse(**said)
    except SplitError as error:
        raise command_error(str(error)) from None


SplitOutcome = tuple[dict[str, Any], list[dict[str, Any]], list[str]]


def _split_file(options: dict[str, Any], split_settings: SplitSettings | None) -> SplitOutcome:
    from datasets_app.splitting.split_file import split_file

    progress = terminal.Progress(f"Splitting {options['input']}")
    with terminal.provide_local_file(options["input"]) as path:
        try:
            name = "standard input" if options["input"] == "-" else Path(options["input"]).name
            limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
            file = ConversationFile(path, format=options["format"], limits=limits, name=name)
            done = split_file(file, Path(options["out_dir"]), split_settings, report_progress=progress)
        except UnreadableFile as error:
            raise command_error(f"{options['input']}: {error}.") from None
        finally:
            progress.clear()
    said = [
        f"{Path(options['out_dir'], out.name)}: {pluralize(out.turns, 'turn')} in "
        f"{pluralize(out.sessions, 'session')}. sha256 {out.sha256}"
        for out in done.files.values()
    ]
    if done.kept_sessions:
        said.append(
            f"{pluralize(done.kept_sessions, 'session')} of the folder are not in the file; they were kept."
        )
    report = {**done.decision.report, "files": {key: out._asdict() for key, out in done.files.items()}}
    return report, done.decision.describe_leaks(), said


def _split_dataset(options: dict[str, Any], split_settings: SplitSettings | None) -> SplitOutcome:
    from datasets_app.catalog.facts import get_dataset
    from datasets_app.jobs import runs
    from datasets_app.splitting.split_dataset import SplitResult, split_dataset

    dataset = get_dataset(options["dataset"])

    def operation(report: ProgressCallback) -> SplitResult:
        return split_dataset(
            dataset,
            split_settings,
            resplit=options["again"],
            override=options["override"],
            report_progress=report,
        )

    progress = terminal.Progress("Splitting")
    try:
        split: SplitResult = runs.run_in_foreground(
            "split_dataset",
            operation,
            dataset_name=dataset.name,
            parameters={
                "settings": split_settings.as_json() if split_settings else None,
                "again": options["again"],
            },
            make_facts=SplitResult.facts,
            report_progress=progress,
        )
    finally:
        progress.clear()
    return split.report, split.leaks, [f"{dataset.name}: {pluralize(split.placed, 'session')} placed now."]
