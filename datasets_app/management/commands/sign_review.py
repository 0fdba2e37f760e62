from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.management.base import BaseCommand
from datasets_app.releasing.sharing.sign_review import sign_review


class Command(BaseCommand):
    help = """Sign the legal review of a dataset: a person states that it may be shared.

The signature applies to the dataset as it is now. Adding sessions, or a scrub that changes
something, makes it invalid; then the review must be signed again.

example:
  manage.py sign_review support --name "Dana Ortiz" --statement "Reviewed under case 7-2026."

exit codes:
  0  signed
  2  could not run: no such dataset, no name, no database"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="NAME", help="the dataset")
        parser.add_argument("--name", required=True, metavar="FULL_NAME", help="the person who signs")
        parser.add_argument(
            "--statement", default="", metavar="TEXT", help="a statement kept with the signature"
        )

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["dataset"])
        review = sign_review(dataset, name=options["name"], statement=options["statement"])
        self.stdout.write(f"{dataset.name}: {review.name} has signed the review.")
