import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from datasets_app.catalog import gates
from datasets_app.catalog.facts import get_dataset
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.releases.versions import BUMPS
from datasets_app.jobs import runs
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import pluralize
from datasets_app.models import Dataset
from datasets_app.releasing import files
from datasets_app.releasing.draft import draft_release
from datasets_app.releasing.readiness import assess_readiness
from datasets_app.releasing.release_dataset import ReleaseResult, release_dataset


class Command(BaseCommand):
    help = """Freeze a dataset as a version: immutable, with digests, a signature and a changelog.

The first is 1.0.0. Which number grows is proposed from what has changed since the last:
fields appear or vanish: major; sessions come or go: minor; anything else: patch.

A version needs checks without error, a verified scrub if it holds production data, and
a complete list before sharing. --override releases it all the same; the reason is kept
with the release and in the audit trail.

examples:
  manage.py release_dataset support --dry-run
  manage.py release_dataset support --notes "Corrected after the May review"
  manage.py release_dataset support --bump major

exit codes:
  0  released; with --dry-run: it could be
  1  with --dry-run: something stands in the way
  2  could not run, or something stands in the way; nothing was released"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--bump", choices=BUMPS, help="which number grows; default: as proposed")
        parser.add_argument("--notes", metavar="TEXT", default="", help="stands above the changelog's entry")
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why to release what is not ready"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be released")

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["name"])
        place = Path(settings.VAR_DIR, "tmp")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=files.WORK_FOLDER_PREFIX, dir=place) as folder:
            if options["dry_run"]:
                self._print_draft(dataset, Path(folder), options)
            else:
                self._release(dataset, Path(folder), options)

    def _release(self, dataset: Dataset, folder: Path, options: dict[str, Any]) -> None:
        progress = terminal.Progress("Releasing")

        def operation(report: ProgressCallback) -> ReleaseResult:
            return release_dataset(
                dataset,
                folder=folder,
                bump=options["bump"],
                notes=options["notes"],
                override=options["override"],
                actor=None,
                report_progress=report,
            )

        try:
            released: ReleaseResult = runs.run_in_foreground(
                "release_dataset",
                operation,
                dataset_name=dataset.name,
                parameters={key: options[key] for key in ("bump", "notes", "override")},
                make_facts=ReleaseResult.facts,
                report_progress=progress,
            )
        finally:
            progress.clear()
        self.stdout.write(
            f"{dataset.name} {released.version}: {pluralize(released.turns, 'turn')} in "
            f"{pluralize(released.sessions, 'session')}, {pluralize(released.size, 'byte')}, "
            f"sha256 {released.sha256}"
        )

    def _print_draft(self, dataset: Dataset, folder: Path, options: dict[str, Any]) -> None:
        gates.check_can_copy(dataset)
        progress = terminal.Progress("Looking")
        try:
            draft = draft_release(dataset, folder, progress)
        finally:
            progress.clear()
        if draft.last is not None and draft.proposed is None:
            self.stdout.write(f"Nothing has changed since {draft.last.version}.")
        else:
            self.stdout.write(f"{dataset.name} {draft.version(options['bump'])}\n\n{draft.entry}")
        blockers = assess_readiness(dataset, draft.frozen.totals).blockers
        for blocker in blockers:
            self.stderr.write(f"Blocker: {blocker}")
        if blockers:
            raise CommandError(
                "The dataset can't be released yet; resolve the blockers, or pass --override with a reason.",
                returncode=terminal.EXIT_FINDINGS,
            )
