"""Create demo accounts: one for each role, and an administrator."""

import secrets
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from datasets_app.access.roles import ROLES
from datasets_app.core import audit
from datasets_app.core.append_file import append_text

ADMIN_NAME = "admin"
ANNOTATOR_ROLE = "annotator"
FILE_NAME = "demo-accounts.txt"
_HEADER = "# Demo accounts of Alignmenter Datasets. Delete them before others can reach the server.\n"


def create_demo_accounts(directory: Path, *, only_if_none: bool = False) -> dict[str, str]:
    """Create the missing accounts and return their passwords by user name.

    Existing accounts are left alone. With ``only_if_none``, creates none if anyone has an account: a
    missing one may have been deleted on purpose. Also appends the passwords to
    ``directory``/demo-accounts.txt, which only its owner can read.
    """
    users = get_user_model()
    with transaction.atomic():
        if only_if_none and users.objects.exists():
            return {}
        names = [ADMIN_NAME, *map(account_name, ROLES)]
        existing = set(users.objects.filter(username__in=names).values_list("username", flat=True))
        passwords = {name: secrets.token_urlsafe(12) for name in names if name not in existing}
        for role in ROLES:
            if password := passwords.get(account_name(role)):
                # Annotators have nothing to do in the admin.
                is_staff = role != ANNOTATOR_ROLE
                user = users.objects.create_user(account_name(role), password=password, is_staff=is_staff)
                user.groups.add(Group.objects.get(name=role))
        if password := passwords.get(ADMIN_NAME):
            users.objects.create_superuser(ADMIN_NAME, password=password)
        if passwords:
            audit.record("create_demo_accounts", actor=None, accounts=sorted(passwords))
            path = directory / FILE_NAME
            lines = "".join(f"{name}\t{password}\n" for name, password in passwords.items())
            append_text(path, lines if path.exists() else _HEADER + lines)
    return passwords


def account_name(role: str) -> str:
    """ "privacy officer" → "privacy-officer"."""
    return role.replace(" ", "-")
