"""Visits every page of a running application as several people, and says what is wrong with them.

    make run
    .venv/bin/python -m scripts.tour [--url http://127.0.0.1:8000] [--people admin …]

It follows the links from the home page, two addresses of each kind. At 1280 and 390 pixels, light and dark:
what axe-core calls serious or critical, pages wider than the window, keyboard focus that is covered or out of
sight, errors of scripts, and answers of 500 or more. Ends with 1 if there is anything.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.faults import find_violations_in_both_schemes
from tests.chromium import find_executable

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
MAX_OF_A_KIND = 2
MAX_STOPS = 60
# Not pages, or the end of the session.
SKIPPED = re.compile(r"/(logout|files|static|api|admin/jsi18n|admin/logout)\b|\.(json|yaml|csv)$")
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--accounts", type=Path, default=Path("var/demo-accounts.txt"))
    parser.add_argument("--people", nargs="*", help="all of the accounts by default")
    given = parser.parse_args()
    lines = [line.split("\t") for line in given.accounts.read_text().splitlines() if "\t" in line]
    passwords = {name: password.strip() for name, password, *_ in lines}
    count = faults = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=["--no-sandbox"])
        for person in given.people or passwords:
            for address, wrong in tour(browser, given.url, person, passwords[person]):
                count += 1
                faults += len(wrong)
                for fault in wrong:
                    print(f"{person} {address}: {fault}", flush=True)
        browser.close()
    print(f"{count} visits, {faults} faults")
    sys.exit(1 if faults else 0)


def tour(browser: Browser, url: str, person: str, password: str) -> Iterator[tuple[str, list[str]]]:
    page = browser.new_context(base_url=url).new_page()
    page.goto("/login/")
    page.fill("[name=username], [name=login]", person)
    page.fill("[name=password]", password)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/login" not in address)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    page.on("response", lambda answer: _note_failure(answer, complaints))
    waiting, kinds, seen = ["/admin/", "/annotate/", "/account/"], Counter[str](), set[str]()
    while waiting:
        address = waiting.pop(0)
        kind = re.sub(r"\d+", "N", re.sub(r"=[^&]*", "=", re.sub("^/help/.*", "/help/", address)))
        if address in seen or kinds[kind] >= MAX_OF_A_KIND or len(re.findall("[?&]", kind)) > 2:
            continue
        seen.add(address)
        kinds[kind] += 1
        complaints.clear()
        wrong = visit(page, address)
        if wrong is None:
            continue
        yield address, [*complaints, *wrong]
        links = page.eval_on_selector_all("a[href]", "links => links.map(link => String(link.href))")
        waiting += _list_addresses(links, url)


def _note_failure(answer: Any, complaints: list[str]) -> None:
    if answer.status >= 500:
        complaints.append(f"{answer.status} of {answer.url}")


def _list_addresses(links: list[str], url: str) -> list[str]:
    parts = [urlsplit(link) for link in dict.fromkeys(links) if link.startswith(f"{url}/")]
    paths = [f"{part.path}?{part.query}" if part.query else part.path for part in parts]
    return [path for path in paths if not SKIPPED.search(path)]


def visit(page: Page, address: str) -> list[str] | None:
    """The faults of a page; None if it isn't one."""
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    try:
        answer = page.goto(address)
    except Exception as error:  # a download
        return None if "Download" in str(error) else [str(error).splitlines()[0]]
    if answer is None or "text/html" not in (answer.headers.get("content-type") or ""):
        return None
    page.wait_for_load_state("networkidle")
    wrong = []
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        width = size["width"]
        wrong += [f"{width}: {fault}" for fault in find_violations_in_both_schemes(page)]
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            wrong.append(f"{width}: {wide} pixels wide")
        wrong += [f"{width}: {fault}" for fault in _follow_focus(page)]
    return wrong


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
