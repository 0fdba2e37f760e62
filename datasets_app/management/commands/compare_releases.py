import json
from typing import Any

from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.core.errors import UserError
from datasets_app.domain.releases import changelog
from datasets_app.management.base import BaseCommand
from datasets_app.models import Dataset
from datasets_app.releasing.compare import ReleaseComparison, compare_releases, comparison_to_json
from datasets_app.releasing.versions import find_release, latest_release

MAX_VALUE_CHARACTERS = 200


class Command(BaseCommand):
    help = """Compare two versions of a dataset, or a version with the current dataset.

examples:
  manage.py compare_releases support 1.0.0 1.1.0
  manage.py compare_releases support            # the latest version and the current dataset
  manage.py compare_releases support 1.0.0 --texts --format json

exit codes:
  0  no differences
  1  differences
  2  could not run"""

    arguments = (
        option("name NAME", "the dataset"),
        option("before BEFORE", "a version (default: the latest)", nargs="?"),
        option("after AFTER", "a version (default: the current dataset)", nargs="?"),
        option("--texts", "print old and new values of fields"),
        option("--format", choices=["text", "json"], default="text"),
    )

    def handle(self, **options: Any) -> None:
        comparison = _compare(options)
        if options["format"] == "json":
            differences = comparison_to_json(comparison, include_values=options["texts"])
            self.stdout.write(json.dumps(differences, indent=2, ensure_ascii=False))
        else:
            self._print_result(comparison, options["texts"])
        if comparison.bump is not None:
            raise SystemExit(EXIT_FINDINGS)

    def _print_result(self, comparison: ReleaseComparison, texts: bool) -> None:
        before, after = comparison.names
        if comparison.bump is None:
            self.stdout.write(f"No differences between {before} and {after}.")
            return
        self.stdout.write(f"From {before} to {after} (proposed: {comparison.bump})\n")
        self.stdout.write(changelog.draft_entry(comparison.difference, comparison.schema))
        for change in comparison.difference.changes if texts else ():
            for turn in change.turns:
                for item in turn.fields:
                    place = f"{change.session_id} turn {turn.turn_index} {item.name}"
                    self.stdout.write(
                        f"\n{place}\n- {_format_value(item.before)}\n+ {_format_value(item.after)}"
                    )


def _compare(options: dict[str, Any]) -> ReleaseComparison:
    dataset = get_dataset(options["name"])
    before = find_release(dataset, options["before"]) if options["before"] else _get_latest_release(dataset)
    after = find_release(dataset, options["after"]) if options["after"] else None
    raw_access.record_access(dataset, None, place="compare_releases", versions=(before, after))
    with Progress("Comparing") as progress:
        return compare_releases(dataset, before, after, report_progress=progress)


def _get_latest_release(dataset: Dataset) -> Any:
    release = latest_release(dataset)
    if release is None:
        raise UserError(f"{dataset.name} has no version to compare with. Release one with release_dataset.")
    return release


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= MAX_VALUE_CHARACTERS:
        return text
    return f"{text[:MAX_VALUE_CHARACTERS]}… ({len(text):,} characters)"
