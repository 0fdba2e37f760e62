from typing import Any

from django.db import transaction

from annotations_app.criteria.schemas import (
    READY_MADE_NAMES,
    SchemaImport,
    import_schema,
    read_ready_made,
    save_schema,
)
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import show_name
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Import schemas of labels: what campaigns ask.

A new name creates a schema; of a known one a file that says something else is its next version.
Campaigns keep the version they were made with. The format: docs/schemas.md.

exit codes:
  0  imported
  2  could not run: a file was refused, and nothing is imported"""

    arguments = (
        option("files FILE", "a YAML file, or - for standard input", nargs="*"),
        option(
            "--ready-made NAME",
            f"one that comes with the application: {', '.join(READY_MADE_NAMES)}; repeatable",
            repeatable=True,
            choices=READY_MADE_NAMES,
        ),
    )

    def handle(self, *, files: list[str], ready_made: list[str], **_: Any) -> None:
        if not (files or ready_made):
            raise command_error("Name a file, or choose one with --ready-made NAME.")
        with transaction.atomic():
            for name in ready_made:
                self._report(save_schema(read_ready_made(name)))
            for file in files:
                self._report(import_schema(read_text(file), file_name=show_name(file)))

    def _report(self, imported: SchemaImport) -> None:
        schema = imported.schema
        self.stdout.write(f"{schema.name}: {imported.change}, version {schema.version}.")
