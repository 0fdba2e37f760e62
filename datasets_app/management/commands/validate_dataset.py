"""Check conversation and annotation files, or a dataset, against every rule."""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from datasets_app.domain.lines import Limits
from datasets_app.domain.quality.files import ANNOTATION, KINDS, CheckedFile
from datasets_app.domain.quality.output import Totals, as_object, github_line, text_line
from datasets_app.domain.records import Finding
from datasets_app.management.terminal import (
    COULD_NOT_RUN,
    FINDINGS,
    Progress,
    local_file,
    sentences_for_errors,
)

EPILOG = """
examples:
  validate_dataset conversations.jsonl
  validate_dataset data/*.jsonl.gz --strict
  validate_dataset labels.jsonl --kind annotation --format json
  zcat logs.jsonl.gz | validate_dataset - --format github
  validate_dataset --dataset support-2025

exit codes:
  0  clean: no errors (and with --strict no warnings either)
  1  findings
  2  could not run: no such file or dataset, wrong arguments
  130 and 141: stopped before the end, by Ctrl-C or because the output was no longer read

Every code is explained in docs/checks.md.
"""


class Command(BaseCommand):
    help = "Check conversation or annotation files, or a dataset, and list what is wrong."
    # Files are checked without a database: in CI, in a git hook, anywhere.
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files", nargs="*", metavar="FILE", help="JSONL file, plain or gzipped; - for standard input"
        )
        parser.add_argument("--dataset", metavar="NAME", help="check this dataset instead of files")
        parser.add_argument("--kind", choices=KINDS, help="what the files hold (default: by the first line)")
        parser.add_argument("--format", choices=tuple(OUTPUTS), default="text", help="of the output")
        parser.add_argument(
            "--no-names",
            action="store_true",
            help="don't look for names of people: a model does that, some thousand lines a second",
        )
        parser.add_argument("--strict", action="store_true", help="warnings count as findings")
        parser.add_argument(
            "--limit",
            type=int,
            default=100,
            metavar="N",
            help="print at most N findings of each code for each file; 0 for all (default: 100)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._check_arguments(options)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be Unicode
        output = OUTPUTS[options["format"]](self.stdout.write, self._write_plainly, options["limit"])
        with sentences_for_errors(self.stderr):
            models = () if options["no_names"] else _name_models()
            if options["dataset"] is not None:
                _check_dataset(options["dataset"], models, output)
            for name in options["files"]:
                _check_file(name, options["kind"], models, output)
            output.close()
            self.stdout.flush()
        if output.totals.errors or (options["strict"] and output.totals):
            raise SystemExit(FINDINGS)

    def _write_plainly(self, text: str) -> None:
        self.stderr.write(text, style_func=str)

    def _check_arguments(self, options: dict[str, Any]) -> None:
        files, dataset = options["files"], options["dataset"]
        if bool(files) == (dataset is not None):
            raise _refused("name files to check, or a dataset with --dataset NAME (not both)")
        if options["limit"] < 0:
            raise _refused("--limit must be 0 or more")
        if dataset is not None and options["kind"] == ANNOTATION:
            raise _refused("--dataset checks the conversations; export the labels to check them")
        if files.count("-") > 1:
            raise _refused("standard input can be read only once")
        for name in files:
            if name != "-" and (problem := _problem_with(Path(name))):
                raise _refused(f"{name}: {problem}")


def _refused(message: str) -> CommandError:
    return CommandError(message, returncode=COULD_NOT_RUN)


def _problem_with(path: Path) -> str:
    if path.is_dir():
        return "is a directory; name the files in it"
    if not path.exists():
        return "no such file"
    return "" if os.access(path, os.R_OK) else "may not be read; check its permissions"


# --- what is checked -------------------------------------------------------------------------


def _name_models() -> tuple[str, ...]:
    from django.conf import settings

    from datasets_app.domain.pii.names import NameModelError, load_name_finder

    models = tuple(settings.NAME_MODELS)
    try:
        load_name_finder(models)
    except NameModelError as error:
        raise _refused(str(error)) from None
    return models


def _check_file(name: str, kind: str | None, models: tuple[str, ...], output: "Output") -> None:
    from django.conf import settings

    limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
    with local_file(name) as path:
        file = CheckedFile(path, kind, with_metadata=name != "-", name_models=models, limits=limits)
        output.begin("<stdin>" if name == "-" else name, file.kind)
        progress, size = Progress(f"Checking {name}"), path.stat().st_size
        for finding in file.findings(lambda done: progress(done, size)):
            progress.clear()
            output.add(finding)
        progress.clear()


def _check_dataset(name: str, models: tuple[str, ...], output: "Output") -> None:
    from datasets_app import job_runs
    from datasets_app.operations.check_dataset import check_dataset
    from datasets_app.operations.dataset_facts import dataset_named

    dataset = dataset_named(name)
    progress = Progress(f"Checking {name}")
    report = job_runs.run_here(
        "check_dataset",
        lambda show: check_dataset(dataset, actor=None, name_models=models, report_progress=show),
        facts=lambda report: {
            "report": report.pk,
            "errors": report.error_count,
            "warnings": report.warning_count,
        },
        dataset_name=dataset.name,
        parameters={},
        report_progress=progress,
    )
    progress.clear()
    output.begin(name, None, is_file=False)
    kept = report.findings.select_related("session").order_by("id")
    for row in kept.iterator():
        session_id = row.session.session_id if row.session else None
        output.add(Finding(row.code, row.message, 0, session_id, row.turn_index, row.field or None))
    output.set_totals(report.totals)


# --- how it is shown -------------------------------------------------------------------------

Write = Callable[[str], Any]


class Output:
    """Takes the findings file by file; ``totals`` counts all of them, shown or not."""

    def __init__(self, write: Write, write_error: Write, limit: int) -> None:
        self.totals = Totals()
        self._write, self._write_error, self._limit = write, write_error, limit
        self._source, self._file, self._of_source = "", "", Totals()

    def begin(self, source: str, kind: str | None, *, is_file: bool = True) -> None:
        self._source, self._file, self._of_source = source, source if is_file else "", Totals()

    def add(self, finding: Finding) -> None:
        self.totals[finding.code] += 1
        self._of_source[finding.code] += 1
        if not self._limit or self._of_source[finding.code] <= self._limit:
            self.show(finding)

    def set_totals(self, totals: dict[str, int]) -> None:
        """For a source of which more is known than was added."""
        self.totals += Totals({code: n - self._of_source[code] for code, n in totals.items()})
        self._of_source.update({code: n - self._of_source[code] for code, n in totals.items()})

    def show(self, finding: Finding) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class TextOutput(Output):
    def show(self, finding: Finding) -> None:
        self._write(text_line(self._source, finding))

    def close(self) -> None:
        # On the error stream, so that what is piped on is findings and nothing else.
        self._write_error(self.totals.summary())


class GithubOutput(TextOutput):
    def show(self, finding: Finding) -> None:
        self._write(github_line(self._file, finding))


class JsonOutput(Output):
    def __init__(self, write: Write, write_error: Write, limit: int) -> None:
        super().__init__(write, write_error, limit)
        self._files: list[dict[str, Any]] = []

    def begin(self, source: str, kind: str | None, *, is_file: bool = True) -> None:
        super().begin(source, kind, is_file=is_file)
        name = {"file": source, "kind": kind} if is_file else {"dataset": source}
        self._files.append({**name, "findings": [], "totals": self._of_source})

    def show(self, finding: Finding) -> None:
        self._files[-1]["findings"].append(as_object(finding))

    def close(self) -> None:
        totals = self.totals
        value = {"files": self._files, "totals": totals, "errors": totals.errors, "warnings": totals.warnings}
        self._write(json.dumps(value, ensure_ascii=True, indent=2))


OUTPUTS: dict[str, type[Output]] = {"text": TextOutput, "json": JsonOutput, "github": GithubOutput}
