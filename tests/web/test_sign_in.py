"""Signing in and out: limits, events, sessions, passwords."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from smtplib import SMTPException
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from alignmenter_site import embedded
from alignmenter_site.cache import SharedCache
from alignmenter_site.client_address import client_address
from alignmenter_site.env import EnvironmentVariableError, networks
from alignmenter_site.sign_in.adapters import mail_thread
from datasets_app.access.accounts import clear_expired_sessions, make_link
from datasets_app.access.tokens import create_token, find_token
from datasets_app.core.web.reauthentication import SIGNED_IN_AT
from datasets_app.models import ApiToken, AuditEvent
from tests.environment import VAR_DIR

PASSWORD = "a correct horse battery staple"
FAILED = "Wrong user name or password."


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_user("ana", "ana@example.org", PASSWORD, is_staff=True)


def log_in(name: str, password: str, address: str = "192.0.2.1", client: Client | None = None) -> Any:
    given = {"username": name, "password": password}
    return (client or Client()).post(reverse("login"), given, REMOTE_ADDR=address)


def details_of(action: str) -> list[dict[str, Any]]:
    return list(AuditEvent.objects.filter(action=action).order_by("pk").values_list("details", flat=True))


# --- guessing ---


def test_after_forty_wrong_passwords_the_right_one_waits_too(
    ana: User, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    answers = [log_in("ana", f"wrong {number}") for number in range(40)]
    right = log_in("ana", PASSWORD)
    assert right.status_code == 200
    # Neither the status nor the page says whether the account is locked, or the password right.
    pages = {
        answer.content.decode().split('role="alert">')[1].split("</p>")[0] for answer in [*answers, right]
    }
    assert len(pages) == 1
    assert FAILED in pages.pop()
    assert {answer.status_code for answer in answers} == {200}
    expected = {"account": "ana", "key": ana.pk, "source_address": "192.0.2.1"}
    assert details_of("log_in_failed") == [{**expected, "step": "password"}] * settings.SIGN_IN_FAILURES
    assert details_of("locked_out") == [expected]
    assert set(AuditEvent.objects.exclude(action="permissions").values_list("actor", flat=True)) == {
        "not signed in"
    }
    assert f"sign-in failed (password) for account {ana.pk}, from 192.0.2.1" in caplog.text
    assert f"sign-in locked for account {ana.pk}, from 192.0.2.1" in caplog.text
    # Others are not locked out with them.
    User.objects.create_user("ben", password=PASSWORD)
    assert log_in("ben", PASSWORD, "192.0.2.2").status_code == 302


def test_one_address_can_not_try_many_accounts(ana: User, settings: Any) -> None:
    for number in range(settings.SIGN_IN_FAILURES * 5):
        log_in(f"nobody-{number}", "guess")
    assert FAILED in log_in("ana", PASSWORD).content.decode()
    assert log_in("ana", PASSWORD, "198.51.100.7").status_code == 302
    assert details_of("log_in_failed") == []


def test_disabled_accounts_and_unknown_names_get_the_same_answer(ana: User) -> None:
    ana.is_active = False
    ana.save()
    pages = [log_in(name, PASSWORD).content.decode() for name in ("ana", "nobody")]
    assert all(FAILED in page for page in pages)


def test_failures_are_counted_for_all_processes(ana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded.ensure_valkey(VAR_DIR)
    monkeypatch.setattr(SharedCache, "away_until", 0.0)
    for _ in range(12):
        log_in("ana", "wrong", "192.0.2.77")
    cache.clear()  # What this process knows; another has another memory.
    assert FAILED in log_in("ana", PASSWORD, "192.0.2.78").content.decode()
    monkeypatch.setattr(SharedCache, "away_until", time.monotonic() + 60)
    assert log_in("ana", PASSWORD, "192.0.2.79").status_code == 302


# --- addresses ---


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "expected"),
    [
        ("", "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("10.0.0.0/8", "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("10.0.0.0/8", "10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.0/8", "10.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.0/8", "10.0.0.1", "198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.0/8", "10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", "<script>", "10.0.0.1"),
        ("10.0.0.0/8", "", "203.0.113.9", "203.0.113.9"),
        ("", "", "203.0.113.9", "0.0.0.0"),
        ("10.0.0.1", "::ffff:10.0.0.1", "2001:db8::7", "2001:db8::7"),
    ],
)
def test_only_trusted_proxies_say_where_a_request_comes_from(
    trusted: str, peer: str, forwarded: str, expected: str, rf: Any, settings: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("ALIGNMENTER_TRUSTED_PROXIES", trusted)
    settings.TRUSTED_PROXIES = networks("ALIGNMENTER_TRUSTED_PROXIES")
    request = rf.get("/", REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == expected


def test_a_proxy_that_is_no_address_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALIGNMENTER_TRUSTED_PROXIES", "10.0.0.1,proxy.internal")
    with pytest.raises(EnvironmentVariableError, match="addresses or networks"):
        networks("ALIGNMENTER_TRUSTED_PROXIES")


# --- events ---


def test_signing_in_and_out_and_refusals_are_recorded_with_their_address(ana: User) -> None:
    client = Client()
    assert log_in("ana", PASSWORD, "2001:db8::1", client)["Location"] == "/"
    for _ in range(2):
        client.get("/admin/datasets_app/auditevent/", REMOTE_ADDR="2001:db8::1")
    client.post(reverse("logout"), REMOTE_ADDR="2001:db8::1")
    events = AuditEvent.objects.filter(actor="ana").order_by("pk").values_list("action", "details")
    address = {"source_address": "2001:db8::1"}
    assert list(events) == [
        ("log_in", {"by": ["password"], **address}),
        # The same page again is the same refusal.
        (
            "refused",
            {"page": "admin:datasets_app_auditevent_changelist", "reason": "no permission", **address},
        ),
        ("log_out", address),
    ]


def test_logging_out_clears_what_the_browser_stores(ana: User) -> None:
    client = Client()
    for sent, cleared in (({}, '"cache"'), ({"storage": "empty"}, '"cache", "storage"')):
        client.force_login(ana)
        assert client.post(reverse("logout"), sent)["Clear-Site-Data"] == cleared


# --- sessions ---


@pytest.fixture
def pass_time(ana: User) -> Callable[[Client, timedelta], None]:
    """Let a session be older: what it expires at and when it began move into the past."""

    def pass_by(client: Client, period: timedelta) -> None:
        row = Session.objects.get(session_key=client.cookies["sessionid"].value)
        data = client.session
        data[SIGNED_IN_AT] -= period.total_seconds()
        data.set_expiry(row.expire_date - period)
        data.save()

    return pass_by


def test_sessions_end_without_activity_and_after_some_hours(
    ana: User, pass_time: Callable[[Client, timedelta], None]
) -> None:
    client = Client()
    client.force_login(ana)
    for _ in range(4):
        assert client.get("/account/").status_code == 200
        pass_time(client, timedelta(minutes=29))
        # What scripts ask by themselves doesn't count.
        assert client.get("/account/", headers={"X-Background": "1"}).status_code == 200
    pass_time(client, timedelta(minutes=2))
    assert client.get("/account/")["Location"] == "/login/?next=/account/"

    client.force_login(ana)
    for _ in range(24):
        assert client.get("/account/").status_code == 200
        pass_time(client, timedelta(minutes=29, seconds=55))
    client.get("/account/")
    pass_time(client, timedelta(minutes=3))
    assert client.get("/account/").status_code == 302


def test_sessions_of_versions_without_limits_end(ana: User) -> None:
    client = Client()
    client.force_login(ana)
    session = client.session
    del session[SIGNED_IN_AT]
    session.save()
    assert client.get("/account/").status_code == 302


def test_people_end_their_own_other_sessions(ana: User) -> None:
    here, there, third = Client(), Client(HTTP_USER_AGENT="Mozilla (Windows) Firefox/140"), Client()
    for client in (here, there, third):
        log_in("ana", PASSWORD, "192.0.2.5", client)
        client.get("/account/")
    page = here.get("/account/sessions/").content.decode()
    assert "Firefox on Windows" in page
    assert page.count("192.0.2.5") >= 3
    assert page.count("This session") == 1
    ben = User.objects.create_user("ben", password=PASSWORD)
    stranger = Client()
    stranger.force_login(ben)
    theirs = UserSession.objects.get(user_agent__contains="Firefox")
    assert stranger.post("/account/sessions/", {"session": theirs.pk}).status_code == 404
    assert here.post("/account/sessions/", {"session": theirs.pk}).status_code == 302
    assert [client.get("/account/").status_code for client in (here, there, third)] == [200, 302, 200]
    here.post("/account/sessions/")
    assert [client.get("/account/").status_code for client in (here, third)] == [200, 302]
    assert [one["sessions"] for one in details_of("end_sessions")] == [1, 1]


def test_expired_sessions_are_cleared(ana: User) -> None:
    for expired in (False, True):
        client = Client()
        log_in("ana", PASSWORD, client=client)
        if expired:
            rows = Session.objects.filter(session_key=client.cookies["sessionid"].value)
            rows.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert clear_expired_sessions() == 1
    assert Session.objects.count() == UserSession.objects.count() == 1


# --- passwords ---


def test_new_passwords_are_long_and_not_common_and_old_ones_work(ana: User) -> None:
    ana.set_password("short")
    ana.save()
    client = Client()
    assert log_in("ana", "short", client=client).status_code == 302
    for new, reason in (("eleven char", "at least 12 characters"), ("1q2w3e4r5t6y", "too common")):
        sent = {"old_password": "short", "new_password1": new, "new_password2": new}
        assert reason in client.post(reverse("password_change"), sent).content.decode()


def test_a_reset_by_mail_unlocks_and_ends_other_sessions(
    ana: User, mailoutbox: list[Any], settings: Any
) -> None:
    other = Client()
    other.force_login(ana)
    for _ in range(20):
        log_in("ana", "wrong")
    for address in ("ANA@example.org", "nobody@example.org"):
        answer = Client().post(reverse("account_reset_password"), {"email": address})
        assert answer["Location"] == "/password/reset/sent/"
    mail_thread.submit(int).result()
    assert [mail.to for mail in mailoutbox] == [["ana@example.org"]]
    assert "Set a new password" in mailoutbox[0].subject
    link = next(word for word in mailoutbox[0].body.split() if word.startswith("http"))
    client = Client()
    form = client.get(link, follow=True)
    # The address bar doesn't keep the key.
    assert form.request["PATH_INFO"].endswith("-set-password/")
    new = {"password1": PASSWORD + "!", "password2": PASSWORD + "!"}
    assert client.post(form.request["PATH_INFO"], new)["Location"] == "/password/reset/done/"
    assert other.get("/account/").status_code == 302
    assert log_in("ana", PASSWORD + "!").status_code == 302
    assert "This link doesn't work" in Client().get(link, follow=True).content.decode()
    changed = AuditEvent.objects.get(action="permissions", details__password="changed")
    assert (changed.actor, changed.details["source_address"]) == ("ana", "127.0.0.1")


@pytest.mark.parametrize("fails", [True, False])
def test_neither_time_nor_failure_of_a_mail_tells_who_has_an_account(
    fails: bool, ana: User, monkeypatch: pytest.MonkeyPatch, caplog: Any, settings: Any
) -> None:
    """The answer doesn't wait for the mail server, whether that stalls or refuses."""
    waits, done = threading.Event(), threading.Event()

    def send(*_: Any) -> None:
        waits.wait(10)
        done.set()
        if fails:
            raise SMTPException("550 ana@example.org")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", send)
    answers = [
        Client().post(reverse("account_reset_password"), {"email": address})
        for address in ("ana@example.org", "nobody@example.org")
    ]
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [
        (302, "/password/reset/sent/")
    ] * 2
    assert not done.is_set()
    waits.set()
    mail_thread.submit(int).result()
    assert done.is_set()
    assert ("could not be sent (SMTPException)" in caplog.text, "ana@" in caplog.text) == (fails, False)


