import sys
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.scrubbing.marks import mark_not_personal


class Command(BaseCommand):
    help = """Exempt a value of a dataset from scrubbing, although it looks like personal data.

The value is read from standard input, so that it stays out of the shell's history. Scrubs
and checks leave it, and every report says that the text is verified except for it.

examples:
  echo support@acme.example | manage.py exempt_term support --reason "Our own address"

exit codes:
  0  done
  2  could not run: no such dataset, no value, or no reason"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--reason TEXT", "why it may stay, for the audit log", required=True),
    )

    def handle(self, *, name: str, reason: str, **_: Any) -> None:
        mark = mark_not_personal(get_dataset(name), term=sys.stdin.read(), actor=None, override=reason)
        kind = f" ({mark.kind})" if mark.kind else ""
        self.stdout.write(
            f"{name}: a value of {len(mark.term)} characters{kind} is exempt from the next scrub on."
        )
