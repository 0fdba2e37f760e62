import json
from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.progress import ProgressCallback
from datasets_app.jobs import runs
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import recipient_lines
from datasets_app.management.terminal import command_error
from datasets_app.models import JobRun
from datasets_app.retention.erase_session import erase_session_by_id, refuse_missing_session
from datasets_app.retention.erasure_preview import preview_erasure
from datasets_app.retention.session_identity import find_session


class Command(BaseCommand):
    help = """Erase one person's conversation for good: from the dataset, with its labels and findings, and
from every release, which gets a new patch version; the old file is destroyed. Uploads and
exports of the dataset that are still kept are deleted, as it may be in them. Says who had
downloaded it. The session is found by its id, or by the id it had before it was hashed.

examples:
  manage.py erase_session support call-0042 --dry-run
  manage.py erase_session support call-0042 --reason "Request of 3 May"
  manage.py erase_session support call-0042 --reason "Request of 3 May" --everywhere

exit codes:
  0  erased
  2  could not run: no such session, on hold, something is at work on the dataset"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("session_id", metavar="SESSION_ID")
        parser.add_argument("--reason", metavar="TEXT", help="why; for the audit trail")
        parser.add_argument(
            "--everywhere",
            action="store_true",
            help="also from other datasets that have it (samples are copies)",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would go, change nothing")
        parser.add_argument("--json", action="store_true", help="the result as one JSON object")

    def handle(self, **options: Any) -> None:
        if not options["dry_run"] and not options["reason"]:
            raise command_error("Give the reason with --reason TEXT; it stands in the audit trail.")
        result = _preview_erasure(options) if options["dry_run"] else _run_erasure(options)
        if options["json"]:
            self.stdout.write(json.dumps(result, indent=2, ensure_ascii=False))
        else:
            self._print_result(options, result)

    def _print_result(self, options: dict[str, Any], result: dict[str, Any]) -> None:
        numbers = {kind: count for kind, count in result.items() if type(count) is int}
        said = "Would be erased" if options["dry_run"] else "Erased"
        self.stdout.write(f"{said}: {format_counts(numbers)}.")
        releases = result["releases"]
        of_dataset = {options["name"]: releases} if isinstance(releases, list) else releases
        for name, versions in of_dataset.items():
            if versions:
                self.stdout.write(
                    f"{name}: release {', '.join(versions)} replaced by the next patch version."
                )
        for line in recipient_lines(result["handed_out"]):
            self.stdout.write(line)
        if result["also_in"]:
            left = ", ".join(result["also_in"])
            self.stdout.write(f"The same session is also in: {left}. --everywhere erases it there too.")
        for sentence in result.get("traces", []):
            self.stderr.write(sentence)


def _preview_erasure(options: dict[str, Any]) -> dict[str, Any]:
    dataset = get_dataset(options["name"])
    session = find_session(dataset, options["session_id"])
    if session is None:
        refuse_missing_session(dataset, options["session_id"])
    assert session is not None
    return preview_erasure(session)


def _run_erasure(options: dict[str, Any]) -> dict[str, Any]:
    def operation(row: JobRun, report: ProgressCallback) -> dict[str, Any]:
        return erase_session_by_id(
            options["name"],
            options["session_id"],
            options["reason"],
            everywhere=options["everywhere"],
            job_run=row,
            report_progress=report,
        )

    progress = terminal.Progress("Erasing")
    try:
        result: dict[str, Any] = runs.run_in_foreground_steps(
            "erase_session",
            operation,
            dataset_name=options["name"],
            # Never the id.
            parameters={"everywhere": options["everywhere"]},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return result
