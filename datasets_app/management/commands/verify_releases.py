from typing import Any

from django.core.management.base import CommandError

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import one_of, option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.releasing.tasks import verify_releases


class Command(BaseCommand):
    help = """Read every stored file of a release again and compare it with its digest and signature.

examples:
  manage.py verify_releases support
  manage.py verify_releases --all

exit codes:
  0  every byte is as it was released
  1  something differs: each file is listed
  2  could not run"""

    arguments = (
        one_of(
            option("name NAME", "the dataset (default: all)", nargs="?"),
            option("--all", "all datasets, as without NAME"),
        ),
    )

    def handle(self, **options: Any) -> None:
        verified = run_job(
            "verify_releases",
            verify_releases,
            progress=Progress("Verifying"),
            dataset_name=get_dataset(options["name"]).name if options["name"] else "",
        )
        for fault in verified.faults:
            self.stderr.write(f"{fault.dataset} {fault.version}: {fault.message}")
        summary = (
            f"{format_count(verified.releases, 'release')}, {format_count(verified.files, 'file')}, "
            f"{format_count(verified.bytes, 'byte')}: {format_count(len(verified.faults), 'fault')}."
        )
        if verified.faults:
            raise CommandError(summary, returncode=EXIT_FINDINGS)
        self.stdout.write(summary)
