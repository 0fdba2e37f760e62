import json
from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.progress import ProgressCallback
from datasets_app.jobs import runs
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import schedule_lines
from datasets_app.management.terminal import command_error, pluralize
from datasets_app.models import Dataset, JobRun
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.dry_run import preview_retention


class Command(BaseCommand):
    help = """Delete for good what the active retention rules say is due: sessions, labels, findings,
uploads, exports, releases, what jobs have kept. Each dataset gets a certificate in the audit
trail. The scheduler has it done every night; what a run left unfinished, the next ends.

examples:
  manage.py apply_retention --dry-run
  manage.py apply_retention --dry-run --json
  manage.py apply_retention
  manage.py apply_retention --dataset support_prod_q3 --now --reason "Contract ended"

exit codes:
  0  done, or nothing was due
  1  something that is due could not be deleted; it is told, and tried again next time
  2  could not run: no such dataset, on hold, wrong arguments"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="list what would go when, change nothing")
        parser.add_argument("--json", action="store_true", help="with --dry-run: as one JSON object")
        parser.add_argument("--dataset", metavar="NAME", help="only this one")
        parser.add_argument("--now", action="store_true", help="whether or not it is due; needs --reason")
        parser.add_argument("--reason", metavar="TEXT", help="with --now: why; for the audit trail")

    def handle(self, **options: Any) -> None:
        if options["json"] and not options["dry_run"]:
            raise command_error("--json goes with --dry-run.")
        if options["now"] != (options["reason"] is not None) or (options["now"] and not options["dataset"]):
            raise command_error("A dataset that is not due goes by --dataset NAME --now --reason TEXT.")
        if options["dry_run"]:
            return self._print_dry_run(options)
        result = _run_apply(options)
        self._print_result(result)
        if result.get("skipped"):
            raise SystemExit(terminal.EXIT_FINDINGS)
        return None

    def _print_dry_run(self, options: dict[str, Any]) -> None:
        if options["dataset"]:
            raise command_error("--dry-run is of all datasets; leave --dataset out.")
        rehearsal = preview_retention()
        text = json.dumps(rehearsal.as_json(), indent=2, ensure_ascii=False)
        self.stdout.write(text if options["json"] else "\n".join(schedule_lines(rehearsal)))

    def _print_result(self, result: dict[str, Any]) -> None:
        for certificate in result.get("certificates", []):
            deleted = format_counts(certificate["deleted"]) or "it was empty"
            self.stdout.write(f"{certificate['dataset']}: deleted {deleted}")
        for sentence in (*result.get("skipped", []), *result.get("traces", [])):
            self.stderr.write(sentence)
        self.stdout.write(f"{pluralize(result['datasets'], 'dataset')} deleted.")


def _run_apply(options: dict[str, Any]) -> dict[str, Any]:
    dataset: Dataset | None = get_dataset(options["dataset"]) if options["dataset"] else None

    def operation(row: JobRun, report: ProgressCallback) -> dict[str, Any]:
        return apply_retention(dataset=dataset, reason=options["reason"], job_run=row, report_progress=report)

    progress = terminal.Progress("Deleting", "turns")
    try:
        result: dict[str, Any] = runs.run_in_foreground_steps(
            "apply_retention",
            operation,
            dataset_name=dataset.name if dataset else "",
            parameters={},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return result
