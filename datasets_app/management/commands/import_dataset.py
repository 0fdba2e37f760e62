from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.conversations.reading import FORMATS
from datasets_app.importing.import_dataset import ImportOptions, ImportSource, import_dataset
from datasets_app.jobs import runs
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import pluralize


class Command(BaseCommand):
    help = """Import conversation files into a dataset: all of it, or nothing.

A file is JSONL with one turn a line, OpenAI chat or ShareGPT; plain or gzipped.
It is looked over as a whole before anything is saved. The same file given again
(told by its SHA-256) changes nothing. <name>.meta.yaml beside a file is read too.

examples:
  manage.py import_dataset support.jsonl --name support --origin production
  manage.py import_dataset march.jsonl.gz april.jsonl.gz --name chats --append
  zcat logs.gz | manage.py import_dataset - --name logs --on-error quarantine

exit codes:
  0  imported, or there already (with quarantine: the sound sessions are imported)
  1  the file has problems: they are listed, nothing was saved
  2  could not run: no such file, wrong arguments, no database"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help="file to import; - for standard input")
        parser.add_argument("--name", required=True, help="the dataset; it is made if it does not exist")
        parser.add_argument(
            "--origin",
            choices=["synthetic", "production", "external"],
            help="where it is from (default: external)",
        )
        parser.add_argument("--persona", metavar="ID", help="persona of the sessions that name none")
        parser.add_argument(
            "--format",
            choices=["auto", *FORMATS],
            default="auto",
            help="default: auto, recognised by its first line",
        )
        parser.add_argument(
            "--renumber",
            action="store_true",
            help="count turns 1, 2, 3 … where a file counts from 0 or has gaps",
        )
        parser.add_argument(
            "--on-error",
            choices=["abort", "quarantine"],
            default="abort",
            help="abort: a bad line refuses everything; quarantine: sessions without one are imported, "
            "the others are set aside beside the file",
        )
        parser.add_argument(
            "--append",
            action="store_true",
            help="skip sessions that stand in the dataset already, if identical",
        )

    def handle(self, **arguments: Any) -> None:
        if arguments["files"].count("-") > 1:
            raise terminal.command_error("Standard input can be read only once.")
        options = ImportOptions(
            arguments["format"],
            arguments["persona"],
            arguments["renumber"],
            arguments["on_error"] == "quarantine",
            arguments["append"],
        )
        progress = terminal.Progress("Importing")
        with ExitStack() as stack:
            sources = [
                ImportSource(
                    stack.enter_context(terminal.provide_local_file(file)),
                    "standard input" if file == "-" else Path(file).name,
                )
                for file in arguments["files"]
            ]

            def operation(report: ProgressCallback) -> dict[str, Any]:
                return import_dataset(
                    sources,
                    name=arguments["name"],
                    origin=arguments["origin"],
                    options=options,
                    quarantine_dir=_quarantine_dir(arguments["files"][0]),
                    report_progress=report,
                )

            try:
                result = runs.run_in_foreground(
                    "import_dataset",
                    operation,
                    dataset_name=arguments["name"],
                    report_progress=progress,
                    parameters={"files": [source.name for source in sources], **options._asdict()},
                )
            finally:
                progress.clear()
        self._print_result(result)

    def _print_result(self, result: dict[str, Any]) -> None:
        terminal.print_problems(self.stderr, result)
        for file in result["files"]:
            self.stdout.write(_format_file_result(file))
        added = f"{pluralize(result['turns'], 'turn')} in {pluralize(result['sessions'], 'session')}"
        labels = f", {pluralize(result['annotations'], 'label')}" if result.get("annotations") else ""
        self.stdout.write(f"{result['dataset']}: {added}{labels} added.")


def _format_file_result(file: dict[str, Any]) -> str:
    if file.get("unchanged"):
        return f"{file['name']}: imported before, nothing changed."
    parts = [
        f"{pluralize(file['turns'], 'turn')} in {pluralize(file['sessions'], 'session')} ({file['format']})"
    ]
    if file["reordered"]:
        parts.append("lines were out of order and have been sorted")
    if file["sessions_already_there"]:
        parts.append(f"{pluralize(file['sessions_already_there'], 'session')} stood there already")
    if quarantine := file.get("quarantine"):
        parts.append(
            f"{pluralize(file['quarantined_sessions'], 'session')} "
            f"({pluralize(quarantine['lines'], 'line')}) "
            f"set aside in {quarantine['files'][0]}"
        )
    return f"{file['name']}: {'; '.join(parts)}."


def _quarantine_dir(file: str) -> Path:
    return Path.cwd() if file == "-" else Path(file).parent
