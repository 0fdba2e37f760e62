from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from annotations_app.labels.export_annotations import (
    DEFAULT_SELECTION,
    LABEL_SELECTIONS,
    ExportedLabels,
    export_annotations,
    get_campaign,
)
from datasets_app.catalog.facts import get_dataset
from datasets_app.jobs import runs
from datasets_app.management.files import open_output
from datasets_app.management.terminal import Progress, command_error, report_errors

HELP = """\
Export a dataset's labels for one persona as annotation JSONL, ordered by turn.

The file is what `alignmenter calibrate-persona --dataset FILE` reads. It counts every line as a
sample, so one label a reply goes out by default. How many labels there are and how many say
on-brand is told on standard error, with what was left out and a warning where a calibration
would suffer. The file appears under its name only when it is whole.

  --labels majority     what most annotators say of a reply; ties are left out and counted
  --labels dawid-skene  what is likeliest when each annotator's errors are reckoned with; the
                        probability is the line's confidence
  --labels adjudicated  what a lead has settled; else what all annotators agree on; what is
                        disputed and not settled is left out and counted
  --labels all          every label that was given, with its annotator

Every line holds a text, so production data must have been scrubbed and verified, and labels of
the test split are left out: what is learnt from labels is tried on it. --override has both
exported all the same; the reason is kept in the audit trail.

Exit codes: 0 written, 2 could not run (no such dataset, not scrubbed, no labels, the file can't
be written).
"""


class Command(BaseCommand):
    help = HELP
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--persona", metavar="ID", help="whose labels: a persona_id")
        parser.add_argument(
            "--campaign", metavar="NAME", help="only labels of this campaign, for its persona"
        )
        parser.add_argument(
            "--labels",
            choices=LABEL_SELECTIONS,
            default=DEFAULT_SELECTION,
            help=f"default: {DEFAULT_SELECTION}",
        )
        parser.add_argument("--out", metavar="FILE", default="-", help="default: -, standard output")
        parser.add_argument(
            "--override",
            metavar="REASON",
            default="",
            help="why unscrubbed data, or the test split, may leave",
        )

    def handle(
        self,
        *,
        name: str,
        persona: str | None = None,
        campaign: str | None = None,
        labels: str = DEFAULT_SELECTION,
        out: str = "-",
        override: str = "",
        **_: Any,
    ) -> None:
        with report_errors(self):
            dataset = get_dataset(name)
            chosen = get_campaign(campaign) if campaign else None
            whose = persona or (chosen.persona.persona_id if chosen else "")
            if not whose:
                raise command_error("Say whose labels: --persona ID, or --campaign NAME.")
            with open_output(out, self.stdout) as file:
                progress = Progress("Exporting", "labels")
                exported = runs.run_in_foreground(
                    "export_annotations",
                    lambda report: export_annotations(
                        dataset,
                        persona=whose,
                        campaign=chosen,
                        labels=labels,
                        out=file,
                        override=override,
                        report_progress=report,
                    ),
                    dataset_name=dataset.name,
                    parameters={
                        "persona": whose,
                        "labels": labels,
                        "campaign": campaign,
                        "override": override,
                    },
                    report_progress=progress,
                )
                progress.clear()
        self.report(exported)

    def report(self, exported: ExportedLabels) -> None:
        self.stderr.write(
            f"{exported.labels:,} labels, {exported.on_brand:,} on-brand ({100 * exported.share:.0f} %)."
        )
        for omission in exported.omissions:
            self.stderr.write(f"{omission}.")
        for warning in exported.warnings:
            self.stderr.write(f"Warning: {warning}.")
