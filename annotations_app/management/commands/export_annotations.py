from typing import Any

from msgspec import UNSET

from annotations_app.campaigns.members import get_campaign
from annotations_app.criteria.schemas import get_schema
from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT, FORMATS
from annotations_app.labels.export_annotations import (
    DEFAULT_SELECTION,
    LABEL_SELECTIONS,
    ExportedLabels,
    default_selection,
    export_annotations,
)
from annotations_app.labels.parameters import LabelExportParameters
from annotations_app.models import LabelSchema
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import open_output
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Export a dataset's labels for one persona, ordered by turn; as annotation JSONL unless --format
says otherwise.

The file is what `alignmenter calibrate-persona --dataset FILE` reads. It counts every line as a
sample, so the default is one label per reply. Standard error tells the number of labels, the
share of on-brand ones, what was left out, and warns if a calibration would suffer. The file
appears under its name only when it is complete.

  --labels majority     what most annotators say of a reply; ties are left out and counted
  --labels dawid-skene  the most likely label when each annotator's errors are modeled; its
                        probability is the line's confidence
  --labels adjudicated  the adjudicated label, else the one that all annotators agree on;
                        unresolved disagreements are left out and counted
  --labels all          every label, with its annotator

Of a campaign with a schema, or with --schema, every label under it is exported, a line for each
answer to a criterion, with "criterion", "value" and "schema" in place of "label"; with --labels
majority or adjudicated one answer per reply and criterion, texts aside. What was adjudicated under an
earlier version of a campaign's schema counts as far as it was asked the same.

--format csv and parquet are tables, a row for each line. --format labelstudio, argilla, doccano and
prodigy are files of these tools, with the answers as their own: choices, ratings, texts. What a
tool has no place for goes into its metadata; what that hides from its users is counted.
import_annotations reads all of them back.

Every line contains a text, so production data must have been scrubbed and verified. Labels of
the test split are left out: a calibration is tested on it. --override exports both; the audit
log keeps the reason.

exit codes:
  0  written
  2  could not run: no such dataset, data not scrubbed, no labels, file can't be written"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--persona ID", "a persona_id"),
        option("--campaign NAME", "only labels of this campaign, for its persona"),
        option(
            "--schema NAME@VERSION",
            "labels under this schema, of all campaigns and imports (default: on-brand labels)",
        ),
        option("--labels", f"default: {DEFAULT_SELECTION}; under a schema all", choices=LABEL_SELECTIONS),
        option("--format", f"default: {DEFAULT_FORMAT}", choices=list(FORMATS), default=DEFAULT_FORMAT),
        option("--out FILE", "default: -, standard output", default="-"),
        option("--override REASON", "why to export unscrubbed data or labels of the test split", default=""),
    )

    def handle(self, *, name: str, campaign: str | None, schema: str | None, **options: Any) -> None:
        dataset = get_dataset(name)
        scope = get_campaign(campaign) if campaign else None
        asked: LabelSchema | None = get_schema(schema) if schema else scope and scope.schema
        if asked and scope and (scope.dataset != dataset or scope.schema != asked):
            raise command_error(f"The campaign {scope.name} is of another dataset or schema.")
        persona = options["persona"] or (scope.persona.persona_id if scope else "")
        if not (asked or persona):
            raise command_error("Choose a persona with --persona ID or a campaign with --campaign NAME.")
        labels = options["labels"] or default_selection(asked)
        format, override = options["format"], options["override"]
        with open_output(options["out"]) as out:
            exported = run_job(
                "export_annotations",
                lambda job: export_annotations(
                    dataset,
                    out=out,
                    persona=persona,
                    schema=asked,
                    campaign=scope,
                    labels=labels,
                    format=format,
                    override=override,
                    report_progress=job.report_progress,
                ),
                dataset_name=dataset.name,
                parameters=LabelExportParameters(
                    persona=persona or None,
                    campaign=campaign,
                    schema=asked.full_name if asked else UNSET,
                    labels=labels,
                    format=format,
                    override=override,
                ),
                progress=Progress("Exporting", "labels"),
            )
        self._report(exported, labels)

    def _report(self, exported: ExportedLabels, labels: str) -> None:
        count = format_count(exported.labels, "label")
        if exported.answers is not None:
            self.stderr.write(f"{format_count(exported.answers, 'answer')} of {count} ({labels}).")
        else:
            self.stderr.write(f"{count}, {exported.on_brand:,} on-brand ({100 * exported.share:.0f} %).")
        for omission in exported.omissions:
            self.stderr.write(f"{omission}.")
        for warning in exported.warnings:
            self.stderr.write(f"Warning: {warning}.")
