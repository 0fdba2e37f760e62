from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from datasets_app.access import limit_access
from datasets_app.catalog.text_gates import scan_and_describe
from datasets_app.command_line.conversion import ASSUMED_ORIGIN, ORIGIN_HELP, READING_OPTIONS
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress, provide_local_file, show_name
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.converted_file import ALL_FORMATS
from datasets_app.domain.traces.table_columns import format_columns
from datasets_app.domain.wording import format_count
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.mappings import get_mapping, save_mapping
from datasets_app.importing.parameters import ImportOptions, ImportParameters
from datasets_app.jobs.perform import run_job
from datasets_app.jobs.queue import worker_count
from datasets_app.jobs.runs import request_text_scan
from datasets_app.management.base import BaseCommand
from datasets_app.management.format_options import (
    LABEL_OPTIONS,
    mapping_options,
    parse_label_rules,
    parse_mapping,
)
from datasets_app.management.terminal import command_error, print_problems
from datasets_app.models import Dataset


class Command(BaseCommand):
    help = """Import conversation files into a dataset: all of them, or nothing.

A file is JSONL with one turn a line, OpenAI chat or ShareGPT, plain or gzipped, or an
export of another tool (traces, chats, tickets, tables: docs/formats.md), recognized by its
content. It is checked as a whole before anything is saved. Importing the same file again (recognized by
its SHA-256) changes nothing. <name>.meta.yaml beside a file is read as well.

New text is searched for personal data: by a worker if one runs, and at once otherwise.

A new dataset of production data is restricted: only privacy officers, and people named
with --grant, can see it.

examples:
  manage.py import_dataset support.jsonl --name support --origin production --grant ada
  manage.py import_dataset march.jsonl.gz april.jsonl.gz --name chats --append
  manage.py import_dataset langfuse.json --name prod --origin production --on-error quarantine
  zcat logs.gz | manage.py import_dataset - --name logs --on-error quarantine

exit codes:
  0  imported, or imported before (with quarantine: the valid sessions, at least one)
  1  the file has problems: they are listed, nothing was saved
  2  could not run: no such file, wrong arguments, no database"""

    arguments = (
        option(
            "files FILE",
            "file or folder of a Hugging Face dataset to import; - for standard input",
            nargs="+",
        ),
        option("--name NAME", "the dataset; it is created if it does not exist", required=True),
        option("--origin", ORIGIN_HELP, choices=["synthetic", "production", "external"]),
        option("--persona ID", "persona of sessions that name none"),
        option(
            "--format FORMAT",
            f"default: auto, detected automatically; or {', '.join(ALL_FORMATS)}",
            choices=["auto", *ALL_FORMATS],
            default="auto",
        ),
        *READING_OPTIONS,
        *mapping_options(of_files=False),
        *LABEL_OPTIONS,
        option("--renumber", "number turns 1, 2, 3 … where a file starts at 0 or has gaps"),
        option(
            "--on-error",
            "abort: import nothing if a line is invalid; quarantine: import the valid sessions and "
            "write the others to a file beside the input (default: abort)",
            choices=["abort", "quarantine"],
            default="abort",
        ),
        option("--append", "skip identical sessions that the dataset already contains"),
        option("--override REASON", "import although the metadata file states another origin", default=""),
        option(
            "--grant USER",
            "let a person see new production data, which starts restricted; may be repeated",
            repeatable=True,
        ),
    )

    def handle(self, **options: Any) -> None:
        files = options["files"]
        if files.count("-") > 1:
            raise command_error("Standard input can be read only once. Name - once.")
        import_options = _read_options(options)
        with ExitStack() as stack:
            sources = [
                ImportSource(
                    stack.enter_context(provide_local_file(file)),
                    Path(show_name(file)).name,
                )
                for file in files
            ]
            result = run_job(
                "import_dataset",
                lambda job: import_dataset(
                    sources,
                    name=options["name"],
                    origin=options["origin"],
                    options=import_options,
                    quarantine_dir=Path.cwd() if files[0] == "-" else Path(files[0]).parent,
                    override=options["override"],
                    grantees=[limit_access.get_user(name) for name in options["grant"]],
                    report_progress=job.report_progress,
                ),
                progress=Progress("Importing"),
                dataset_name=options["name"],
                parameters=ImportParameters.from_options(options, files=[source.name for source in sources]),
            )
        print_problems(self.stderr, result)
        for file in result["files"]:
            for warning in file.get("warnings", ()):
                self.stderr.write(f"Warning: {file['name']}: {warning}")
            self.stdout.write(_format_file_result(file))
        self.stdout.write(_format_result(result))
        if result.get("assumed_origin"):
            self.stderr.write(f"Warning: {ASSUMED_ORIGIN}")
        if options["save_mapping"]:
            self._save_mapping(options["save_mapping"], result, import_options.reading.mapping)
        self._search(result["dataset"])
        if result.get("restricted"):
            self.stdout.write(_describe_restriction(result["dataset"], options["grant"]))
        there = any(file.get("sessions_already_there") for file in result["files"])
        if result.get("problem_total") and not (result["sessions"] or there):
            raise SystemExit(EXIT_FINDINGS)

    def _save_mapping(self, name: str, result: dict[str, Any], stated: Mapping[str, str]) -> None:
        columns = next((file["columns"] for file in result["files"] if file.get("columns")), dict(stated))
        if not columns:
            self.stderr.write("Warning: no mapping was saved, as no table was read by columns.")
            return
        save_mapping(name, columns)
        self.stdout.write(f"Saved the mapping {name}: {format_columns(columns)}")

    def _search(self, name: str) -> None:
        """By a worker as after an import on a page, or at once if none runs: text leaves only when it has
        been searched."""
        dataset = Dataset.objects.filter(name=name).first()
        if dataset is None:  # nothing was imported
            return
        if worker_count():
            request_text_scan(dataset, actor=None)
            self.stdout.write(f"{name}: a worker searches it for personal data; no text leaves before that.")
            return
        with Progress("Searching for personal data", "turns") as progress:
            text = scan_and_describe(dataset, progress)
        if text:
            self.stdout.write(f"{name}: {text}")


