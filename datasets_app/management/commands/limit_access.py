from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from datasets_app.management import terminal
from datasets_app.management.terminal import could_not_run


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

    requires_system_checks = ()

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

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

    def handle(self, **given: Any) -> None:
        if not any(
            given[key] for key in ("restrict", "open", "grant", "revoke", "grant_group", "revoke_group")
        ):
            raise could_not_run("Say what is to be changed; see --help.")
        with terminal.sentences_for_errors(self.stderr):
            self._change(given)

    def _change(self, given: dict[str, Any]) -> None:
        from datasets_app.access import limit_access, who_can_see
        from datasets_app.catalog.facts import dataset_named

        dataset = dataset_named(given["name"])
        with transaction.atomic():
            # Grants first: nobody who keeps it is without it in between.
            for name in given["grant"]:
                limit_access.grant(dataset, limit_access.user_named(name), actor=None)
            for name in given["grant_group"]:
                limit_access.grant(dataset, limit_access.group_named(name), actor=None)
            for name in given["revoke"]:
                limit_access.revoke(dataset, limit_access.user_named(name), actor=None)
            for name in given["revoke_group"]:
                limit_access.revoke(dataset, limit_access.group_named(name), actor=None)
            if given["restrict"]:
                limit_access.restrict(dataset, actor=None)
            if given["open"]:
                limit_access.open_to_all(dataset, actor=None)
        seen = who_can_see.counted(dataset)["all"]
        people = "1 person sees" if seen == 1 else f"{seen:,} people see"
        self.stdout.write(f"{dataset.name} is {'restricted' if dataset.restricted else 'open'}: {people} it.")
