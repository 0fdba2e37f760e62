from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand, run_job
from datasets_app.management.terminal import command_error
from datasets_app.retention.reapply_erasures import reapply_erasures


class Command(BaseCommand):
    help = """Erase again what a restored backup has brought back.

Run it after every restore, before people and workers use the application. It compares all
sessions with the erasures in the file "erasures" under var, or in a copy of it kept elsewhere.

examples:
  manage.py reapply_erasures --dry-run
  manage.py reapply_erasures
  manage.py reapply_erasures --file /mnt/kept-elsewhere/erasures

exit codes:
  0  no erased session is stored any more
  1  some could not be erased (listed), or --dry-run found some
  2  could not run"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", metavar="FILE", help="default: the file erasures under var")
        parser.add_argument("--dry-run", action="store_true", help="only count them, change nothing")

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
        for name, count in result["found"].items():
            self.stdout.write(f"{name}: {format_count(count, 'erased session')}")
        for sentence in result.get("skipped", []):
            self.stderr.write(sentence)
        verb = "would be erased" if dry_run else "erased"
        self.stdout.write(f"{format_count(result['sessions'], 'session')} {verb}.")
        if result.get("skipped") or (dry_run and result["sessions"]):
            raise SystemExit(EXIT_FINDINGS)
