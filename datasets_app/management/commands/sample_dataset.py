from functools import partial
from pathlib import Path
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.domain.conversations.sampling import SAMPLE_GROUPINGS
from datasets_app.domain.wording import format_count
from datasets_app.exporting.parameters import SampleParameters
from datasets_app.exporting.sample_dataset import (
    SampleOptions,
    SampleResult,
    sample_file,
    sample_to_dataset,
    sample_to_file,
)
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import check_metadata_target, check_target, open_conversations
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Draw a sample of whole sessions from a dataset or a file.

--by session draws at random. --by scenario, trap or tag draws equally many sessions of each;
where a group has too few, the others fill up the sample. The same seed draws the same
sessions. A file needs no database.

examples:
  manage.py sample_dataset support --size 200 --out sample.jsonl
  manage.py sample_dataset support --size 200 --by trap --as support-traps
  manage.py sample_dataset --input eval.jsonl --size 50 --by scenario --seed 7 --out few.jsonl

exit codes:
  0  written
  2  could not run: no such dataset or file, not scrubbed, wrong arguments"""

    arguments = (
        option("name NAME", "the dataset", nargs="?"),
        option("--input FILE", "sample this file instead; - for standard input"),
        option("--size N", "number of sessions", type=int, required=True),
        option("--by", "default: session, at random", choices=SAMPLE_GROUPINGS, default="session"),
        option("--seed N", "default: 42", default=42),
        option("--out FILE", "write this file (gzipped if it ends in .gz)"),
        option("--as NAME", "create this dataset", dest="new"),
        option(
            "--override REASON",
            "export unscrubbed production data, or copy erased sessions, for this reason",
            default="",
        ),
    )

    def handle(self, **options: Any) -> None:
        if (options["name"] is None) == (options["input"] is None):
            raise command_error("Name either a dataset or a file with --input FILE.")
        if (options["out"] is None) == (options["new"] is None):
            raise command_error(
                "Choose the target: either a file with --out FILE or a dataset with --as NAME."
            )
        if options["out"] == "-":
            raise command_error("A sample has its metadata beside it; name a file with --out FILE.")
        if options["input"] is not None and options["new"] is not None:
            raise command_error(
                "A file can't be sampled into a dataset. Sample it with --out FILE, then use import_dataset."
            )
        choice = SampleOptions(options["size"], options["by"], options["seed"])
        result = (_sample_dataset if options["input"] is None else _sample_file)(options, choice)
        if options["by"] != "session":
            for group, count in result.groups.items():
                self.stdout.write(f"  {group}: {count:,}")
        written = f"{format_count(result.turns, 'turn')} in {format_count(result.sessions, 'session')}."
        digest = f" sha256 {result.sha256}" if result.sha256 else ""
        self.stdout.write(f"{options['out'] or options['new']}: {written}{digest}")


def _sample_file(options: dict[str, Any], choice: SampleOptions) -> SampleResult:
    out = Path(options["out"])
    check_target(options["out"], options["input"])
    check_metadata_target(options["out"], options["input"])
    with open_conversations(options["input"]) as file:
        with Progress(f"Sampling {options['input']}") as progress:
            return sample_file(file, out, choice, report_progress=progress)


def _sample_dataset(options: dict[str, Any], choice: SampleOptions) -> SampleResult:
    dataset = get_dataset(options["name"])
    if options["new"] is not None:
        sample = partial(sample_to_dataset, dataset, options["new"])
    else:
        sample = partial(sample_to_file, dataset, Path(options["out"]))
    return run_job(
        "sample_dataset",
        lambda job: sample(choice, override=options["override"], report_progress=job.report_progress),
        progress=Progress("Sampling"),
        dataset_name=options["new"] or dataset.name,
        parameters=SampleParameters(of=dataset.name, **choice._asdict()),
    )
