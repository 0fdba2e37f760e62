from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Limit who sees a dataset, or open it to everybody whose role sees datasets.

A grant lets a person, or all of a group, see a restricted dataset; what they may do there
is told by their role. All that is asked for is done, or nothing.

examples:
  manage.py limit_access support --restrict --grant ada --grant-group research
  manage.py limit_access support --revoke ada
  manage.py limit_access support --open

exit codes:
  0  done, or so already
  2  could not run: no such dataset, user or group"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        whole = parser.add_mutually_exclusive_group()
        whole.add_argument("--restrict", action="store_true", help="only who is granted it sees it")
        whole.add_argument("--open", action="store_true", help="everybody whose role sees datasets sees it")
        for option, what in (
            ("--grant", "let a person see it"),
            ("--revoke", "take a person's grant back"),
        ):
            parser.add_argument(option, metavar="USER", action="append", default=[], help=what)
        for option, what in (
            ("--grant-group", "let a group see it"),
            ("--revoke-group", "take a group's grant back"),
        ):
            parser.add_argument(option, metavar="GROUP", action="append", default=[], help=what)

    def handle(self, **options: Any) -> None:
        if not any(
            options[key] for key in ("restrict", "open", "grant", "revoke", "grant_group", "revoke_group")
        ):
            raise command_error("Say what is to be changed; see --help.")
        self._change_access(options)

    def _change_access(self, options: dict[str, Any]) -> None:
        from datasets_app.access import limit_access, who_can_see
        from datasets_app.catalog.facts import get_dataset

        dataset = get_dataset(options["name"])
        with transaction.atomic():
            # Grants first: nobody who keeps it is without it in between.
            for name in options["grant"]:
                limit_access.grant_access(dataset, limit_access.get_user(name), actor=None)
            for name in options["grant_group"]:
                limit_access.grant_access(dataset, limit_access.get_group(name), actor=None)
            for name in options["revoke"]:
                limit_access.revoke_access(dataset, limit_access.get_user(name), actor=None)
            for name in options["revoke_group"]:
                limit_access.revoke_access(dataset, limit_access.get_group(name), actor=None)
            if options["restrict"]:
                limit_access.restrict_dataset(dataset, actor=None)
            if options["open"]:
                limit_access.unrestrict_dataset(dataset, actor=None)
        seen = who_can_see.count_viewers(dataset)["all"]
        people = "1 person sees" if seen == 1 else f"{seen:,} people see"
        self.stdout.write(f"{dataset.name} is {'restricted' if dataset.restricted else 'open'}: {people} it.")
