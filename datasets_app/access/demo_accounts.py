"""Accounts to try the application with: one for each role, and an administrator."""

import os
import secrets
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from datasets_app.access.roles import ROLES
from datasets_app.core import audit

ADMIN_NAME = "admin"
ANNOTATOR_ROLE = "annotator"
FILE_NAME = "demo-accounts.txt"
_HEADER = (
    "# Demonstration accounts of Alignmenter Datasets. Delete them before others can reach the server.\n"
)


def create_demo_accounts(directory: Path, *, only_if_none: bool = False) -> dict[str, str]:
    """Make the accounts that are missing; returns their passwords by user name.

    An account that exists is left as it is; with ``only_if_none``, none is made where anyone has an
    account, as one that is missing may have been deleted on purpose. The passwords are also kept in
    ``directory``/demo-accounts.txt, which only its owner can read.
    """
    users = get_user_model()
    with transaction.atomic():
        if only_if_none and users.objects.exists():
            return {}
        names = [account_name(role) for role in ROLES]
        standing = set(
            users.objects.filter(username__in=[ADMIN_NAME, *names]).values_list("username", flat=True)
        )
        passwords = {name: secrets.token_urlsafe(12) for name in [ADMIN_NAME, *names] if name not in standing}
        for role in ROLES:
            if password := passwords.get(account_name(role)):
                # Who only labels has nothing to do in the admin.
                is_staff = role != ANNOTATOR_ROLE
                user = users.objects.create_user(account_name(role), password=password, is_staff=is_staff)
                user.groups.add(Group.objects.get(name=role))
        if password := passwords.get(ADMIN_NAME):
            users.objects.create_superuser(ADMIN_NAME, password=password)
        if passwords:
            audit.record("create_demo_accounts", actor=None, accounts=sorted(passwords))
            _append_passwords(directory / FILE_NAME, passwords)
    return passwords


def account_name(role: str) -> str:
    """ "privacy officer" → "privacy-officer"."""
    return role.replace(" ", "-")


def _append_passwords(path: Path, passwords: dict[str, str]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = "".join(f"{name}\t{password}\n" for name, password in passwords.items())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(lines if file.tell() else _HEADER + lines)
