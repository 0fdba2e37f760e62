"""The pages of people: who they are and what they may do, without hashes and raw permissions."""

import re
from datetime import timedelta
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, Permission, User
from django.urls import reverse
from django.utils import timezone

from datasets_app.models import AuditEvent
from datasets_app.templatetags.people_display import find_initials

PASSWORD = "a correct horse battery staple"


def text_of(html: str) -> str:
    main = html.split("<main", 1)[-1] if "<main" in html else html.split('id="content"', 1)[1]
    return " ".join(re.sub(r"<[^>]+>", " ", main).split())


def test_the_list_says_who_is_who(sign_in: Any) -> None:
    client = sign_in("superuser")
    ana = User.objects.create_user("ana", "ana@example.org", PASSWORD, first_name="Ana", last_name="López")
    ana.groups.add(Group.objects.get(name="lead"))
    UserSession.objects.create(
        user=ana, ip="127.0.0.1", session_key="k", last_seen_at=timezone.now() - timedelta(hours=3)
    )
    invited = User.objects.create_user("bo", "bo@example.org")
    User.objects.create_user("gone", password=PASSWORD, is_active=False)
    html = client.get(reverse("admin:auth_user_changelist")).content.decode()
    text = text_of(html)
    assert "AL Ana López ana ana@example.org Lead Active 3 hours ago" in text
    assert "B bo bo@example.org None Invited Never" in text
    assert "G gone – None Inactive Never" in text
    for state, names in {"active": {"ana", "superuser"}, "invited": {"bo"}, "inactive": {"gone"}}.items():
        page = client.get(reverse("admin:auth_user_changelist"), {"state": state})
        shown = {user.username for user in page.context["cl"].result_list}
        assert shown == names, state
    # Who has logged in at the company has no password and isn't "invited" any more.
    User.objects.filter(pk=invited.pk).update(last_login=timezone.now())
    listed = client.get(reverse("admin:auth_user_changelist"), {"q": "bo"}).content.decode()
    assert "bo@example.org None Active" in text_of(listed)


def test_neither_hashes_nor_raw_permissions_are_shown(sign_in: Any) -> None:
    client = sign_in("superuser")
    ana = User.objects.create_user("ana", password=PASSWORD)
    html = client.get(reverse("admin:auth_user_change", args=[ana.pk])).content.decode()
    assert ana.password not in html
    assert not re.search("pbkdf2|argon2|salt|hash", text_of(html))
    assert " | " not in text_of(html).replace(" | Alignmenter", "")
    labels = text_of(html)
    for label in ("E-mail address", "Roles", "Curator", "Permissions beyond the roles", "End sessions"):
        assert label in labels, label
    assert "Add dataset" not in labels
    role = client.get(
        reverse("admin:auth_group_change", args=[Group.objects.get(name="lead").pk])
    ).content.decode()
    assert " | " not in text_of(role)


def test_saving_keeps_a_permission_given_alone(sign_in: Any) -> None:
    """Also one that the form wouldn't offer."""
    client = sign_in("superuser")
    ana = User.objects.create_user("ana", password=PASSWORD, is_staff=True)
    held = Permission.objects.get(codename="view_dataset")
    ana.user_permissions.add(held)
    page = reverse("admin:auth_user_change", args=[ana.pk])
    form = client.get(page).context["adminform"].form
    sent = {
        "username": "ana",
        "is_active": "on",
        "is_staff": "on",
        "user_permissions": form.initial["user_permissions"],
    }
    sent["user_permissions"] = [permission.pk for permission in sent["user_permissions"]]
    assert client.post(page, sent).status_code == 302
    assert list(ana.user_permissions.all()) == [held]
    ana.refresh_from_db()
    assert ana.check_password(PASSWORD)


def test_only_superusers_make_superusers(sign_in: Any) -> None:
    client = sign_in("viewer")
    client.user.user_permissions.add(*Permission.objects.filter(codename__in=["view_user", "change_user"]))
    ana = User.objects.create_user("ana", password=PASSWORD)
    page = reverse("admin:auth_user_change", args=[ana.pk])
    may = Permission.objects.get(codename="generate_anywhere")
    sent = {"username": "ana", "is_active": "on", "is_superuser": "on", "user_permissions": [may.pk]}
    assert client.post(page, sent).status_code == 302
    ana.refresh_from_db()
    assert not ana.is_superuser
    assert not ana.user_permissions.exists()


def test_nobody_becomes_a_superuser_by_changing_one(sign_in: Any) -> None:
    client = sign_in("viewer")
    wanted = ["view_user", "change_user", "delete_user"]
    client.user.user_permissions.add(*Permission.objects.filter(codename__in=wanted))
    boss = User.objects.create_superuser("boss", "boss@example.org", PASSWORD)
    sent = {"username": "boss", "email": "me@example.org", "is_active": "on"}
    assert client.post(reverse("admin:auth_user_change", args=[boss.pk]), sent).status_code == 403
    new = {"password1": "x" + PASSWORD, "password2": "x" + PASSWORD}
    assert client.post(reverse("admin:auth_user_password_change", args=[boss.pk]), new).status_code == 403
    assert client.post(reverse("admin:auth_user_delete", args=[boss.pk]), {"post": "yes"}).status_code == 403
    people = reverse("admin:auth_user_changelist")
    for action in (
        "send_link",
        "remove_second_factors",
        "end_sessions",
        "allow_company_sign_in",
        "delete_selected",
    ):
        page = client.post(
            people, {"action": action, "_selected_action": boss.pk, "post": "yes"}, follow=True
        )
        assert "/password/reset/" not in page.content.decode()
    assert not AuditEvent.objects.filter(details__account="boss").exclude(action="permissions").exists()
    boss.refresh_from_db()
    assert (boss.email, boss.check_password(PASSWORD)) == ("boss@example.org", True)


def test_buttons_of_a_person_do_what_the_list_does(sign_in: Any) -> None:
    client = sign_in("superuser")
    ana = User.objects.create_user("ana", "ana@example.org", PASSWORD)
    html = client.get(reverse("admin:auth_user_change", args=[ana.pk])).content.decode()
    offered = re.findall(r'name="action" value="(\w+)"', html)
    assert offered == ["send_link", "remove_second_factors", "end_sessions", "allow_company_sign_in"]
    for action in offered:
        sent = {"action": action, "_selected_action": ana.pk}
        answer = client.post(reverse("admin:auth_user_changelist"), sent, follow=True)
        assert "ana" in str(next(iter(answer.context["messages"]))) or action == "end_sessions"


def test_initials() -> None:
    for username, first, last, initials in (
        ("ana.lopez", "", "", "AL"),
        ("ana", "Ana", "López", "AL"),
        ("ana", "Ana", "", "A"),
        ("ana_b-c", "", "", "AB"),
        ("x@example.org", "", "", "X"),
        ("…", "", "", "…"),
    ):
        assert find_initials(User(username=username, first_name=first, last_name=last)) == initials
