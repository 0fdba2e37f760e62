from typing import Any

from datasets_app.command_line.options import option
from datasets_app.domain.traces.table_columns import format_columns
from datasets_app.importing.mappings import delete_mapping
from datasets_app.management.base import BaseCommand
from datasets_app.models import TableMapping


class Command(BaseCommand):
    help = """List the column mappings of tables that are saved by name, or delete one.

They are saved with import_dataset --save-mapping NAME or on the import page, and used with --mapping NAME.

exit codes:
  0  listed, or deleted
  2  could not run: no mapping of this name"""

    arguments = (option("--delete NAME", "delete this mapping"),)

    def handle(self, **options: Any) -> None:
        if options["delete"]:
            delete_mapping(options["delete"])
            self.stdout.write(f"Deleted the mapping {options['delete']}.")
            return
        for mapping in TableMapping.objects.all():
            self.stdout.write(f"{mapping.name}: {format_columns(mapping.columns)}")
