from typing import Any

from datasets_app.catalog import gates, text_gates
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import one_of, option
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Attest that the text of a dataset may stay as it is, or withdraw that.

For public data or invented numbers: the dataset can then be read, exported, annotated
and released without a scrub, until a session is added or changed.

examples:
  manage.py attest_dataset wiki_dialogs --reason "Published under CC-BY-4.0"
  manage.py attest_dataset wiki_dialogs --withdraw

exit codes:
  0  done
  2  could not run: no such dataset, no reason, or a dataset that is not raw"""

    arguments = (
        option("name NAME", "the dataset"),
        one_of(
            option("--reason TEXT", "why the text may stay, for the audit log"),
            option("--withdraw", "the text counts as raw again"),
            required=True,
        ),
    )

    def handle(self, *, name: str, reason: str | None, withdraw: bool, **_: Any) -> None:
        dataset = get_dataset(name)
        if withdraw:
            gates.end_attestation(dataset, actor=None)
        else:
            text_gates.attest(dataset, actor=None, reason=reason or "")
        self.stdout.write(f"{name}: {gates.load_facts(dataset).description}")
