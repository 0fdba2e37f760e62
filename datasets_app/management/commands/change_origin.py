from typing import Any

from datasets_app.catalog.edit import change_origin
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.models import Dataset


class Command(BaseCommand):
    help = """Change the origin of a dataset, which decides which rules apply to it.

An import never changes it. The audit log records both origins and the reason.

example:
  manage.py change_origin support production --override "Was uploaded as external by mistake"

exit codes:
  0  changed
  2  could not run: no such dataset, no reason, it has that origin, a scrub is running"""

    arguments = (
        option("dataset NAME", "the dataset"),
        option("origin", choices=Dataset.Origin.values),
        option("--override REASON", "why, for the audit log", default=""),
    )

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["dataset"])
        before = dataset.origin
        change_origin(dataset, options["origin"], override=options["override"], actor=None)
        self.stdout.write(f"{dataset.name}: the origin is {dataset.origin} now; it was {before}.")
