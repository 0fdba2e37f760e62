import json
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.core.deletion_summary import format_counts
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import schedule_lines
from datasets_app.management.terminal import command_error
from datasets_app.retention.dry_run import preview_retention
from datasets_app.retention.parameters import RetentionParameters
from datasets_app.retention.tasks import apply_retention


class Command(BaseCommand):
    help = """Delete for good every dataset that is due by an active retention rule.

Deletes sessions, labels, findings, uploads, exports, releases and files of jobs, and writes
a certificate for each dataset into the audit log. The scheduler runs this every night; the
next run finishes what an interrupted one has begun.

examples:
  manage.py apply_retention --dry-run
  manage.py apply_retention --dry-run --json
  manage.py apply_retention
  manage.py apply_retention --dataset support_prod_q3 --now --reason "Contract ended"

exit codes:
  0  done, or nothing was due
  1  something due could not be deleted (listed); the next run tries again
  2  could not run: no such dataset, on hold, wrong arguments"""

    arguments = (
        option("--dry-run", "print the deletion schedule, change nothing"),
        option("--json", "with --dry-run: print one JSON object"),
        option("--dataset NAME", "delete only this dataset"),
        option("--now", "even if it is not due; needs --reason"),
        option("--reason TEXT", "with --now: why, for the audit log"),
    )

    def handle(self, **options: Any) -> None:
        if options["json"] and not options["dry_run"]:
            raise command_error("Use --json with --dry-run.")
        if options["now"] != (options["reason"] is not None) or (options["now"] and not options["dataset"]):
            raise command_error(
                "To delete a dataset before it is due, use --dataset NAME --now --reason TEXT."
            )
        if options["dry_run"]:
            self._print_dry_run(options)
            return
        dataset = get_dataset(options["dataset"]) if options["dataset"] else None
        result = run_job(
            "apply_retention",
            apply_retention,
            progress=Progress("Deleting", "turns"),
            dataset_name=dataset.name if dataset else "",
            parameters=RetentionParameters(reason=options["reason"]),
        )
        self._print_result(result)
        if result.get("skipped"):
            raise SystemExit(EXIT_FINDINGS)

    def _print_dry_run(self, options: dict[str, Any]) -> None:
        if options["dataset"]:
            raise command_error("--dry-run lists all datasets; leave out --dataset.")
        schedule = preview_retention()
        text = json.dumps(schedule.as_json(), indent=2, ensure_ascii=False)
        self.stdout.write(text if options["json"] else "\n".join(schedule_lines(schedule)))

    def _print_result(self, result: dict[str, Any]) -> None:
        for certificate in result.get("certificates", []):
            deleted = format_counts(certificate["deleted"]) or "nothing; it was empty"
            self.stdout.write(f"{certificate['dataset']}: deleted {deleted}")
        for sentence in (*result.get("skipped", []), *result.get("traces", [])):
            self.stderr.write(sentence)
        self.stdout.write(f"{format_count(result['datasets'], 'dataset')} deleted.")
