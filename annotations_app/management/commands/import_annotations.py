from typing import Any

from annotations_app.labels.import_annotations import LabelImport, import_annotations
from annotations_app.labels.parameters import LabelImportParameters
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress, provide_local_file
from datasets_app.domain.conversations.reading import data_stem
from datasets_app.domain.traces.convert import NAMES
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.format_options import LABEL_OPTIONS, parse_label_rules
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Import labels (annotation JSONL: one label per line, with text, label 0 or 1, and persona_id).
Lines with criterion, value and schema in place of label, as export_annotations writes them and the
queue offers them for download, are answers under that schema; lines of one decision become one.

Files of label tools (Label Studio, Argilla, doccano, Prodigy) and tables (CSV, XLSX, Parquet)
are read as well: the labels of each annotator, by the question they answer. Values that say
on-brand or off-brand are imported; --label-map names others, --question the question. They
need --persona, unless each record has a persona_id.

Files of these tools and tables that export_annotations has written come back as they were. In others,
questions (or columns of a table) that are criteria of --schema are answers to them; other questions
are counted.

Each label is joined to its turn by session_id and turn_index; failing that by its exact text,
within the session it names, then anywhere in the dataset (an assistant's turn before a user's;
of several with the same text the one imported first). A label that matches no turn is kept as a
session of one turn, if it has a text. All lines are saved, or none; labels that exist already are skipped.

With --adjudicated there is one label per turn and persona: an earlier one that says otherwise is
withdrawn (and kept); lines of the file that contradict each other are errors.

exit codes:
  0  saved
  1  invalid lines (the first hundred are listed); nothing was saved
  2  could not run"""

    arguments = (
        option("file FILE", "a .jsonl or .jsonl.gz file, or - for standard input"),
        option("--dataset NAME", "default: the file's name without its ending"),
        option(
            "--persona ID", "for lines without a persona_id; a line that names another persona is an error"
        ),
        option(
            "--schema NAME@VERSION", "of a label tool or a table: the schema whose criteria its questions are"
        ),
        option(
            "--adjudicated",
            "the labels are adjudicated: they don't count as an annotator's, and become gold items",
        ),
        option(
            "--format FORMAT",
            f"default: auto, detected automatically; turns for annotation JSONL; or {', '.join(NAMES)}",
            choices=["auto", "turns", *NAMES],
            default="auto",
        ),
        *LABEL_OPTIONS,
        option("--create", "create the dataset if it doesn't exist"),
    )

    def handle(self, *, file: str, dataset: str | None, **options: Any) -> None:
        if file == "-" and not dataset:
            raise command_error("Standard input has no name; name the dataset with --dataset NAME.")
        with provide_local_file(file) as path:
            name = dataset or data_stem(path.name)
            rules = parse_label_rules(options)
            settings = {key: options[key] for key in ("format", "persona", "create", "adjudicated", "schema")}
            result = run_job(
                "import_annotations",
                lambda job: import_annotations(
                    path,
                    dataset_name=name,
                    report_progress=job.report_progress,
                    file_name="standard input" if file == "-" else "",
                    rules=rules,
                    **settings,
                ),
                dataset_name=name,
                parameters=LabelImportParameters.from_options(options, file=path.name),
                progress=Progress("Importing labels"),
            )
        self.report(result)

    def report(self, result: LabelImport) -> None:
        saved, new = result.saved, " (new)" if result.created else ""
        self.stdout.write(
            f"{result.dataset.name}{new}: {format_count(saved.added, 'label')} added, "
            f"{saved.known:,} existed already."
        )
        for question, described in result.questions:
            self.stdout.write(f"  {question or '(no question)'}: {described}")
        if result.unmapped:
            self.stdout.write(
                f"{format_count(result.unmapped, 'label')} not imported: they don't say on-brand or "
                "off-brand, and answer no criterion. Name what they mean with --label-map, or the schema "
                "with --schema; import_dataset keeps them as metadata."
            )
        if saved.sessions_added:
            sessions = format_count(saved.sessions_added, "one-turn session")
            self.stdout.write(f"{sessions} added for texts that match no turn.")
        for warning in result.warnings:
            self.stderr.write(f"Warning: {warning}")