def test_a_mailed_link_leads_to_this_server_alone(db: None, mailoutbox: list[Any], settings: Any) -> None:
    """The Host header is the client's, and gunicorn takes SERVER_PORT from it on a Unix socket."""
    User.objects.create_user("ana", "ana@example.org", PASSWORD)

    def mailed(**environment: str) -> str:
        sent = {"email": "ana@example.org"}
        Client().post(reverse("account_reset_password"), sent, SERVER_NAME="localhost", **environment)
        mail_thread.submit(int).result()
        link = next(word for word in mailoutbox.pop().body.split() if word.startswith("http"))
        return str(link.partition("/password/")[0])

    assert mailed(SERVER_PORT="6666", REMOTE_ADDR="") == "http://localhost"
    assert mailed(SERVER_PORT="8130", HTTP_HOST="localhost:6666") == "http://localhost"
    assert mailed(SERVER_PORT="8130") == "http://localhost:8130"
    settings.BASE_URL = "https://datasets.example.org"
    assert mailed(SERVER_PORT="8130") == "https://datasets.example.org"


def test_invited_people_set_their_own_password(sign_in: Any, mailoutbox: list[Any], settings: Any) -> None:
    client = sign_in("superuser")
    lead = Group.objects.get(name="lead")
    sent = {"username": "eva", "email": "eva@example.org", "is_staff": "on", "groups": [lead.pk]}
    assert client.post(reverse("admin:auth_user_add"), {"username": "eva"}).status_code == 200
    assert client.post(reverse("admin:auth_user_add"), sent).status_code == 302
    eva = User.objects.get(username="eva")
    assert not eva.has_usable_password()
    assert mailoutbox[0].to == ["eva@example.org"]
    assert "eva" in mailoutbox[0].body
    link = next(word for word in mailoutbox[0].body.split() if word.startswith("http"))
    browser = Client()
    form = browser.get(link, follow=True)
    browser.post(form.request["PATH_INFO"], {"password1": PASSWORD, "password2": PASSWORD})
    assert log_in("eva", PASSWORD, client=browser).status_code == 302
    assert browser.get("/admin/").status_code == 200

    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    action = {"action": "send_link", "_selected_action": [eva.pk]}
    page = client.post(reverse("admin:auth_user_changelist"), action, follow=True).content.decode()
    assert "/password/reset/" in page
    assert [one["mailed"] for one in details_of("invite")] == [True, False]
    assert "ask an administrator" in Client().get("/password/reset/").content.decode().lower()