def _read_options(options: dict[str, Any]) -> ImportOptions:
    return ImportOptions(
        options["format"],
        options["persona"],
        options["renumber"],
        options["on_error"] == "quarantine",
        options["append"],
        ConvertOptions(options["assistant"], parse_mapping(options, get_mapping)),
        parse_label_rules(options),
    )


def _format_result(result: dict[str, Any]) -> str:
    added = f"{format_count(result['turns'], 'turn')} in {format_count(result['sessions'], 'session')}"
    labels = f", {format_count(result['annotations'], 'label')}" if result.get("annotations") else ""
    notice = f" {result['notice']}" if "notice" in result else ""
    kept = ""
    if count := result.get("kept_labels"):
        kept = (
            f" {format_count(count, 'label')} kept with their questions in the metadata: they don't say "
            "on-brand or off-brand (--label-map, --question), or their sessions have no persona (--persona)."
        )
    return f"{result['dataset']}: {added}{labels} added.{kept}{notice}"


def _describe_restriction(name: str, granted: list[str]) -> str:
    others = f" and {', '.join(granted)}" if granted else ""
    return (
        f"{name} is production data and starts restricted: privacy officers{others} can see it. "
        f"To let others see it: manage.py limit_access {name} --grant USER"
    )


def _format_file_result(file: dict[str, Any]) -> str:
    if file.get("unchanged"):
        return f"{file['name']}: imported before, nothing changed."
    turns, sessions = format_count(file["turns"], "turn"), format_count(file["sessions"], "session")
    parts = [f"{turns} in {sessions} ({file['format']})"]
    if file.get("converted"):
        parts.append(file["converted"])
        parts += [f"left out: {described}" for described in file["left_out_rows"]]
    if file["reordered"]:
        parts.append("lines were out of order and have been sorted")
    if file["sessions_already_there"]:
        parts.append(f"{format_count(file['sessions_already_there'], 'session')} existed already")
    if quarantine := file.get("quarantine"):
        sessions = format_count(file["quarantined_sessions"], "session")
        lines = format_count(quarantine["lines"], "line")
        parts.append(f"{sessions} ({lines}) quarantined in {quarantine['files'][0]}")
    return f"{file['name']}: {'; '.join(parts)}."
