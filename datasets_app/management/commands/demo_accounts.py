from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from datasets_app.access.demo_accounts import FILE_NAME, create_demo_accounts
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import EXIT_COULD_NOT_RUN


class Command(BaseCommand):
    help = (
        "Make accounts to try the application with: one for each role, and the administrator admin. "
        f"Their passwords are shown once, and kept in {FILE_NAME} in the application's directory for data, "
        "readable by its owner only. Accounts that exist are left as they are. "
        "Exit codes: 0 the accounts exist, 2 they could not be made."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--if-none",
            action="store_true",
            help="make them only while nobody has an account: none that was deleted comes back",
        )

    def handle(self, *, if_none: bool, **_: Any) -> None:
        path = settings.VAR_DIR / FILE_NAME
        try:
            passwords = create_demo_accounts(settings.VAR_DIR, only_if_none=if_none)
        except OSError as error:
            raise CommandError(
                f"{path}: {error.strerror}; no account was made.", returncode=EXIT_COULD_NOT_RUN
            ) from None
        if passwords:
            self.stdout.write(f"Demonstration accounts (passwords are shown this once and kept in {path}):")
        for name, password in passwords.items():
            self.stdout.write(f"{name:<16} {password}")
        if passwords:
            return
        if path.exists():
            self.stdout.write(f"The demonstration accounts' passwords are kept in {path}")
        elif not if_none:
            self.stdout.write("The demonstration accounts exist; their passwords are not kept here.")
