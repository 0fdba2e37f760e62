from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.sampling import SAMPLE_GROUPINGS
from datasets_app.exporting.sample_dataset import (
    SampleOptions,
    SampleResult,
    sample_file,
    sample_to_dataset,
    sample_to_file,
)
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error, pluralize


class Command(BaseCommand):
    help = """Take some sessions, whole ones, of a dataset or a file.

--by session takes them at random. --by scenario, trap or tag takes as many of each: a
group that has fewer gives all it has, and the others share what is left. The same seed
takes the same sessions. A file needs no database.

examples:
  manage.py sample_dataset support --size 200 --out sample.jsonl
  manage.py sample_dataset support --size 200 --by trap --as support-traps
  manage.py sample_dataset --input eval.jsonl --size 50 --by scenario --seed 7 --out few.jsonl

exit codes:
  0  written
  2  could not run: no such dataset or file, not scrubbed, wrong arguments"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", nargs="?", help="the dataset")
        parser.add_argument(
            "--input", metavar="FILE", help="a conversation file instead; - for standard input"
        )
        parser.add_argument("--size", type=int, required=True, metavar="N", help="how many sessions")
        parser.add_argument(
            "--by", choices=SAMPLE_GROUPINGS, default="session", help="default: session, at random"
        )
        parser.add_argument("--seed", type=int, default=42, metavar="N", help="default: 42")
        parser.add_argument("--out", metavar="FILE", help="write this file (.gz: gzipped)")
        parser.add_argument("--as", metavar="NAME", dest="new", help="make this dataset of it")
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why production data may leave unscrubbed"
        )

    def handle(self, **options: Any) -> None:
        if (options["name"] is None) == (options["input"] is None):
            raise command_error("Name a dataset, or a file with --input FILE (not both).")
        if (options["out"] is None) == (options["new"] is None):
            raise command_error("Say where to: a file with --out FILE, or a dataset with --as NAME.")
        if options["input"] is not None and options["new"] is not None:
            raise command_error("A file's sample goes to a file; import_dataset makes a dataset of it.")
        choice = SampleOptions(options["size"], options["by"], options["seed"])
        result = (
            _sample_file(options, choice)
            if options["input"] is not None
            else _sample_dataset(options, choice)
        )
        self._print_result(options, result)

    def _print_result(self, options: dict[str, Any], result: SampleResult) -> None:
        if options["by"] != "session":
            for group, count in result.groups.items():
                self.stdout.write(f"  {group}: {count:,}")
        written = f"{pluralize(result.turns, 'turn')} in {pluralize(result.sessions, 'session')}."
        digest = f" sha256 {result.sha256}" if result.sha256 else ""
        self.stdout.write(f"{options['out'] or options['new']}: {written}{digest}")


def _sample_file(options: dict[str, Any], choice: SampleOptions) -> SampleResult:
    progress = terminal.Progress(f"Sampling {options['input']}")
    with terminal.provide_local_file(options["input"]) as path:
        out = Path(options["out"])
        if out.exists() and out.samefile(path):
            raise command_error(f"{out} is the input itself; it stays as it is. Name another file.")
        try:
            limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
            file = ConversationFile(path, limits=limits, name=Path(options["input"]).name)
            return sample_file(file, out, choice, report_progress=progress)
        except UnreadableFile as error:
            raise command_error(f"{options['input']}: {error}.") from None
        finally:
            progress.clear()


def _sample_dataset(options: dict[str, Any], choice: SampleOptions) -> SampleResult:
    from datasets_app.catalog.facts import get_dataset
    from datasets_app.jobs import runs

    dataset = get_dataset(options["name"])

    def operation(report: ProgressCallback) -> SampleResult:
        if options["new"] is not None:
            return sample_to_dataset(dataset, options["new"], choice, report_progress=report)
        return sample_to_file(
            dataset, Path(options["out"]), choice, override=options["override"], report_progress=report
        )

    progress = terminal.Progress("Sampling")
    try:
        sampled: SampleResult = runs.run_in_foreground(
            "sample_dataset",
            operation,
            dataset_name=options["new"] or dataset.name,
            parameters={"of": dataset.name, **choice._asdict()},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return sampled
