from typing import Any

from django.core.management.base import CommandError

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.written_text import check_written
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.releases.versions import BUMPS
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.models import Dataset
from datasets_app.releasing import files
from datasets_app.releasing.draft import draft_release
from datasets_app.releasing.parameters import ReleaseParameters
from datasets_app.releasing.readiness import assess_readiness
from datasets_app.releasing.tasks import release_dataset


class Command(BaseCommand):
    help = """Release a version of a dataset: immutable, with digests, a signature and a changelog.

The first version is 1.0.0. The version bump is proposed from the changes since the last one:
major if fields appear or disappear, minor if sessions are added or removed, else patch.

A release needs checks without errors and, if the dataset contains production data, a verified
scrub. --override releases anyway; the reason is kept with the release and in the audit log. The
sharing checklist isn't required: a package needs it.

examples:
  manage.py release_dataset support --dry-run
  manage.py release_dataset support --notes "Corrected after the May review"
  manage.py release_dataset support --bump major

exit codes:
  0  released; with --dry-run: ready for release
  1  with --dry-run: there are blockers (listed)
  2  could not run, or there are blockers; nothing was released"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--bump", "the version bump (default: as proposed)", choices=BUMPS),
        option("--notes TEXT", "introduces the entry in the changelog", default=""),
        option("--override REASON", "release despite blockers, for this reason", default=""),
        option("--dry-run", "only print what would be released"),
    )

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["name"])
        (self._print_draft if options["dry_run"] else self._release)(dataset, options)

    def _release(self, dataset: Dataset, options: dict[str, Any]) -> None:
        check_written(dataset, {"notes": options["notes"]})  # before a job's row would keep them
        released = run_job(
            "release_dataset",
            release_dataset,
            progress=Progress("Releasing"),
            dataset_name=dataset.name,
            parameters=ReleaseParameters.from_options(options),
        )
        self.stdout.write(
            f"{dataset.name} {released.version}: {format_count(released.turns, 'turn')} in "
            f"{format_count(released.sessions, 'session')}, {format_count(released.size, 'byte')}, "
            f"sha256 {released.sha256}"
        )

    def _print_draft(self, dataset: Dataset, options: dict[str, Any]) -> None:
        gates.check_can_copy(dataset)
        with files.work_folder() as folder, Progress("Comparing") as progress:
            draft = draft_release(dataset, folder, progress)
        if draft.last is not None and draft.proposed is None:
            self.stdout.write(f"Nothing has changed since {draft.last.version}.")
        else:
            if draft.last is not None:  # names sessions
                raw_access.record_access(dataset, None, place="releases", versions=(draft.last,))
            self.stdout.write(f"{dataset.name} {draft.version(options['bump'])}\n\n{draft.entry}")
        blockers = assess_readiness(dataset, draft.frozen.totals).blockers
        for blocker in blockers:
            self.stderr.write(f"Blocker: {blocker}")
        if blockers:
            raise CommandError(
                "The dataset can't be released yet; resolve the blockers, or pass --override with a reason.",
                returncode=EXIT_FINDINGS,
            )
