from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.sampling import BY
from datasets_app.exporting.sample_dataset import (
    Choice,
    Sampled,
    sample_file,
    sample_to_dataset,
    sample_to_file,
)
from datasets_app.management import terminal
from datasets_app.management.terminal import could_not_run, counted


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

    requires_system_checks = ()

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", nargs="?", help="the dataset")
        parser.add_argument(
            "--input", metavar="FILE", help="a conversation file instead; - for standard input"
        )
        parser.add_argument("--size", type=int, required=True, metavar="N", help="how many sessions")
        parser.add_argument("--by", choices=BY, default="session", help="default: session, at random")
        parser.add_argument("--seed", type=int, default=42, metavar="N", help="default: 42")
        parser.add_argument("--out", metavar="FILE", help="write this file (.gz: gzipped)")
        parser.add_argument("--as", metavar="NAME", dest="new", help="make this dataset of it")
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why production data may leave unscrubbed"
        )

    def handle(self, **given: Any) -> None:
        if (given["name"] is None) == (given["input"] is None):
            raise could_not_run("Name a dataset, or a file with --input FILE (not both).")
        if (given["out"] is None) == (given["new"] is None):
            raise could_not_run("Say where to: a file with --out FILE, or a dataset with --as NAME.")
        if given["input"] is not None and given["new"] is not None:
            raise could_not_run("A file's sample goes to a file; import_dataset makes a dataset of it.")
        choice = Choice(given["size"], given["by"], given["seed"])
        with terminal.sentences_for_errors(self.stderr), terminal.terminated_like_interrupted():
            result = _of_file(given, choice) if given["input"] is not None else _of_dataset(given, choice)
            self._tell(given, result)

    def _tell(self, given: dict[str, Any], result: Sampled) -> None:
        if given["by"] != "session":
            for group, count in result.groups.items():
                self.stdout.write(f"  {group}: {count:,}")
        written = f"{counted(result.turns, 'turn')} in {counted(result.sessions, 'session')}."
        digest = f" sha256 {result.sha256}" if result.sha256 else ""
        self.stdout.write(f"{given['out'] or given['new']}: {written}{digest}")


def _of_file(given: dict[str, Any], choice: Choice) -> Sampled:
    progress = terminal.Progress(f"Sampling {given['input']}")
    with terminal.local_file(given["input"]) as path:
        out = Path(given["out"])
        if out.exists() and out.samefile(path):
            raise could_not_run(f"{out} is the input itself; it stays as it is. Name another file.")
        try:
            limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
            file = ConversationFile(path, limits=limits, name=Path(given["input"]).name)
            return sample_file(file, out, choice, report_progress=progress)
        except UnreadableFile as error:
            raise could_not_run(f"{given['input']}: {error}.") from None
        finally:
            progress.clear()


def _of_dataset(given: dict[str, Any], choice: Choice) -> Sampled:
    from datasets_app.catalog.facts import dataset_named
    from datasets_app.jobs import runs

    dataset = dataset_named(given["name"])

    def operation(report: ProgressCallback) -> Sampled:
        if given["new"] is not None:
            return sample_to_dataset(dataset, given["new"], choice, report_progress=report)
        return sample_to_file(
            dataset, Path(given["out"]), choice, override=given["override"], report_progress=report
        )

    progress = terminal.Progress("Sampling")
    try:
        sampled: Sampled = runs.run_here(
            "sample_dataset",
            operation,
            dataset_name=given["new"] or dataset.name,
            parameters={"of": dataset.name, **choice._asdict()},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return sampled
