import json
from typing import Any

from datasets_app.access.who_can_see import ALL, NO_ACCESS, REPLIES, iterate_viewers
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """List who can see a dataset, and why.

Inactive accounts are left out. Anyone with access to this command line or to the database
can see every dataset.

examples:
  manage.py who_can_see support
  manage.py who_can_see support --all
  manage.py who_can_see support --format json | jq -r '.[].user'

exit codes:
  0  listed
  2  could not run: no such dataset"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--all", "also list who can't see it, and why not"),
        option("--format", "default: text", choices=["text", "json"], default="text"),
    )

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["name"])
        only = [ALL, REPLIES, *([NO_ACCESS] if options["all"] else [])]
        viewers = iterate_viewers(dataset, only=only)
        if options["format"] == "json":
            rows = [
                {
                    "user": viewer.user.get_username(),
                    "sees": viewer.sees,
                    "reasons": viewer.reasons,
                    "may": viewer.may,
                }
                for viewer in viewers
            ]
            self.stdout.write(json.dumps(rows, indent=2))
            return
        self.stdout.write(f"{dataset.name} is {'restricted' if dataset.restricted else 'open'}.")
        for viewer in viewers:
            self.stdout.write(f"{viewer.user.get_username()}: {viewer.sees}")
            for reason in viewer.reasons:
                self.stdout.write(f"  {reason}")
