from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from datasets_app import job_runs
from datasets_app.management import terminal
from datasets_app.management.terminal import counted
from datasets_app.operations.dataset_facts import dataset_named
from datasets_app.operations.export_dataset import FORMATS, Exported, export_dataset, export_to_path
from datasets_app.operations.progress import ProgressCallback
from datasets_app.storage.turn_reader import Selection


class Command(BaseCommand):
    help = """Export a dataset to a file, with <name>.meta.yaml beside it.

The file stands complete in the end, or is not touched. A name that ends in .gz is
gzipped. To standard output (-) only the data is written.

Production data must have been scrubbed and verified. --override has it exported all the
same; the reason is kept in the audit trail.

examples:
  manage.py export_dataset support --out support.jsonl
  manage.py export_dataset support --format openai --out - | gzip > chat.jsonl.gz
  manage.py export_dataset support --tag scenario:billing --out billing.csv --format csv

exit codes:
  0  exported
  2  could not run: no such dataset, not scrubbed, the file can't be written, no database"""

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument(
            "--out", metavar="FILE", help="default: NAME.jsonl (NAME.csv); - for standard output"
        )
        parser.add_argument(
            "--format", choices=FORMATS, default="turns", help="default: turns, one turn a line"
        )
        parser.add_argument("--persona", metavar="ID", help="only the sessions of this persona")
        parser.add_argument("--tag", metavar="T", help="only the sessions in which a turn has this tag")
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why production data may leave unscrubbed"
        )

    def handle(self, **given: Any) -> None:
        with terminal.sentences_for_errors(self.stderr):
            self._export(given)

    def _export(self, given: dict[str, Any]) -> None:
        dataset = dataset_named(given["name"])
        selection = Selection(given["persona"], given["tag"])
        out = given["out"] or f"{dataset.name}.{'csv' if given['format'] == 'csv' else 'jsonl'}"
        progress = terminal.Progress("Exporting", "turns")

        def operation(report: ProgressCallback) -> Exported:
            if out == "-":
                return export_dataset(
                    dataset,
                    terminal.standard_output(),
                    format=given["format"],
                    selection=selection,
                    override=given["override"],
                    report_progress=report,
                )
            return export_to_path(
                dataset,
                Path(out),
                format=given["format"],
                selection=selection,
                override=given["override"],
                report_progress=report,
            )

        result = job_runs.run_here(
            "export_dataset",
            operation,
            dataset_name=dataset.name,
            report_progress=progress,
            parameters={key: given[key] for key in ("format", "persona", "tag", "override")},
        )
        progress.clear()
        self.stderr.write(
            f"{dataset.name}: {counted(result.turns, 'turn')} in {counted(result.sessions, 'session')}, "
            f"{counted(result.size, 'byte')}, "
            f"sha256 {result.sha256}"
        )
