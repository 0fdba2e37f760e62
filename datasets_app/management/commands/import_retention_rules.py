from argparse import ArgumentParser
from typing import Any

from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.retention.rules import import_retention_rules


class Command(BaseCommand):
    help = (
        "Replace all retention policies by those of a retention.yaml. A file that is not wholly understood "
        "changes nothing. Exit codes: 0 replaced, 1 the file is wrong, 2 could not run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a retention.yaml, or - for standard input")

    def handle(self, *, file: str, **_: Any) -> None:
        count = import_retention_rules(read_text(file), file_name=file)
        self.stdout.write(
            f"Retention policies there now: {count}. "
            "Those that are new or changed delete nothing before activate_retention lets them."
        )