def test_pages_send_their_headers(ana: User) -> None:
    assert "camera=()" in Client().get("/login/")["Permissions-Policy"]


def test_browsers_keep_no_page(ana: User) -> None:
    """Neither secrets of second factors nor names: those who press Back after logging out see nothing."""
    client = Client()
    log_in("ana", PASSWORD, client=client)
    for page in ("/login/", "/account/", "/account/app/", "/account/sessions/", "/notifications/", "/help/"):
        assert "no-store" in client.get(page)["Cache-Control"], page


# --- tokens ---


def test_a_new_password_ends_other_sessions_and_on_request_tokens(ana: User, mailoutbox: list[Any]) -> None:
    """By the page and by a mailed link; who doesn't ask keeps their programs running."""
    old, new = PASSWORD, PASSWORD + "!"
    for revoke in (False, True):
        for door in ("page", "link"):
            token, _ = create_token(ana, name="nightly", scopes=["datasets:read"])
            here, there = Client(), Client()
            for client in (here, there):
                assert log_in("ana", old, client=client).status_code == 302
            ana.refresh_from_db()  # a link is for the last sign-in
            chosen = {"revoke_tokens": "on"} if revoke else {}
            names = ("new_password1", "new_password2") if door == "page" else ("password1", "password2")
            sent = {"old_password": old, **dict.fromkeys(names, new), **chosen}
            page = reverse("password_change") if door == "page" else make_link(ana, "")
            form = here.get(page, follow=True)
            assert 'name="revoke_tokens"' in form.content.decode()
            assert here.post(form.request["PATH_INFO"], sent).status_code == 302
            assert there.get("/account/").status_code == 302
            token.refresh_from_db()
            assert (token.revoked_at is not None) == revoke, door
            ApiToken.objects.all().delete()
            old, new = new, old
    ana.refresh_from_db()
    assert "revoke_tokens" not in Client().get(make_link(ana, ""), follow=True).content.decode()
    assert {event["account"] for event in details_of("revoke_token")} == {"ana"}


def test_what_a_deactivated_account_had_stays_dead(ana: User, sign_in: Any) -> None:
    token, secret = create_token(ana, name="nightly", scopes=["datasets:read"])
    client, administrator = Client(), sign_in("superuser")
    log_in("ana", PASSWORD, client=client)
    page = reverse("admin:auth_user_change", args=[ana.pk])
    for active in ({}, {"is_active": "on"}):
        assert administrator.post(page, {"username": "ana", "is_staff": "on", **active}).status_code == 302
        assert find_token(secret) is None
        assert client.get("/account/").status_code == 302
    assert log_in("ana", PASSWORD).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert [event["prefix"] for event in details_of("revoke_token")] == [token.prefix]
