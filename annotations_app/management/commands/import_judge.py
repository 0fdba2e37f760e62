from typing import Any

from annotations_app.judges.judges import import_judge
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import show_name
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text


class Command(BaseCommand):
    help = """Import a judge from YAML, as the first or the next version of its name (format: docs/judges.md).

examples:
  manage.py import_judge brand.yaml

exit codes:
  0  imported, or unchanged
  2  not a valid judge"""

    arguments = (option("file FILE", "a YAML file (-: stdin)"),)

    def handle(self, *, file: str, **options: Any) -> None:
        imported = import_judge(read_text(file), file_name=show_name(file))
        self.stdout.write(f"{imported.judge.full_name}: {imported.change}.")
