from pathlib import Path
from typing import Any

from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error
from datasets_app.retention.reapply_erasures import reapply_erasures


class Command(BaseCommand):
    help = """Erase again what a restored backup has brought back.

`restore` does this. Run it after restoring a backup in another way, before people and workers
use the application. It compares all datasets and sessions with the erasures and deletions in the
file "erasures" under var, or in a copy of it kept elsewhere.

examples:
  manage.py reapply_erasures --dry-run
  manage.py reapply_erasures
  manage.py reapply_erasures --file /mnt/kept-elsewhere/erasures

exit codes:
  0  no erased session is stored any more
  1  some could not be erased (listed), or --dry-run found some
  2  could not run"""

    arguments = (
        option("--file FILE", "default: the file erasures under var"),
        option("--dry-run", "only count them, change nothing"),
    )

    def handle(self, *, file: str | None, dry_run: bool, **_: Any) -> None:
        path = Path(file) if file else None
        if path is not None and not path.is_file():
            raise command_error(f"{path}: there is no such file.")
        result = run_job(
            "reapply_erasures",
            lambda job: reapply_erasures(
                path, dry_run=dry_run, job_run=job.row, report_progress=job.report_progress
            ),
            progress=Progress("Comparing", "turns"),
        )
        print_erased(result, self, dry_run=dry_run)
        if result.get("skipped") or (dry_run and (result["sessions"] or result.get("datasets"))):
            raise SystemExit(EXIT_FINDINGS)


def print_erased(result: dict[str, Any], command: BaseCommand, *, dry_run: bool = False) -> None:
    """What `reapply_erasures` did. What it could not do goes to standard error."""
    for name in result.get("datasets", []):
        command.stdout.write(f"{name}: deleted dataset")
    for name, count in result["found"].items():
        command.stdout.write(f"{name}: {format_count(count, 'erased session')}")
    for sentence in result.get("skipped", []):
        command.stderr.write(sentence)
    deleted = len(result.get("datasets", []))
    datasets = f"{format_count(deleted, 'dataset')} and " if deleted else ""
    verb = "would be erased" if dry_run else "erased"
    command.stdout.write(f"{datasets}{format_count(result['sessions'], 'session')} {verb}.")
