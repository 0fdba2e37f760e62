import json
from argparse import ArgumentParser
from typing import Any

from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Tell who can see a dataset, and why.

Left out are accounts that are switched off. Whoever has this command line, or the database,
sees every dataset.

examples:
  manage.py who_can_see support
  manage.py who_can_see support --all
  manage.py who_can_see support --format json | jq -r '.[].user'

exit codes:
  0  told
  2  could not run: no such dataset"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--all", action="store_true", help="also who can't, and why not")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="default: text")

    def handle(self, **options: Any) -> None:
        from datasets_app.access.who_can_see import ALL, NO_ACCESS, REPLIES, iterate_viewers
        from datasets_app.catalog.facts import get_dataset

        dataset = get_dataset(options["name"])
        only = [ALL, REPLIES, *([NO_ACCESS] if options["all"] else [])]
        found = iterate_viewers(dataset, only=only)
        if options["format"] == "json":
            self.stdout.write(json.dumps([_seer_json(seer) for seer in found], indent=2))
            return
        self.stdout.write(f"{dataset.name} is {'restricted' if dataset.restricted else 'open'}.")
        for seer in found:
            self.stdout.write(f"{seer.user.get_username()}: {seer.sees}")
            for reason in seer.reasons:
                self.stdout.write(f"  {reason}")


def _seer_json(seer: Any) -> dict[str, Any]:
    return {
        "user": seer.user.get_username(),
        "sees": seer.sees,
        "reasons": seer.reasons,
        "may": seer.may,
    }
