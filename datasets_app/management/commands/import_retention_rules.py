from typing import Any

from datasets_app.command_line.options import option
from datasets_app.command_line.streams import show_name
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.retention.rules import import_retention_rules


class Command(BaseCommand):
    help = """Replace all retention rules with those of a retention.yaml.

A file with any error changes nothing. New and changed rules delete nothing until you
activate them with activate_retention.

exit codes:
  0  replaced
  1  the file has errors (listed)
  2  could not run"""

    arguments = (option("file FILE", "a retention.yaml, or - for standard input"),)

    def handle(self, *, file: str, **_: Any) -> None:
        count = import_retention_rules(read_text(file), file_name=show_name(file))
        self.stdout.write(
            f"{format_count(count, 'retention rule')} imported. "
            "New and changed rules delete nothing until you activate them with activate_retention."
        )
