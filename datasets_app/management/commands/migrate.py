from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from alignmenter_site.postgresql.roles import RolesError, connect_as_owner


class Command(migrate.Command):
    """Django's command, as the owner of the database: the application's role can't change tables."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with connect_as_owner(connections[options["database"]]):
                super().handle(*args, **options)
        except RolesError as error:
            raise CommandError(str(error)) from None
