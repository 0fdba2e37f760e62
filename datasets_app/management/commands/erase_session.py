import json
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.core.deletion_summary import format_counts
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import recipient_lines
from datasets_app.management.terminal import command_error
from datasets_app.retention.erase_session import erase_session_by_id, refuse_missing_session
from datasets_app.retention.erasure_preview import preview_erasure
from datasets_app.retention.parameters import EraseParameters
from datasets_app.retention.session_identity import find_session


class Command(BaseCommand):
    help = """Erase one conversation for good.

Deletes it from the dataset, with its labels and findings, and from every release: each gets
a new patch version, and the old file is destroyed. Also deletes uploads and exports of the
dataset that may contain it, and lists who downloaded it. Name the session by its id, or by
the id it had before it was hashed.

examples:
  manage.py erase_session support call-0042 --dry-run
  manage.py erase_session support call-0042 --reason "Request of 3 May"
  manage.py erase_session support call-0042 --reason "Request of 3 May" --everywhere

exit codes:
  0  erased
  2  could not run: no such session, on hold, another job is changing the dataset"""

    arguments = (
        option("name NAME", "the dataset"),
        option("session_id SESSION_ID"),
        option("--reason TEXT", "why, for the audit log"),
        option("--everywhere", "also erase copies in other datasets, such as samples or loaded releases"),
        option("--dry-run", "print what would be erased, change nothing"),
        option("--json", "print the result as one JSON object"),
    )

    def handle(self, **options: Any) -> None:
        if not options["dry_run"] and not options["reason"]:
            raise command_error("Give the reason with --reason TEXT. It is recorded in the audit log.")
        result = _preview(options) if options["dry_run"] else _erase(options)
        if options["json"]:
            self.stdout.write(json.dumps(result, indent=2, ensure_ascii=False))
        else:
            self._print_result(options, result)

    def _print_result(self, options: dict[str, Any], result: dict[str, Any]) -> None:
        counts = {kind: count for kind, count in result.items() if type(count) is int}
        verb = "Would erase" if options["dry_run"] else "Erased"
        self.stdout.write(f"{verb}: {format_counts(counts)}.")
        releases = result["releases"]
        for name, versions in (
            {options["name"]: releases} if isinstance(releases, list) else releases
        ).items():
            if versions:
                self.stdout.write(
                    f"{name}: release {', '.join(versions)} replaced by the next patch version."
                )
        for line in recipient_lines(result["handed_out"]):
            self.stdout.write(line)
        if result["also_in"]:
            names = ", ".join(result["also_in"])
            self.stdout.write(f"The same session is also in: {names}. Erase it there too with --everywhere.")
        for sentence in result.get("traces", []):
            self.stderr.write(sentence)


def _preview(options: dict[str, Any]) -> dict[str, Any]:
    dataset = get_dataset(options["name"])
    session = find_session(dataset, options["session_id"])
    return preview_erasure(session or refuse_missing_session(dataset, options["session_id"]))


def _erase(options: dict[str, Any]) -> dict[str, Any]:
    return run_job(
        "erase_session",
        lambda job: erase_session_by_id(
            options["name"],
            options["session_id"],
            options["reason"],
            everywhere=options["everywhere"],
            job_run=job.row,
            report_progress=job.report_progress,
        ),
        progress=Progress("Erasing"),
        dataset_name=options["name"],
        parameters=EraseParameters(everywhere=options["everywhere"]),
    )
