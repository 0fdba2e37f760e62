from typing import Any

from django.db import transaction

from datasets_app.access import limit_access, who_can_see
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import one_of, option
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error

# Grants come first, so that a person who keeps access never loses it in between.
CHANGES = (
    ("grant", "USER", "let a person see it", limit_access.grant_access, limit_access.get_user),
    ("grant_group", "GROUP", "let a group see it", limit_access.grant_access, limit_access.get_group),
    ("revoke", "USER", "revoke a person's grant", limit_access.revoke_access, limit_access.get_user),
    ("revoke_group", "GROUP", "revoke a group's grant", limit_access.revoke_access, limit_access.get_group),
)


class Command(BaseCommand):
    help = """Restrict who can see a dataset, or open it to every role that can see datasets.

A grant lets a person, or every member of a group, see a restricted dataset; their role says
what they can do with it. Either all changes are made, or none.

examples:
  manage.py limit_access support --restrict --grant ada --grant-group research
  manage.py limit_access support --revoke ada
  manage.py limit_access support --open

exit codes:
  0  done
  2  could not run: no such dataset, user or group"""

    arguments = (
        option("name NAME", "the dataset"),
        one_of(
            option("--restrict", "only people with a grant see it"),
            option("--open", "every role that sees datasets sees it"),
        ),
        *(
            option(f"--{key.replace('_', '-')} {metavar}", f"{help}; may be repeated", repeatable=True)
            for key, metavar, help, _, _ in CHANGES
        ),
    )

    def handle(self, **options: Any) -> None:
        if not any(options[key] for key in ("restrict", "open", *(change[0] for change in CHANGES))):
            raise command_error("Nothing to change. Use --restrict, --open, --grant or --revoke; see --help.")
        dataset = get_dataset(options["name"])
        with transaction.atomic():
            for option, _, _, change, find in CHANGES:
                for name in options[option]:
                    change(dataset, find(name), actor=None)
            if options["restrict"]:
                limit_access.restrict_dataset(dataset, actor=None)
            if options["open"]:
                limit_access.unrestrict_dataset(dataset, actor=None)
        count = who_can_see.count_viewers(dataset)["all"]
        viewers = f"{format_count(count, 'person', 'people')} can see it"
        self.stdout.write(f"{dataset.name} is {'restricted' if dataset.restricted else 'open'}: {viewers}.")
