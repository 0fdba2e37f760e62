import json
from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.core.errors import UserError
from datasets_app.domain.releases import changelog
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.models import Dataset
from datasets_app.releasing.compare import ReleaseComparison, compare_releases, comparison_to_json
from datasets_app.releasing.versions import find_release, latest_release

MAX_VALUE_CHARACTERS = 200


class Command(BaseCommand):
    help = """Say what differs between two versions of a dataset, or a version and the dataset as it stands.

examples:
  manage.py compare_releases support 1.0.0 1.1.0
  manage.py compare_releases support            # the last version and now
  manage.py compare_releases support 1.0.0 --texts --format json

exit codes:
  0  nothing differs
  1  something differs
  2  could not run"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("before", metavar="BEFORE", nargs="?", help="a version; default: the last")
        parser.add_argument("after", metavar="AFTER", nargs="?", help="a version; default: as it stands now")
        parser.add_argument("--texts", action="store_true", help="show what fields held and hold")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, **options: Any) -> None:
        compared = self._compare(options)
        if options["format"] == "json":
            found = comparison_to_json(compared, include_values=options["texts"])
            self.stdout.write(json.dumps(found, indent=2, ensure_ascii=False))
        else:
            self._print_result(compared, options["texts"])
        if compared.bump is not None:
            raise SystemExit(terminal.EXIT_FINDINGS)

    def _compare(self, options: dict[str, Any]) -> ReleaseComparison:
        dataset = get_dataset(options["name"])
        before = find_release(dataset, options["before"]) if options["before"] else _get_last_release(dataset)
        after = find_release(dataset, options["after"]) if options["after"] else None
        if options["texts"]:
            raw_access.record_access(dataset, None, place="compare_releases", versions=(before, after))
        progress = terminal.Progress("Comparing")
        try:
            return compare_releases(dataset, before, after, report_progress=progress)
        finally:
            progress.clear()

    def _print_result(self, compared: ReleaseComparison, texts: bool) -> None:
        before, after = compared.names
        if compared.bump is None:
            self.stdout.write(f"Nothing differs between {before} and {after}.")
            return
        self.stdout.write(f"From {before} to {after} (proposed: {compared.bump})\n")
        self.stdout.write(changelog.draft_entry(compared.difference, compared.schema))
        for change in compared.difference.changes if texts else ():
            for turn in change.turns:
                for item in turn.fields:
                    place = f"{change.session_id} turn {turn.turn_index} {item.name}"
                    self.stdout.write(
                        f"\n{place}\n- {_format_value(item.before)}\n+ {_format_value(item.after)}"
                    )


def _get_last_release(dataset: Dataset) -> Any:
    last = latest_release(dataset)
    if last is None:
        raise UserError(f"{dataset.name} has no version that is kept; there is nothing to compare.")
    return last


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return (
        text
        if len(text) <= MAX_VALUE_CHARACTERS
        else f"{text[:MAX_VALUE_CHARACTERS]}… ({len(text):,} characters)"
    )
