from typing import Any

from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import open_output
from datasets_app.retention.rules import export_retention_rules


class Command(BaseCommand):
    help = """Write all retention rules as retention.yaml, in the order in which they apply.

exit codes:
  0  written
  2  could not run"""

    arguments = (option("--out FILE", "default: -, standard output", default="-"),)

    def handle(self, *, out: str, **_: Any) -> None:
        with open_output(out) as file:
            file.write(export_retention_rules().encode())
