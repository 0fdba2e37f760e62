from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.retention.holds import change_hold


class Command(BaseCommand):
    help = """Put a dataset on legal hold, or lift the hold. Nothing of a held dataset can be deleted.

examples:
  manage.py hold_dataset support --reason "Case 7-2026"
  manage.py hold_dataset support --reason "Case 7-2026 closed" --lift

exit codes:
  0  done
  2  could not run: no such dataset"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--reason TEXT", "why, for the audit log", required=True),
        option("--lift", "lift the hold"),
    )

    def handle(self, *, name: str, reason: str, lift: bool, **_: Any) -> None:
        change_hold(get_dataset(name), reason, held=not lift)
        state = "no longer on legal hold; retention rules apply again" if lift else "on legal hold"
        self.stdout.write(f"{name} is {state}.")
