from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from datasets_app.catalog.facts import get_dataset
from datasets_app.core.progress import ProgressCallback
from datasets_app.jobs import runs
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import pluralize
from datasets_app.releasing.verify import ReleaseVerification, verify_releases


class Command(BaseCommand):
    help = """Read every stored file of releases again and compare it with its digest and signature.

examples:
  manage.py verify_releases support
  manage.py verify_releases --all

exit codes:
  0  every byte is as it was released
  1  something differs: each file is named
  2  could not run"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("name", metavar="NAME", nargs="?", help="the dataset")
        which.add_argument("--all", action="store_true", help="of all datasets; so it is without a NAME")

    def handle(self, **options: Any) -> None:
        verified = self._verify(options["name"])
        for fault in verified.faults:
            self.stderr.write(f"{fault.dataset} {fault.version}: {fault.what}")
        summary = (
            f"{pluralize(verified.releases, 'release')}, {pluralize(verified.files, 'file')}, "
            f"{pluralize(verified.bytes, 'byte')}: {pluralize(len(verified.faults), 'fault')}."
        )
        if verified.faults:
            raise CommandError(summary, returncode=terminal.EXIT_FINDINGS)
        self.stdout.write(summary)

    def _verify(self, name: str | None) -> ReleaseVerification:
        dataset = get_dataset(name) if name else None
        progress = terminal.Progress("Verifying")

        def operation(report: ProgressCallback) -> ReleaseVerification:
            return verify_releases(dataset, actor=None, report_progress=report)

        try:
            verified: ReleaseVerification = runs.run_in_foreground(
                "verify_releases",
                operation,
                dataset_name=dataset.name if dataset else "",
                parameters={},
                make_facts=ReleaseVerification.facts,
                report_progress=progress,
            )
        finally:
            progress.clear()
        return verified
