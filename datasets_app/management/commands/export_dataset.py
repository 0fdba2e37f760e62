from pathlib import Path
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress, get_standard_output
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count
from datasets_app.exporting.export_dataset import EXPORT_FORMATS
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.models import Session
from datasets_app.releasing.sharing.export_request import (
    choose_name,
    export_as_requested,
    refuse_conflicting_options,
)


class Command(BaseCommand):
    help = """Export a dataset, a release of it, or a package, with <name>.meta.yaml beside the file.

The file appears once it is complete; an interrupted export leaves an existing file as it was.
A name that ends in .gz is gzipped. Standard output (-) receives only the data.

--version exports the file of a release exactly as it was stored. --package writes everything
a recipient needs: data as JSONL and Parquet, dataset card, changelog, license, citation,
Croissant metadata, quality report and the text of a pull request; into a folder, or into a
zip file if the name ends in .zip. Labels are part of it, with pseudonyms for annotators,
unless --no-labels is given.

Production data must have been scrubbed and verified, and a package needs a complete sharing
checklist. --override exports it anyway; the reason is kept in the audit log.

examples:
  manage.py export_dataset support --out support.jsonl
  manage.py export_dataset support --format openai --out - | gzip > chat.jsonl.gz
  manage.py export_dataset support --tag scenario:billing --out billing.csv --format csv
  manage.py export_dataset support --split train --format parquet
  manage.py export_dataset support --version 1.2.0
  manage.py export_dataset support --version 1.2.0 --package --out support.zip

exit codes:
  0  exported
  2  could not run: no such dataset, not scrubbed, the file can't be written, no database"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--out FILE", "default: NAME with the format's ending; - for standard output"),
        option("--format", "default: turns, one turn a line", choices=EXPORT_FORMATS, default="turns"),
        option("--persona ID", "only sessions of this persona"),
        option("--tag TAG", "only sessions in which a turn has this tag"),
        option("--split", "only sessions of this split", choices=Session.Split.values),
        option("--version V", "a release, for example 1.2.0", default="", dest="release"),
        option("--package", "a folder or .zip with data and documents"),
        option("--no-labels", "a package without the labels", action="store_false", dest="labels"),
        option("--override REASON", "export unscrubbed production data, for this reason", default=""),
    )

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["name"])
        parameters = ExportParameters.from_options(options, version=options["release"])
        refuse_conflicting_options(parameters)
        name = choose_name(dataset, parameters)
        if options["out"] == "-" and options["package"]:
            raise UserError(
                "A package can't be written to standard output. Name a folder or a .zip file with --out."
            )
        target = get_standard_output() if options["out"] == "-" else Path(options["out"] or name)
        result = run_job(
            "export_dataset",
            lambda job: export_as_requested(
                dataset,
                target,
                parameters,
                override=options["override"],
                report_progress=job.report_progress,
            ),
            progress=Progress("Exporting", "turns"),
            dataset_name=dataset.name,
            parameters=parameters,
        )
        digest = f", sha256 {result.sha256}" if result.sha256 else ""
        self.stderr.write(
            f"{dataset.name}{' ' + options['release'] if options['release'] else ''}: "
            f"{format_count(result.turns, 'turn')} in {format_count(result.sessions, 'session')}, "
            f"{format_count(result.size, 'byte')}{digest}"
        )
        for notice in getattr(result, "notices", ()):
            self.stderr.write(notice)
