from typing import Any

from annotations_app.judges.judges import get_judge
from datasets_app.command_line.options import option
from datasets_app.domain.metadata.yaml_text import dump_yaml
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Print a judge as YAML, which import_judge reads.

examples:
  manage.py export_judge brand@2 > brand.yaml

exit codes:
  0  printed
  2  no such judge"""

    arguments = (option("judge NAME", "a judge, or NAME@VERSION"),)

    def handle(self, *, judge: str, **options: Any) -> None:
        self.stdout.write(dump_yaml(get_judge(judge).document), ending="")
