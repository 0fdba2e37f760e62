from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from annotations_app.labels.import_annotations import LabelImport, import_annotations
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.reading import data_stem
from datasets_app.jobs import runs
from datasets_app.management.terminal import Progress, provide_local_file, report_errors

HELP = """\
Import labels (annotation JSONL: one label a line, with text, label 0 or 1, and persona_id).

Each label is joined to its turn by session_id and turn_index; failing that by its exact text,
within the session it names, then anywhere in the dataset (an assistant's turn before a user's;
of several with the same text the one imported first). A label that matches no turn is kept as a
session of one turn. All lines are saved, or none; labels that are there already are passed over.

With --adjudicated there is one label for a turn and persona: where an earlier one says otherwise,
that is withdrawn (and kept); lines of the file that contradict each other are wrong.

Exit codes: 0 saved, 1 lines are wrong (listed, the first hundred), 2 could not run.
"""


class Command(BaseCommand):
    help = HELP
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", help="a .jsonl or .jsonl.gz file, or - for standard input"
        )
        parser.add_argument("--dataset", metavar="NAME", help="default: the file's name without its ending")
        parser.add_argument(
            "--persona",
            metavar="ID",
            help="stands in where a line has no persona_id; a line that names another persona is an error",
        )
        parser.add_argument(
            "--adjudicated",
            action="store_true",
            help="the labels are settled: they stand beside those of annotators, and are what gold items of "
            "campaigns are taken from",
        )
        parser.add_argument("--create", action="store_true", help="make the dataset if it is not there")

    def handle(
        self,
        *,
        file: str,
        dataset: str | None,
        persona: str | None,
        create: bool,
        adjudicated: bool = False,
        **_: Any,
    ) -> None:
        progress = Progress("Importing labels")
        with report_errors(self):
            if file == "-" and not dataset:
                raise UserError("Standard input has no name: say which dataset with --dataset NAME.")
            with provide_local_file(file) as path:
                name = dataset or data_stem(path.name)
                done = runs.run_in_foreground(
                    "import_annotations",
                    lambda report: import_annotations(
                        path,
                        dataset_name=name,
                        persona=persona,
                        create=create,
                        adjudicated=adjudicated,
                        report_progress=report,
                        file_name="standard input" if file == "-" else "",
                    ),
                    make_facts=lambda done: done.saved._asdict(),
                    dataset_name=name,
                    parameters={
                        "file": path.name,
                        "persona": persona,
                        "create": create,
                        "adjudicated": adjudicated,
                    },
                    report_progress=progress,
                )
            progress.clear()
        self.report(done)

    def report(self, result: LabelImport) -> None:
        saved = result.saved
        made = " (new)" if result.created else ""
        self.stdout.write(
            f"{result.dataset.name}{made}: {saved.added:,} labels added, {saved.known:,} were there already."
        )
        if saved.sessions_added:
            self.stdout.write(
                f"{saved.sessions_added:,} texts matched no turn; each is a session of its own."
            )
        if saved.text_differs:
            self.stderr.write(
                f"Warning: {saved.text_differs:,} labels were joined by session_id and turn_index to turns "
                "with another text. Were they made for another version of this dataset?"
            )
