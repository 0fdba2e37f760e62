from typing import Any

from django.conf import settings

from datasets_app.access.demo_accounts import FILE_NAME, create_demo_accounts
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = f"""Create demonstration accounts: one for each role, and the administrator "admin".

Their passwords are printed once, and kept in {FILE_NAME} in the application's data
directory, readable by its owner only. Existing accounts are not changed.

exit codes:
  0  the accounts exist
  2  they could not be created"""

    arguments = (option("--if-none", "only if there are no accounts, so that none is restored"),)

    def handle(self, *, if_none: bool, **_: Any) -> None:
        path = settings.VAR_DIR / FILE_NAME
        try:
            passwords = create_demo_accounts(settings.VAR_DIR, only_if_none=if_none)
        except OSError as error:
            raise command_error(f"{path}: {error.strerror}; no account was created.") from None
        if passwords:
            self.stdout.write(f"Demonstration accounts (shown once; the passwords are kept in {path}):")
            for name, password in passwords.items():
                self.stdout.write(f"{name:<16} {password}")
        elif path.exists():
            self.stdout.write(f"The passwords of the demonstration accounts are kept in {path}")
        elif not if_none:
            self.stdout.write("The demonstration accounts exist; their passwords are not kept here.")
