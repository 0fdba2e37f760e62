"""The account for which a command acts, where an account is needed."""

import getpass
import sys
from typing import Any

from django.contrib.auth import authenticate

from datasets_app.management.terminal import command_error


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
