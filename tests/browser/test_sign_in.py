"""Signing in, in a browser: passkeys, apps and codes, the company's page, links by mail, sessions."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from playwright.sync_api import Page, expect

from datasets_app.core.web.reauthentication import PROVED_AT
from datasets_app.models import AuditEvent
from tests.browser.conftest import sign_in
from tests.browser.faults import find_serious_violations
from tests.identity_provider import Provider, run_provider

pytestmark = [pytest.mark.browser]
PASSWORD = "a correct horse battery staple"
DESKTOP = {"width": 1280, "height": 800}


@pytest.fixture
def eva(transactional_db: None) -> User:
    return User.objects.create_superuser("eva", "eva@example.org", PASSWORD)


@pytest.fixture
def provider(transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with run_provider(settings, monkeypatch) as running:
        yield running


def log_in(page: Page, password: str = PASSWORD, name: str = "eva") -> None:
    page.goto("/login/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()


def log_out(page: Page) -> None:
    page.context.clear_cookies()


def make_code(secret: str) -> str:
    _, counter, _ = totp.yield_hotp_counters_from_time()
    cache.clear()  # A code can be used once; tests are faster than thirty seconds.
    return totp.format_hotp_value(totp.hotp_value(secret, counter))


def test_a_passkey_replaces_the_password(open_page: Any, eva: User) -> None:
    page: Page = open_page(viewport=DESKTOP)
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
    }
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    log_in(page)
    page.wait_for_url("**/admin/")
    page.goto("/account/")
    page.get_by_role("link", name="Add passkey").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Also log in with this passkey alone").check()
    assert find_serious_violations(page) == []
    page.get_by_role("button", name="Add passkey").click()
    page.wait_for_url("**/account/codes/")
    expect(page.locator(".q-codes li")).to_have_count(10)
    log_out(page)

    page.goto("/login/?next=/admin/datasets_app/dataset/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page).to_have_url(re.compile("//[^/]+/admin/datasets_app/dataset/$"))
    assert AuditEvent.objects.filter(action="log_in").latest("pk").details["by"] == ["webauthn"]
    log_out(page)

    log_in(page)
    page.wait_for_url("**/login/code/")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/admin/")
    page.goto("/account/")
    page.get_by_role("link", name="Remove passkey Laptop").click()
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("Passkey removed.")).to_be_visible()
    log_out(page)

    page.goto("/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("Wrong or expired code")


def test_an_app_and_a_recovery_code(open_page: Any, eva: User, settings: Any) -> None:
    """For a role that needs them, on a phone."""
    settings.SECOND_FACTOR_ROLES = frozenset({"superuser"})
    page: Page = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    log_in(page)
    expect(page.get_by_text("Your role needs a second factor")).to_be_visible()
    page.goto("/admin/")
    page.wait_for_url("**/account/")
    assert find_serious_violations(page) == []
    page.get_by_role("link", name="Set up authenticator app").click()
    page.get_by_label("Authenticator code").fill("123")
    page.get_by_role("button", name="Set up authenticator app").click()
    expect(page.locator(".q-error")).to_contain_text("Wrong or expired code")
    assert find_serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_text("Can't scan it?").click()
    secret = page.locator(".q-key").inner_text()
    page.get_by_label("Authenticator code").fill(make_code(secret))
    page.get_by_role("button", name="Set up authenticator app").click()
    page.wait_for_url("**/account/codes/")
    assert find_serious_violations(page) == []
    recovery = page.locator(".q-codes li").first.inner_text()
    page.goto("/admin/")
    expect(page).to_have_url(re.compile("/admin/$"))
    for code in (make_code(secret), recovery):
        log_out(page)
        log_in(page)
        page.wait_for_url("**/login/code/")
        page.get_by_label("Code", exact=True).fill(code)
        page.get_by_role("button", name="Log in", exact=True).click()
        page.wait_for_url("**/admin/")


def test_nothing_typed_is_lost_when_the_password_is_asked_again(open_page: Any, eva: User) -> None:
    page: Page = open_page(viewport=DESKTOP)
    ben = User.objects.create_user("ben", "ben@example.org", PASSWORD)
    sign_in(page, "eva", "/admin/auth/user/")
    _forget_proof()
    page.locator(f"input[name=_selected_action][value='{ben.pk}']").check()
    page.locator("select[name=action]").select_option("send_link")
    page.locator("button[name=index]").click()
    expect(page.get_by_role("heading", name="Confirm it's you")).to_be_visible()
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Wrong password.")).to_be_visible()
    assert find_serious_violations(page) == []
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.wait_for_url("**/admin/auth/user/")
    expect(page.get_by_text("Sent a link to ben.")).to_be_visible()
    assert [message.to for message in mail.outbox] == [["ben@example.org"]]


def _forget_proof() -> None:
    from django.contrib.sessions.backends.db import SessionStore
    from django.contrib.sessions.models import Session

    for row in Session.objects.all():
        session = SessionStore(row.session_key)
        session[PROVED_AT] = 0
        session.save()


def test_invitation_reset_lockout_and_remote_sign_out(open_page: Any, eva: User, settings: Any) -> None:
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "eva", "/admin/auth/user/add/")
    page.get_by_label("User name").fill("ben")
    page.get_by_label("E-mail address").fill("ben@example.org")
    page.get_by_label("Annotator", exact=True).check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Sent a link to ben.")).to_be_visible()
    log_out(page)

    page.goto(_link(mail.outbox[0]))
    for password in ("short", PASSWORD):
        page.get_by_label("New password", exact=True).fill(password)
        page.get_by_label("New password again").fill(password)
        page.get_by_role("button", name="Set password").click()
        if password == "short":
            expect(page.locator(".q-error")).to_contain_text("at least 12 characters")
            assert find_serious_violations(page) == []
    page.get_by_role("link", name="Log in").click()
    for _ in range(settings.SIGN_IN_FAILURES):
        log_in(page, "wrong", "ben")
        expect(page.get_by_role("alert")).to_contain_text("Wrong user name or password")
    log_in(page, PASSWORD, "ben")
    expect(page.get_by_role("alert")).to_contain_text("Wrong user name or password")
    assert find_serious_violations(page) == []

    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email").fill("ben@example.org")
    page.get_by_role("button", name="Send link").click()
    expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    page.goto(_link(mail.outbox[1]))
    page.get_by_label("New password", exact=True).fill(PASSWORD + "!")
    page.get_by_label("New password again").fill(PASSWORD + "!")
    page.get_by_role("button", name="Set password").click()
    log_in(page, PASSWORD + "!", "ben")
    page.wait_for_url("**/annotate/**")

    other: Page = open_page(viewport=DESKTOP)
    log_in(other, PASSWORD + "!", "ben")
    other.goto("/account/sessions/")
    expect(other.locator(".q-rows li")).to_have_count(2)
    assert find_serious_violations(other) == []
    other.get_by_role("button", name="End the session").click()
    expect(other.locator(".q-rows li")).to_have_count(1)
    page.goto("/account/")
    expect(page).to_have_url(re.compile("/login/"))


def _link(message: Any) -> str:
    return next(word for word in message.body.split() if word.startswith("http"))


def test_signing_in_at_the_company_and_back(
    open_page: Any, provider: Provider, browser_errors: list[str]
) -> None:
    provider.set_person("e1", preferred_username="eva", email="eva@example.org", groups=["aad-curators"])
    provider.set_person("n1", preferred_username="nobody", groups=["others"])
    page: Page = open_page(viewport=DESKTOP)
    for sub in ("n1", "e1"):
        page.goto("/login/")
        page.get_by_role("link", name="Log in with your company account").click()
        page.locator("input[name=sub]").fill(sub)
        page.get_by_role("button", name=re.compile("Authorize|Allow|Continue", re.IGNORECASE)).first.click()
        if sub == "n1":
            expect(page.get_by_role("alert")).to_contain_text("None of your groups has access")
            assert find_serious_violations(page) == []
    page.wait_for_url("**/admin/")
    assert list(User.objects.values_list("username", "is_staff")) == [("eva", True)]
    theirs = (provider.url, "https://cdn.", "403 (Forbidden)", "404 (NOT FOUND)", "net::ERR_")
    browser_errors[:] = [text for text in browser_errors if not any(part in text for part in theirs)]
