"""Takes the pictures of the docs from a running application with the demonstration data.

    make run
    DEMO_PASSWORD=… .venv/bin/python -m scripts.take_pictures [--url http://127.0.0.1:8000] [--user admin]

The password is the one that the first `make run` printed. Pictures go to docs/pictures, light and dark.
"""

import argparse
import os
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.chromium import find_executable

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
SIZE = {"width": 1280, "height": 800}
# Name → (address, and a link to follow from there).
PAGES = {"dataset": ("/admin/datasets_app/dataset/", "demo_conversations"), "queue": ("/annotate/", "")}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--user", default="admin")
    parser.add_argument("--pages", nargs="*", choices=PAGES, default=["dataset"])
    given = parser.parse_args()
    password = os.environ.get("DEMO_PASSWORD") or sys.exit("Set DEMO_PASSWORD.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Playwright may be asked where its Chromium is, which can't be done within itself.
    chromium = find_executable()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        for scheme in ("light", "dark"):
            page = _log_in(browser, scheme, given.url, given.user, password)
            for name in given.pages:
                _take(page, given.url, name, scheme)
        browser.close()


def _log_in(browser: Browser, scheme: str, url: str, user: str, password: str) -> Page:
    page = browser.new_context(viewport=SIZE, color_scheme=scheme, base_url=url).new_page()  # type: ignore[arg-type]
    page.goto("/login/")
    page.get_by_label("User name").fill(user)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_load_state("networkidle")
    return page


def _take(page: Page, url: str, name: str, scheme: str) -> None:
    address, link = PAGES[name]
    page.goto(url + address)
    if link:
        page.get_by_role("link", name=link).first.click()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"{name}-{scheme}.png")


if __name__ == "__main__":
    main()
