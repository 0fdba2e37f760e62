"""A real Chromium against a live server, with real workers on the test's own database."""

import os
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

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
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
# What a test leaves at the address of the server, of the kinds that the browser's protocol names.
STORED = "local_storage,indexeddb,cache_storage,service_workers"
TIMEOUT_MS = 20_000  # in milliseconds: how long a page may take to show what is waited for
GUARD = 200  # in milliseconds: sooner after a reply has come, a key or a click counts as pressed twice
SETTLE_S = 0.03  # in seconds: what a page sends while it is closed has reached the server by then


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find_executable()
    if path is None:
        message = "no Chromium found: set ALIGNMENTER_CHROMIUM or install one"
        if os.environ.get("ALIGNMENTER_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(f"BROWSER TESTS SKIPPED: {message}")
    # Of its own 5 seconds, a busy machine has been seen to take more.
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser_errors() -> list[str]:
    """What the browser complained of, and requests that left the server; a test ends with none."""
    return []


class Answering:
    """The threads of the server that are answering a request now."""

    def __init__(self) -> None:
        self.threads: set[threading.Thread] = set()
        request_started.connect(self._start)
        request_finished.connect(self._finish)

    def _start(self, **_: Any) -> None:
        # Requests of Django's own client are answered in the thread of the test.
        if "process_request_thread" in threading.current_thread().name:
            self.threads.add(threading.current_thread())

    def _finish(self, **_: Any) -> None:
        self.threads.discard(threading.current_thread())

    def wait(self) -> None:
        """Until all is answered. The queue sends decisions that outlive their page: one that is still being
        answered while the tables are emptied would lock what the other waits for, or leave rows behind."""
        deadline, quiet = time.monotonic() + TIMEOUT_MS / 1000, 0
        while quiet < 2 and time.monotonic() < deadline:
            time.sleep(SETTLE_S)
            quiet = 0 if any(thread.is_alive() for thread in self.threads) else quiet + 1
        assert quiet == 2, "the server is still answering a request of a page that is closed"


class SharedContexts:
    """A context with touch and one without, for the first page of each kind in a test: what they have cached
    and compiled of scripts and styles would take a second in a new one. Further pages of a kind, which are
    another person's, have contexts of their own."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self.browser, self.origin, self.answering = browser, origin, Answering()
        self.kept: dict[bool, BrowserContext] = {}
        self.used: list[BrowserContext] = []

    def open_page(
        self, *, viewport: ViewportSize, has_touch: bool = False, color_scheme: Any = "light"
    ) -> Page:
        context = self.kept.get(has_touch)
        if context is None or context in self.used:
            context = self.browser.new_context(base_url=self.origin, has_touch=has_touch)
            self.kept.setdefault(has_touch, context)
        self.used.append(context)
        page = context.new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        return page

    def clear(self) -> None:
        """Leave nothing of a test but what its pages have cached, and no request unanswered."""
        for context in self.used:
            if context not in self.kept.values():
                context.close()
                continue
            context.set_offline(False)
            context.clear_cookies()
            context.clear_permissions()
            session = context.new_cdp_session(context.pages[0] if context.pages else context.new_page())
            session.send("Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": STORED})
            for page in context.pages:
                page.close()
        self.used.clear()
        self.answering.wait()


@pytest.fixture(scope="session")
def shared_contexts(browser: Browser, live_server: Any) -> Iterator[SharedContexts]:
    contexts = SharedContexts(browser, live_server.url)
    yield contexts
    for context in contexts.kept.values():
        context.close()
    # Each connection to the server has a thread, which has one to the database.
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(TIMEOUT_MS / 1000)


@pytest.fixture
def open_page(
    shared_contexts: SharedContexts, live_server: Any, transactional_db: None, browser_errors: list[str]
) -> Iterator[Any]:
    def opened(**options: Any) -> Page:
        page = shared_contexts.open_page(**options)
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
    shared_contexts.clear()
    assert browser_errors == []


@pytest.fixture
def curator(transactional_db: None) -> User:
    user = User.objects.create_user("curator", password="a long password", is_staff=True)
    user.groups.add(Group.objects.get(name="curator"))
    return user


def sign_in(page: Page, username: str = "curator", path: str = "") -> None:
    """Give the browser a session, and open ``path`` if there is one; the form has tests of its own."""
    client = Client()
    client.force_login(User.objects.get(username=username))
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": value, "domain": "localhost", "path": "/"}]
    )
    if path:
        page.goto(path)


@pytest.fixture
def page(open_page: Any, curator: User) -> Page:
    """Signed in, at the width of a desktop; it shows no page yet."""
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page)
    return page


@pytest.fixture
def phone_page(open_page: Any, curator: User) -> Page:
    page: Page = open_page(viewport=PHONE, has_touch=True, color_scheme="dark")
    sign_in(page)
    return page
