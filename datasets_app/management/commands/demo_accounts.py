from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from datasets_app.management.terminal import COULD_NOT_RUN, sentences_for_errors
from datasets_app.operations.demo_accounts import FILE_NAME, create_demo_accounts


class Command(BaseCommand):
    help = (
        "Make accounts to try the application with: one for each role, and the administrator admin. "
        f"Their passwords are shown once, and kept in {FILE_NAME} in the application's directory for data, "
        "readable by its owner only. Accounts that exist are left as they are. "
        "Exit codes: 0 the accounts exist, 2 they could not be made."
    )

    def handle(self, **_: Any) -> None:
        path = settings.VAR_DIR / FILE_NAME
        with sentences_for_errors(self.stderr):
            try:
                passwords = create_demo_accounts(settings.VAR_DIR)
            except OSError as error:
                raise CommandError(
                    f"{path}: {error.strerror}; no account was made.", returncode=COULD_NOT_RUN
                ) from None
        for name, password in passwords.items():
            self.stdout.write(f"{name:<16} {password}")
        if path.exists():
            self.stdout.write(f"The demonstration accounts' passwords are kept in {path}")
        else:
            self.stdout.write("The demonstration accounts exist; their passwords are not kept here.")
