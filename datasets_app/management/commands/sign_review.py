import getpass
import sys
from typing import Any

from django.contrib.auth import authenticate

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error
from datasets_app.releasing.sharing.sign_review import describe_end, sign_review


def authenticate_account(username: str, permission: str) -> Any:
    """The active account of that name, after its password: typed, or the first line of standard input.

    Raises CommandError if the password is wrong or the account lacks ``permission``.
    """
    if sys.stdin.isatty():
        password = getpass.getpass(f"Password of {username}: ")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    user = authenticate(username=username, password=password)
    if user is None:
        raise command_error(
            f"The user name or the password of {username} is wrong, or the account is inactive."
        )
    if not user.has_perm(permission):
        raise command_error(f"The account {username} doesn't have the permission {permission}.")
    return user


class Command(BaseCommand):
    help = """Sign the legal review of a dataset: a person states that it may be shared.

You sign with your account, which needs the permission to sign, and its password: it is asked
for, or read from standard input.

The signature applies to the dataset as it is now. Whatever changes what a package holds makes
it invalid, each new label of an open campaign as well; then the review must be signed again.

example:
  manage.py sign_review support --as dortiz --statement "Reviewed under case 7-2026."

exit codes:
  0  signed
  2  could not run: no such dataset, wrong password, no permission, no database"""

    arguments = (
        option("dataset NAME", "the dataset"),
        option("--as USERNAME", "your account", dest="username", required=True),
        option("--statement TEXT", "a statement kept with the signature", default=""),
    )

    def handle(self, **options: Any) -> None:
        dataset = get_dataset(options["dataset"])
        account = authenticate_account(options["username"], "datasets_app.sign_review")
        review = sign_review(dataset, statement=options["statement"], actor=account)
        self.stdout.write(f"{dataset.name}: {review.name} has signed the review.")
        if end := describe_end(dataset):
            self.stderr.write(end)
