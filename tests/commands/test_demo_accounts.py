"""The demonstration accounts: one for each role, with passwords shown once and kept privately."""

import stat
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate, get_user_model

from datasets_app.access.roles import ROLES
from datasets_app.models import AuditEvent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def accounts(manage: Any, settings: Any, tmp_path: Path) -> Any:
    from django.contrib.auth.models import Group

    from datasets_app.access.roles import ensure_roles

    if not Group.objects.exists():  # a flushed database has lost what migrating made
        ensure_roles()
    settings.VAR_DIR = tmp_path / "var"
    return lambda *options: manage("demo_accounts", *options)


def test_every_role_has_an_account_that_can_log_in(accounts: Any, tmp_path: Path) -> None:
    done = accounts()
    assert done.returncode == 0, done.stderr
    heading, *lines = done.stdout.splitlines()
    assert heading.startswith("Demonstration accounts (shown once; the passwords are kept in ")
    assert str(tmp_path / "var" / "demo-accounts.txt") in heading
    shown = dict(line.split() for line in lines)
    assert set(shown) == {"admin", "curator", "annotator", "lead", "privacy-officer", "viewer"}
    for name, password in shown.items():
        user = authenticate(username=name, password=password)
        assert user is not None
        assert user.is_staff == (name != "annotator")
        assert user.is_superuser == (name == "admin")
        assert [group.name for group in user.groups.all()] == [
            role for role in ROLES if role.replace(" ", "-") == name
        ]
    file = tmp_path / "var" / "demo-accounts.txt"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert all(password in file.read_text() for password in shown.values())
    assert not any(password in str(list(AuditEvent.objects.values("details"))) for password in shown.values())


def test_a_second_time_shows_where_the_passwords_are_and_not_what_they_are(
    accounts: Any, tmp_path: Path
) -> None:
    accounts()
    kept = (tmp_path / "var" / "demo-accounts.txt").read_text()
    again = accounts()
    assert "demo-accounts.txt" in again.stdout
    assert len(again.stdout.splitlines()) == 1
    assert (tmp_path / "var" / "demo-accounts.txt").read_text() == kept


def test_an_account_that_exists_is_left_as_it_is(accounts: Any) -> None:
    get_user_model().objects.create_user("curator", password="my own")
    done = accounts()
    assert not [line for line in done.stdout.splitlines() if line.startswith("curator")]
    user = authenticate(username="curator", password="my own")
    assert user is not None
    assert not user.is_staff


def test_one_that_was_deleted_does_not_come_back_when_the_application_is_started_again(
    accounts: Any, tmp_path: Path
) -> None:
    users = get_user_model().objects
    assert "Demonstration accounts" in accounts("--if-none").stdout
    users.get(username="admin").delete()
    again = accounts("--if-none")
    assert again.returncode == 0, again.stderr
    assert not users.filter(username="admin").exists()
    assert len(again.stdout.splitlines()) == 1
    assert "kept in" in again.stdout
    (tmp_path / "var" / "demo-accounts.txt").unlink()
    assert accounts("--if-none").stdout == ""


def test_where_someone_has_an_account_starting_makes_no_others(accounts: Any, tmp_path: Path) -> None:
    users = get_user_model().objects
    users.create_superuser("root", password="my own")
    done = accounts("--if-none")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert [user.username for user in users.all()] == ["root"]
    assert not (tmp_path / "var" / "demo-accounts.txt").exists()
