"""Who changed what somebody may do: see permission_events.py."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from datasets_app.access import roles
from datasets_app.models import AuditEvent

WORDS = "a correct horse battery staple"


def told(actor: str = "superuser") -> list[dict[str, Any]]:
    """The details of the events, without the address of the request, which those of pages have."""
    events = AuditEvent.objects.filter(action="permissions", actor__startswith=actor).order_by("id")
    details = list(events.values_list("details", flat=True))
    addresses = {one.pop("source_address", "") for one in details}
    assert addresses <= ({""} if actor == "command line" else {"127.0.0.1"})
    return details


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_user("ana", password=WORDS)


def test_what_an_administrator_changes_has_their_name(sign_in: Any, ana: User) -> None:
    client = sign_in("superuser")
    role, may = Group.objects.get(name="lead"), Permission.objects.get(codename="override_gate")
    account = {
        "username": "ana",
        "groups": [role.pk],
        "user_permissions": [may.pk],
        "is_active": "on",
        "is_staff": "on",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "10:00",
    }
    page = reverse("admin:auth_user_change", args=[ana.pk])
    for change in (account, {**account, "groups": [], "is_active": "", "username": "anna"}):
        assert client.post(page, change).status_code == 302
    password = reverse("admin:auth_user_password_change", args=[ana.pk])
    new = {"password1": WORDS + "!", "password2": WORDS + "!", "usable_password": "true"}
    assert client.post(password, new).status_code == 302
    assert client.post(reverse("admin:auth_user_delete", args=[ana.pk]), {"post": "yes"}).status_code == 302
    assert told() == [
        {"account": "ana", "change": "changed", "is_staff": True},
        {"account": "ana", "added": ["lead"]},
        {"account": "ana", "added": ["datasets_app.override_gate"]},
        {"account": "anna", "change": "changed", "is_active": False, "was_called": "ana"},
        {"account": "anna", "removed": ["lead"]},
        {"account": "anna", "change": "changed", "password": "changed"},
        {"account": "anna", "change": "deleted"},
    ]
    assert WORDS not in str(list(AuditEvent.objects.values_list("details", flat=True)))


def test_what_a_role_may_is_followed_too(sign_in: Any) -> None:
    client = sign_in("superuser")
    viewer = Group.objects.get(name="viewer")
    page = reverse("admin:auth_group_change", args=[viewer.pk])
    kept = list(viewer.permissions.values_list("pk", flat=True))
    assert client.post(page, {"name": "reader", "permissions": kept[1:]}).status_code == 302
    gone = Permission.objects.get(pk=kept[0])
    assert told() == [
        {"role": "reader", "change": "changed", "was_called": "viewer"},
        {"role": "reader", "removed": [f"{gone.content_type.app_label}.{gone.codename}"]},
    ]


def test_without_a_page_it_was_the_command_line(ana: User) -> None:
    role = Group.objects.get(name="lead")
    role.user_set.add(ana)
    ana.groups.clear()
    ana.groups.clear()
    assert told("command line")[1:] == [
        {"role": "lead", "added": ["ana"]},
        {"account": "ana", "removed": ["lead"]},
    ]
    assert told("command line")[0]["change"] == "created"


def test_coming_in_and_ones_own_password(ana: User, caplog: pytest.LogCaptureFixture) -> None:
    client = Client()
    client.post(reverse("login"), {"username": "my-password", "password": "x"})
    assert "sign-in failed (password) for an unknown name, from 127.0.0.1" in caplog.text
    assert "my-password" not in caplog.text
    assert not AuditEvent.objects.filter(action="log_in").exists()
    client.post(reverse("login"), {"username": "ana", "password": WORDS})
    assert AuditEvent.objects.get(action="log_in").actor == "ana"
    new = {"old_password": WORDS, "new_password1": WORDS + "!", "new_password2": WORDS + "!"}
    assert client.post(reverse("password_change"), new).status_code == 302
    assert told("ana") == [{"account": "ana", "change": "changed", "password": "changed"}]


@pytest.mark.django_db
def test_roles_as_they_come_are_no_event_and_what_a_version_adds_is() -> None:
    assert not told("")
    Permission.objects.get(codename="override_gate").delete()
    roles.snapshot_permissions()
    create_permissions(apps.get_app_config("datasets_app"), verbosity=0)
    roles.ensure_roles()
    assert told("command line") == [{"role": "privacy officer", "added": ["datasets_app.override_gate"]}]
