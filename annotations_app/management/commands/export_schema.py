from typing import Any

from annotations_app.criteria.schemas import get_schema
from datasets_app.command_line.options import option
from datasets_app.domain.labels.schema_document import dump_schema
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import open_output


class Command(BaseCommand):
    help = """Write a schema of labels as YAML, which import_schema reads back.

exit codes:
  0  written
  2  could not run: there is no such schema, or the file can't be written"""

    arguments = (
        option("name NAME", "its latest version; NAME@2 is the second"),
        option("--out FILE", "default: -, standard output", default="-"),
    )

    def handle(self, *, name: str, out: str, **_: Any) -> None:
        text = dump_schema(get_schema(name).content)
        with open_output(out) as file:
            file.write(text.encode())
