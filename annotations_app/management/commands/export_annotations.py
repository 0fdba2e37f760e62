from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from annotations_app.operations.export_annotations import LABEL_CHOICES, ExportedLabels, export_annotations
from datasets_app import job_runs
from datasets_app.management.files import output_file
from datasets_app.management.terminal import Progress, sentences_for_errors
from datasets_app.operations.dataset_facts import dataset_named

HELP = """\
Export a dataset's labels for one persona as annotation JSONL, ordered by turn.

The file is what `alignmenter calibrate-persona --dataset FILE` reads. How many labels there are
and how many say on-brand is told on standard error, with a warning where a calibration would
suffer. The file appears under its name only when it is whole.

Every line holds a text, so production data must have been scrubbed and verified. --override has
it exported all the same; the reason is kept in the audit trail.

Exit codes: 0 written, 2 could not run (no such dataset, not scrubbed, no labels, the file can't
be written).
"""


class Command(BaseCommand):
    help = HELP

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--persona", metavar="ID", required=True, help="whose labels: a persona_id")
        parser.add_argument(
            "--labels",
            choices=LABEL_CHOICES,
            default="all",
            help="which labels; all: every one that was given",
        )
        parser.add_argument("--out", metavar="FILE", default="-", help="default: -, standard output")
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why production data may leave unscrubbed"
        )

    def handle(self, *, name: str, persona: str, labels: str, out: str, override: str = "", **_: Any) -> None:
        with sentences_for_errors(self.stderr):
            dataset = dataset_named(name)
            with output_file(out, self.stdout) as file:
                progress = Progress("Exporting", "labels")
                exported = job_runs.run_here(
                    "export_annotations",
                    lambda report: export_annotations(
                        dataset,
                        persona=persona,
                        labels=labels,
                        out=file,
                        override=override,
                        report_progress=report,
                    ),
                    dataset_name=dataset.name,
                    parameters={"persona": persona, "labels": labels, "override": override},
                    report_progress=progress,
                )
                progress.clear()
        self.report(exported)

    def report(self, exported: ExportedLabels) -> None:
        self.stderr.write(
            f"{exported.labels:,} labels, {exported.on_brand:,} on-brand ({100 * exported.share:.0f} %)."
        )
        for warning in exported.warnings:
            self.stderr.write(f"Warning: {warning}.")
