import json
from pathlib import Path
from typing import Any

from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.domain.conversations.reading import FORMATS
from datasets_app.domain.splits.report import format_report
from datasets_app.domain.splits.splits import (
    DEFAULT_RATIOS,
    DEFAULT_SIMILARITY,
    STRATA,
    SplitError,
    SplitSettings,
)
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import open_conversations, open_output
from datasets_app.management.terminal import command_error
from datasets_app.splitting.parameters import SplitParameters
from datasets_app.splitting.split_file import split_file
from datasets_app.splitting.tasks import split_dataset

_DEFAULTS = {"ratios": DEFAULT_RATIOS, "seed": 42, "stratify": "scenario", "similarity": DEFAULT_SIMILARITY}


class Command(BaseCommand):
    help = """Split a file or a dataset into training, validation and test, by whole sessions.

Each stratum (scenario, taken from tags, or persona) keeps the ratios. Near-duplicates, and
sessions with the same metadata.split_group, stay together. Running it again after an import
places the new sessions and moves no other. The test split is locked: it can't be used for
calibration. A file needs no database.

examples:
  manage.py split_dataset --input eval.jsonl --out-dir splits
  manage.py split_dataset --dataset support --ratios 80,20 --stratify persona
  manage.py split_dataset --dataset support --report report.json
  manage.py split_dataset --dataset support --again --ratios 70,15,15 --override "nothing was trained yet"

exit codes:
  0  done
  2  could not run: no such file or dataset, other settings than before, wrong arguments

How sessions are placed and how to read the report: docs/splits.md"""

    arguments = (
        option("--input FILE", "a conversation file; - for standard input"),
        option("--out-dir DIR", "folder for train, validation and test.jsonl"),
        option("--dataset NAME", "split this dataset instead of a file"),
        option("--format", "format of the input (default: auto)", choices=["auto", *FORMATS], default="auto"),
        option(
            "--ratios A,B,C",
            "percent in training, validation and test, or in training and test (default: 60,20,20)",
        ),
        option("--seed N", "random seed (default: 42)", type=int),
        option("--stratify", "strata that keep the ratios (default: scenario)", choices=STRATA),
        option(
            "--similarity S",
            "share of common word pairs from which two sessions are near-duplicates (default: "
            f"{DEFAULT_SIMILARITY:g})",
            type=float,
        ),
        option("--report FILE", "write the report as JSON; - for standard output"),
        option("--again", "split all of a dataset again"),
        option("--override REASON", "with --again: why, for the audit log", default=""),
    )

    def handle(self, **options: Any) -> None:
        _check_options(options)
        split_settings = _parse_settings(options)
        split = _split_dataset if options["input"] is None else _split_file
        report, leaks, summary = split(options, split_settings)
        as_json = json.dumps({**report, "leaks": leaks}, ensure_ascii=False, indent=2) + "\n"
        if options["report"] == "-":
            self.stdout.write(as_json, ending="")
            return
        if options["report"] is not None:
            with open_output(options["report"]) as report_file:
                report_file.write(as_json.encode())
        for line in (*format_report(report, leaks), *summary):
            self.stdout.write(line)


def _check_options(options: dict[str, Any]) -> None:
    if (options["input"] is None) == (options["dataset"] is None):
        raise command_error("Name either a file with --input FILE or a dataset with --dataset NAME.")
    if (options["input"] is None) != (options["out_dir"] is None):
        raise command_error("Use --input FILE and --out-dir DIR together: a file is split into a folder.")
    if options["input"] is not None and (options["again"] or options["override"]):
        raise command_error(
            "--again and --override are for datasets. To split a file again, use another --out-dir."
        )
    if options["override"] and not options["again"]:
        raise command_error("Use --override with --again.")


def _parse_settings(options: dict[str, Any]) -> SplitSettings | None:
    """The chosen settings; None if there are none, to continue with those of the first split."""
    if all(options[name] is None for name in _DEFAULTS):
        return None
    chosen = {
        name: default if options[name] is None else options[name] for name, default in _DEFAULTS.items()
    }
    try:
        return SplitSettings.parse(**chosen)
    except SplitError as error:
        raise command_error(str(error)) from None


# The report, the leaks in it, and lines to print.
SplitOutcome = tuple[dict[str, Any], list[dict[str, Any]], list[str]]


def _split_file(options: dict[str, Any], split_settings: SplitSettings | None) -> SplitOutcome:
    source, folder = options["input"], Path(options["out_dir"])
    with (
        open_conversations(source, format=options["format"]) as file,
        Progress(f"Splitting {source}") as progress,
    ):
        result = split_file(file, folder, split_settings, report_progress=progress)
    lines = [
        f"{folder / out.name}: {format_count(out.turns, 'turn')} in "
        f"{format_count(out.sessions, 'session')}. sha256 {out.sha256}"
        for out in result.files.values()
    ]
    if result.kept_sessions:
        sessions = format_count(result.kept_sessions, "session")
        lines.append(f"Kept {sessions} of the folder that the file doesn't contain.")
    files = {key: out._asdict() for key, out in result.files.items()}
    return {**result.decision.report, "files": files}, result.decision.describe_leaks(), lines


def _split_dataset(options: dict[str, Any], split_settings: SplitSettings | None) -> SplitOutcome:
    dataset = get_dataset(options["dataset"])
    result = run_job(
        "split_dataset",
        split_dataset,
        progress=Progress("Splitting"),
        dataset_name=dataset.name,
        parameters=SplitParameters(
            settings=split_settings.as_json() if split_settings else None,
            again=options["again"],
            override=options["override"],
        ),
    )
    # The report names tags and sessions.
    raw_access.record_access(dataset, None, place="splits", leaks=len(result.leaks))
    return result.report, result.leaks, [f"{dataset.name}: {format_count(result.placed, 'session')} placed."]
