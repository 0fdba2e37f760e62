"""Visits every page of a running application as several people, and says what is wrong with them.

    make run
    .venv/bin/python -m scripts.tour [--url http://127.0.0.1:8000] [--people admin …] [--pictures FOLDER]

It follows the links from the home page, and opens two addresses of each kind: answers of 500 or more, errors
of scripts. One of those with the same elements is looked at, at 1280 and 390 pixels, light and dark: what
axe-core calls serious or critical, what is wider than the window, keyboard focus that is covered or hidden.
Ends with 1 if there is anything.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from tests.browser.faults import find_violations_in_both_schemes
from tests.chromium import find_executable

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
MAX_OF_A_KIND = 2
MAX_STOPS = 60
STARTS = ("/admin/", "/annotate/", "/account/")
# Not pages, or the end of the session.
SKIPPED = re.compile(r"/(logout|files|static|api|admin/jsi18n|admin/logout)\b|\.(json|yaml|csv)$")
# Pages of one kind with the same elements have the same faults.
LIST_ELEMENTS = """() => [...new Set([...document.querySelectorAll("body *")].map(
    (one) => [one.localName, one.getAttribute("class"), one.getAttribute("role"), one.type].join(" ")
))].sort().join()"""
# Whether what has the focus can be seen: in the window, and not below something else.
SEES_FOCUS = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return "";
    if (element.dataset.toured) return "end";
    element.dataset.toured = "1";
    const name = element.outerHTML.slice(0, 120);
    const isSeen = [...element.getClientRects()].some((box) => {
        const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
        const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
        if (right <= left || bottom <= top) return false;
        const [width, height] = [right - left, bottom - top];
        return [0.5, 0.1, 0.9].some((part) => {
            const found = document.elementFromPoint(left + width * part, top + height * part);
            return found && (element.contains(found) || found.contains(element));
        });
    });
    return isSeen ? "" : `hidden focus: ${name}`;
}"""


@dataclass
class Tour:
    """``examined`` are the kinds of pages, with their elements, that were looked at."""

    url: str
    pictures: Path | None = None
    visits: int = 0
    faults: int = 0
    examined: set[tuple[str, str]] = field(default_factory=set)

    def follow(self, browser: Browser, person: str, password: str) -> None:
        context = browser.new_context(base_url=self.url)
        page = context.new_page()
        page.goto("/login/")
        page.fill("[name=username], [name=login]", person)
        page.fill("[name=password]", password)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda address: "/login" not in address)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
        page.on("console", lambda message: _note_message(message, complaints))
        page.on("response", lambda answer: _note_failure(answer, complaints))
        waiting, kinds, seen = [*STARTS], Counter[str](), set[str]()
        while waiting:
            # Pages before their filters and orders, of which one at a time is tried.
            address = min(waiting, key=lambda one: "?" in one)
            waiting.remove(address)
            kind = _kind_of(address)
            is_combined = "&" in kind and kinds[kind.split("?")[0]]
            if address in seen or kinds[kind] >= MAX_OF_A_KIND or is_combined:
                continue
            seen.add(address)
            complaints.clear()
            if not _open(page, address, complaints):
                continue
            kinds.update({kind, kind.split("?")[0]})
            links = page.eval_on_selector_all("a[href]", "links => links.map(link => String(link.href))")
            waiting += _list_addresses(links, self.url)
            self._look_at(page, kind, complaints)
            self.visits += 1
            if self.visits % 10 == 0:
                print(f"{person}: {self.visits} visits, {len(self.examined)} looked at", file=sys.stderr)
            self.faults += len(complaints)
            for fault, count in Counter(complaints).items():
                print(f"{person} {address}: {fault}{f' ({count} times)' * (count > 1)}", flush=True)
        context.close()

    def _look_at(self, page: Page, kind: str, complaints: list[str]) -> None:
        looks = kind.split("?")[0], page.evaluate(LIST_ELEMENTS)
        if looks in self.examined:
            return
        self.examined.add(looks)
        try:
            page.wait_for_load_state("networkidle")
        except TimeoutError:
            complaints.append("still loading after 30 seconds")
        complaints += examine(page)
        if self.pictures:
            name = re.sub(r"\W+", "_", kind)[:80].strip("_")
            page.screenshot(path=self.pictures / f"{name}-390.png", full_page=True)
            page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
            page.screenshot(path=self.pictures / f"{name}-1280.png", full_page=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--accounts", type=Path, default=Path("var/demo-accounts.txt"))
    parser.add_argument("--people", nargs="*", help="all of the accounts by default")
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of each page, at both widths")
    given = parser.parse_args()
    lines = [line.split("\t") for line in given.accounts.read_text().splitlines() if "\t" in line]
    passwords = {name: password.strip() for name, password, *_ in lines}
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    tour = Tour(given.url, given.pictures)
    # Playwright may be asked where its Chromium is, which can't be done within itself.
    chromium = find_executable()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for person in given.people or passwords:
            tour.follow(browser, person, passwords[person])
            print(
                f"{person}: {tour.visits} visits, {len(tour.examined)} looked at, {tour.faults} faults",
                flush=True,
            )
        browser.close()
    sys.exit(1 if tour.faults else 0)


def _kind_of(address: str) -> str:
    """The address without numbers, values of parameters, and names of campaigns and help pages."""
    kind = re.sub(r"^/(help/[^?]+|annotate/[^/?]+)", "/…", address)
    return re.sub(r"\d+", "N", re.sub(r"=[^&]*", "=", kind))


def _note_message(message: Any, complaints: list[str]) -> None:
    # The browser's own word of an answer that was refused: those of 500 or more are noted as such.
    if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
        complaints.append(f"console: {message.text}")


def _note_failure(answer: Any, complaints: list[str]) -> None:
    if answer.status >= 500:
        complaints.append(f"{answer.status} of {answer.url}")


def _list_addresses(links: list[str], url: str) -> list[str]:
    parts = [urlsplit(link) for link in dict.fromkeys(links) if link.startswith(f"{url}/")]
    paths = [f"{part.path}?{part.query}" if part.query else part.path for part in parts]
    return [path for path in paths if not SKIPPED.search(path)]


def _open(page: Page, address: str, complaints: list[str]) -> bool:
    """Whether it is a page."""
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    try:
        answer = page.goto(address)
    except Exception as error:  # a download
        if "Download" not in str(error):
            complaints.append(str(error).splitlines()[0])
            print(f"{address}: {complaints[-1]}", flush=True)
        return False
    return answer is not None and "text/html" in (answer.headers.get("content-type") or "")


def examine(page: Page) -> Iterator[str]:
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        width = size["width"]
        yield from (f"{width}: {fault}" for fault in find_violations_in_both_schemes(page))
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            yield f"{width}: {wide} pixels wide"
        yield from (f"{width}: {fault}" for fault in _follow_focus(page))


def _follow_focus(page: Page) -> Iterator[str]:
    page.evaluate(
        "() => { document.activeElement?.blur(); scrollTo(0, 0);"
        " for (const one of document.querySelectorAll('[data-toured]')) delete one.dataset.toured; }"
    )
    for _ in range(MAX_STOPS):
        page.keyboard.press("Tab")
        said = page.evaluate(SEES_FOCUS)
        if said == "end":
            return
        if said:
            yield said


if __name__ == "__main__":
    main()
