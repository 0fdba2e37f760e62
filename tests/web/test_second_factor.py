"""Authenticator apps, recovery codes and roles that need them. Passkeys: tests/browser/test_sign_in.py."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from datasets_app.models import AuditEvent

PASSWORD = "a correct horse battery staple"


def make_code(secret: str, *, step: int = 0) -> str:
    _, counter, _ = totp.yield_hotp_counters_from_time()
    cache.clear()  # A code can be used once; tests are faster than thirty seconds.
    return totp.format_hotp_value(totp.hotp_value(secret, counter + step))


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_user("ana", password=PASSWORD, is_staff=True)


@pytest.fixture
def secret(ana: User) -> str:
    """The one of ana's authenticator app."""
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(ana, secret)
    return secret


def start_log_in(client: Client) -> Any:
    return client.post("/login/", {"username": "ana", "password": PASSWORD, "next": "/admin/"})


@pytest.mark.django_db(transaction=True)
def test_an_app_is_set_up_and_asked_for(ana: User) -> None:
    client = Client()
    client.force_login(ana)
    page = client.get("/account/app/").content.decode()
    assert "<svg" in page
    secret = page.split('class="q-key">')[1].split("<")[0]
    assert "Wrong or expired code" in client.post("/account/app/", {"code": "000000"}).content.decode()
    assert client.post("/account/app/", {"code": make_code(secret)})["Location"] == "/account/codes/"
    seen = Client()
    start_log_in(seen)
    assert seen.post("/login/code/", {"code": make_code_without_clearing(secret)}).status_code == 200
    codes = client.get("/account/codes/").content.decode()
    assert codes.count("<li><code>") == 10
    assert secret not in str(list(Authenticator.objects.values_list("data", flat=True)))

    other = Client()
    assert start_log_in(other)["Location"] == "/login/code/"
    assert other.get("/admin/").status_code == 302
    assert "Wrong or expired code" in other.post("/login/code/", {"code": "000000"}).content.decode()
    assert other.post("/login/code/", {"code": make_code(secret)})["Location"] == "/admin/"
    recovery = codes.split("<li><code>")[1].split("<")[0]
    for expected in (302, 200):
        third = Client()
        start_log_in(third)
        assert third.post("/login/code/", {"code": recovery}).status_code == expected
    events = AuditEvent.objects.filter(actor="ana").order_by("pk")
    methods = [event.details.get("by") for event in events.filter(action="log_in")]
    assert methods == [None, ["password", "totp"], ["password", "recovery_codes"]]
    kinds = [event.details["kind"] for event in events.filter(action="second_factor")]
    assert sorted(kinds) == ["recovery_codes", "totp"]
    assert AuditEvent.objects.filter(action="log_in_failed", details__step="code").count() == 3


def test_codes_can_not_be_guessed_or_used_twice(ana: User, secret: str, settings: Any) -> None:
    code = make_code(secret)
    for expected in (302, 200):
        client = Client()
        start_log_in(client)
        assert client.post("/login/code/", {"code": code}).status_code == expected
    client = Client()
    start_log_in(client)
    for _ in range(settings.SIGN_IN_FAILURES):
        client.post("/login/code/", {"code": "000000"})
    answer = client.post("/login/code/", {"code": make_code_without_clearing(secret)}).content.decode()
    assert "Too many failures" in answer


def test_a_clock_may_be_one_step_off_and_a_code_still_counts_once(
    ana: User, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(totp, "time", SimpleNamespace(time=lambda: now))
    for step, expected in ((-2, 200), (-1, 302), (1, 302), (2, 200)):
        code = make_code(secret, step=step)
        client = Client()
        start_log_in(client)
        assert client.post("/login/code/", {"code": code}).status_code == expected
    code = make_code(secret)
    for expected in (302, 200):
        client = Client()
        start_log_in(client)
        assert client.post("/login/code/", {"code": f"{code[:3]} {code[3:]}"}).status_code == expected
        # As after half a minute; the code is valid for another minute.
        cache.delete(f"allauth.mfa.totp.used?user={ana.pk}&code={code}")
    event = AuditEvent.objects.filter(action="log_in_failed").latest("pk")
    assert (event.details["step"], event.details["account"]) == ("code", "ana")


def make_code_without_clearing(secret: str) -> str:
    _, counter, _ = totp.yield_hotp_counters_from_time()
    return totp.format_hotp_value(totp.hotp_value(secret, counter))


@pytest.mark.parametrize("role", ["curator", "annotator", "superuser"])
def test_a_role_that_needs_a_factor_reaches_nothing_without_one(
    role: str, sign_in: Any, settings: Any
) -> None:
    settings.SECOND_FACTOR_ROLES = frozenset({role})
    client = sign_in(role)
    home = "/annotate/" if role == "annotator" else "/admin/"
    for address in ("/", home):
        assert client.get(address)["Location"] == "/account/"
        assert client.post(address).status_code == 403
    assert "Your role needs a second factor" in client.get("/account/").content.decode()
    assert client.get("/account/sessions/").status_code == 200
    # Recovery codes alone are no second factor.
    RecoveryCodes.activate(client.user)
    assert client.get(home).status_code == 302
    totp.TOTP.activate(client.user, totp.generate_totp_secret())
    assert client.get(home).status_code == 200


def test_other_roles_need_none(sign_in: Any, settings: Any) -> None:
    settings.SECOND_FACTOR_ROLES = frozenset({"curator"})
    assert sign_in("lead").get("/admin/").status_code == 200


def test_administrators_remove_lost_factors(ana: User, secret: str, sign_in: Any) -> None:
    theirs = Client()
    start_log_in(theirs)
    theirs.post("/login/code/", {"code": make_code(secret)})
    assert theirs.get("/account/").status_code == 200
    sent = {"action": "remove_second_factors", "_selected_action": [ana.pk]}
    sign_in("superuser").post(reverse("admin:auth_user_changelist"), sent)
    assert not Authenticator.objects.exists()
    assert theirs.get("/account/").status_code == 302
    assert start_log_in(Client())["Location"] == "/admin/"
    event = AuditEvent.objects.get(action="second_factor")
    assert (event.actor, event.details["account"]) == ("superuser", "ana")


def test_a_code_is_proof_as_well(ana: User, secret: str) -> None:
    client = Client()
    client.force_login(ana)
    session = client.session
    session["proved_at"] = 0
    session.save()
    assert client.get("/account/app/remove/").status_code == 302
    page = client.get("/account/again/?next=/account/app/remove/").content.decode()
    assert "/account/again/code/" in page
    answer = client.post("/account/again/code/", {"code": make_code(secret)})
    assert answer["Location"] == "/account/app/remove/"
    assert client.post("/account/app/remove/")["Location"] == "/account/"
    assert not Authenticator.objects.exists()


def test_misspelled_roles_stop_the_start(settings: Any) -> None:
    settings.SECOND_FACTOR_ROLES = frozenset({"curators"})
    with pytest.raises(SystemExit, match="'curators'"):
        apps.get_app_config("sign_in").ready()
