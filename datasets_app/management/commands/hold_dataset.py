from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.management.base import BaseCommand
from datasets_app.retention.holds import lift_hold, set_hold


class Command(BaseCommand):
    help = (
        "Put a dataset on legal hold: no rule and no one deletes anything of it until the hold is lifted. "
        "Exit codes: 0 done, 2 could not run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--reason", metavar="TEXT", required=True, help="why; for the audit trail")
        parser.add_argument("--lift", action="store_true", help="lift the hold")

    def handle(self, *, name: str, reason: str, lift: bool, **_: Any) -> None:
        (lift_hold if lift else set_hold)(get_dataset(name), reason)
        said = "no longer on legal hold; retention rules decide again" if lift else "on legal hold"
        self.stdout.write(f"{name} is {said}.")
