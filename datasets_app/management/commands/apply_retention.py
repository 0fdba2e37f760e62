import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from datasets_app.catalog.facts import dataset_named
from datasets_app.core.deletion_summary import counts_in_words
from datasets_app.core.progress import ProgressCallback
from datasets_app.jobs import runs
from datasets_app.management import terminal
from datasets_app.management.retention_summary import rehearsal_lines
from datasets_app.management.terminal import could_not_run, counted
from datasets_app.models import Dataset, JobRun
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.dry_run import rehearse_retention


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

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="list what would go when, change nothing")
        parser.add_argument("--json", action="store_true", help="with --dry-run: as one JSON object")
        parser.add_argument("--dataset", metavar="NAME", help="only this one")
        parser.add_argument("--now", action="store_true", help="whether or not it is due; needs --reason")
        parser.add_argument("--reason", metavar="TEXT", help="with --now: why; for the audit trail")

    def handle(self, **given: Any) -> None:
        if given["json"] and not given["dry_run"]:
            raise could_not_run("--json goes with --dry-run.")
        if given["now"] != (given["reason"] is not None) or (given["now"] and not given["dataset"]):
            raise could_not_run("A dataset that is not due goes by --dataset NAME --now --reason TEXT.")
        with terminal.sentences_for_errors(self.stderr), terminal.terminated_like_interrupted():
            if given["dry_run"]:
                return self._rehearse(given)
            result = _apply(given)
        self._tell(result)
        if result.get("skipped"):
            raise SystemExit(terminal.FINDINGS)
        return None

    def _rehearse(self, given: dict[str, Any]) -> None:
        if given["dataset"]:
            raise could_not_run("--dry-run is of all datasets; leave --dataset out.")
        rehearsal = rehearse_retention()
        text = json.dumps(rehearsal.as_json(), indent=2, ensure_ascii=False)
        self.stdout.write(text if given["json"] else "\n".join(rehearsal_lines(rehearsal)))

    def _tell(self, result: dict[str, Any]) -> None:
        for certificate in result.get("certificates", []):
            deleted = counts_in_words(certificate["deleted"]) or "it was empty"
            self.stdout.write(f"{certificate['dataset']}: deleted {deleted}")
        for sentence in (*result.get("skipped", []), *result.get("traces", [])):
            self.stderr.write(sentence)
        self.stdout.write(f"{counted(result['datasets'], 'dataset')} deleted.")


def _apply(given: dict[str, Any]) -> dict[str, Any]:
    dataset: Dataset | None = dataset_named(given["dataset"]) if given["dataset"] else None

    def operation(row: JobRun, report: ProgressCallback) -> dict[str, Any]:
        return apply_retention(dataset=dataset, reason=given["reason"], job_run=row, report_progress=report)

    progress = terminal.Progress("Deleting", "turns")
    try:
        result: dict[str, Any] = runs.run_here_in_steps(
            "apply_retention",
            operation,
            dataset_name=dataset.name if dataset else "",
            parameters={},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return result
