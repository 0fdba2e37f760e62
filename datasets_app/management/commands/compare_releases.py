import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import dataset_named
from datasets_app.core.errors import Refused
from datasets_app.domain.releases import changelog
from datasets_app.management import terminal
from datasets_app.models import Dataset
from datasets_app.releasing.compare import Compared, as_object, compare_releases, latest_release, release_of

LONGEST_VALUE = 200


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

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("before", metavar="BEFORE", nargs="?", help="a version; default: the last")
        parser.add_argument("after", metavar="AFTER", nargs="?", help="a version; default: as it stands now")
        parser.add_argument("--texts", action="store_true", help="show what fields held and hold")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, **given: Any) -> None:
        with terminal.sentences_for_errors(self.stderr):
            compared = self._compared(given)
            if given["format"] == "json":
                found = as_object(compared, values=given["texts"])
                self.stdout.write(json.dumps(found, indent=2, ensure_ascii=False))
            else:
                self._tell(compared, given["texts"])
        if compared.bump is not None:
            raise SystemExit(terminal.FINDINGS)

    def _compared(self, given: dict[str, Any]) -> Compared:
        dataset = dataset_named(given["name"])
        before = release_of(dataset, given["before"]) if given["before"] else _last(dataset)
        after = release_of(dataset, given["after"]) if given["after"] else None
        if given["texts"]:
            raw_access.read_versions(dataset, (before, after), None, place="compare_releases")
        progress = terminal.Progress("Comparing")
        try:
            return compare_releases(dataset, before, after, report_progress=progress)
        finally:
            progress.clear()

    def _tell(self, compared: Compared, texts: bool) -> None:
        before, after = compared.names
        if compared.bump is None:
            self.stdout.write(f"Nothing differs between {before} and {after}.")
            return
        self.stdout.write(f"From {before} to {after} (proposed: {compared.bump})\n")
        self.stdout.write(changelog.drafted(compared.difference, compared.schema))
        for change in compared.difference.changes if texts else ():
            for turn in change.turns:
                for item in turn.fields:
                    place = f"{change.session_id} turn {turn.turn_index} {item.name}"
                    self.stdout.write(f"\n{place}\n- {_shown(item.before)}\n+ {_shown(item.after)}")


def _last(dataset: Dataset) -> Any:
    last = latest_release(dataset)
    if last is None:
        raise Refused(f"{dataset.name} has no version that is kept; there is nothing to compare.")
    return last


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"
