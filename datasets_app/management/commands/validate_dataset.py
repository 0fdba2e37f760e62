"""Check conversation and annotation files, or a dataset, against every rule."""

import argparse
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from datasets_app.command_line import validate
from datasets_app.command_line.outputs import OUTPUTS, Output
from datasets_app.command_line.streams import CommandFailure
from datasets_app.domain.conversations.lines import Limits
from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.quality.files import ANNOTATION
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import Progress

PROGRAM = "validate_dataset"


class Command(BaseCommand):
    help = "Check conversation or annotation files, or a dataset, and list what is wrong."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=validate.EPILOG.format(program=PROGRAM, more=f"\n  {PROGRAM} --dataset support-2025"),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: CommandParser) -> None:
        validate.add_arguments(parser)
        parser.add_argument("--dataset", metavar="NAME", help="check this dataset instead of files")

    def handle(self, *args: Any, **options: Any) -> None:
        _check_options(options)
        validate.escape_undecodable_names(sys.stdout)
        output = OUTPUTS[options["format"]](self.stdout.write, self._write_unstyled, options["limit"])
        models = () if options["no_names"] else validate.load_name_models(settings.NAME_MODELS)
        if options["dataset"] is not None:
            _check_dataset(options["dataset"], models, output)
        limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
        validate.check_files(options, output, models, limits)
        output.close()
        self.stdout.flush()
        if code := validate.get_exit_code(output, options["strict"]):
            raise SystemExit(code)

    def _write_unstyled(self, text: str) -> None:
        self.stderr.write(text, style_func=str)


def _check_options(options: dict[str, Any]) -> None:
    files, dataset = options["files"], options["dataset"]
    if bool(files) == (dataset is not None):
        raise CommandFailure("name files to check, or a dataset with --dataset NAME (not both)")
    if dataset is not None and options["pii_only"]:
        raise CommandFailure("--pii-only goes with files")
    if dataset is not None and options["kind"] == ANNOTATION:
        raise CommandFailure("--dataset checks the conversations; export the labels to check them")
    validate.check_options(options)


def _check_dataset(name: str, models: tuple[str, ...], output: Output) -> None:
    from datasets_app.catalog.facts import get_dataset
    from datasets_app.checking.check_dataset import check_dataset
    from datasets_app.jobs import runs

    dataset = get_dataset(name)
    progress = Progress(f"Checking {name}")
    report = runs.run_in_foreground(
        "check_dataset",
        lambda show: check_dataset(dataset, actor=None, name_models=models, report_progress=show),
        make_facts=lambda report: {
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
