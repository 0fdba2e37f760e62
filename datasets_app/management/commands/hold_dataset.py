from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.management.base import BaseCommand
from datasets_app.retention.holds import lift_hold, set_hold


class Command(BaseCommand):
    help = """Put a dataset on legal hold, or lift the hold. Nothing of a held dataset can be deleted.

examples:
  manage.py hold_dataset support --reason "Case 7-2026"
  manage.py hold_dataset support --reason "Case 7-2026 closed" --lift

exit codes:
  0  done
  2  could not run: no such dataset"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--reason", metavar="TEXT", required=True, help="why, for the audit log")
        parser.add_argument("--lift", action="store_true", help="lift the hold")

    def handle(self, *, name: str, reason: str, lift: bool, **_: Any) -> None:
        (lift_hold if lift else set_hold)(get_dataset(name), reason)
        state = "no longer on legal hold; retention rules apply again" if lift else "on legal hold"
        self.stdout.write(f"{name} is {state}.")
