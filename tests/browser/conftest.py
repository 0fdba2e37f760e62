"""A real Chromium against a live server, with real workers on the test's own database."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from tests import chromium

# Playwright keeps an event loop in this thread; Django would take the test for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    # Each window would load two pages for its address bar, which nobody sees.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]
TIMEOUT_MS = 20_000  # in milliseconds: how long a page may take to show what is waited for


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find_executable()
    if path is None:
        message = "no Chromium found: set ALIGNMENTER_CHROMIUM or install one"
        if os.environ.get("ALIGNMENTER_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(f"BROWSER TESTS SKIPPED: {message}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser_errors() -> list[str]:
    """What the browser complained of, and requests that left the server; a test ends with none."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, live_server: Any, transactional_db: None, browser_errors: list[str]
) -> Iterator[Any]:
    contexts = []

    def opened(**options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: browser_errors.append(str(error)))
        page.on(
            "console",
            lambda message: (
                browser_errors.append(message.text) if message.type in {"error", "warning"} else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                browser_errors.append(request.url)
                if re.match("https?:", request.url) and not request.url.startswith(live_server.url)
                else None
            ),
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert browser_errors == []


@pytest.fixture
def curator(transactional_db: None) -> User:
    user = User.objects.create_user("curator", password="a long password", is_staff=True)
    user.groups.add(Group.objects.get(name="curator"))
    return user


def sign_in(page: Page, username: str = "curator", path: str = "/admin/") -> None:
    """Give the browser a session and open ``path``; the form to sign in has tests of its own."""
    client = Client()
    client.force_login(User.objects.get(username=username))
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": value, "domain": "localhost", "path": "/"}]
    )
    page.goto(path)


@pytest.fixture
def page(open_page: Any, curator: User) -> Page:
    """Signed in, at the width of a desktop."""
    page: Page = open_page(viewport={"width": 1280, "height": 800})
    sign_in(page)
    return page


@pytest.fixture
def phone_page(open_page: Any, curator: User) -> Page:
    page: Page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark")
    sign_in(page)
    return page
