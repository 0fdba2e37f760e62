"""How long a key takes in the list of sessions, in Chromium: to the next row, to the next page, to a session
beside the list, and to a facet with its counts.

    python -m benchmarks.bench_keys [--sessions 10000 100000] [--rounds 40]

Wanted at 100,000 sessions: 100 ms to the next row and facet (p95), 200 ms at 1,000,000, and counts of facets
at most twice as long as at 10,000.
"""

import argparse
import os
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from benchmarks.bench_admin import admin_client, import_turns
from benchmarks.harness import temporary_servers

TURNS_PER_SESSION = 6
WANTED_MS = 100.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    with temporary_servers() as folder:
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["*"]
        # Playwright keeps an event loop in this thread.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        results = {}
        for sessions in given.sessions:
            dataset = import_turns(folder, sessions * TURNS_PER_SESSION)
            results[sessions] = measure_keys(dataset, given.rounds)
    print(f"keys: medians and 95th percentiles of {given.rounds} in ms")
    for name in next(iter(results.values())):
        cells = (
            f"{sessions:,}: {p50:.0f}, {p95:.0f}"
            for sessions in results
            for p50, p95 in [results[sessions][name]]
        )
        print(f"{name:<28} {'   '.join(cells)}")
    print(f"keys: wanted at most {WANTED_MS:.0f} ms to the next row or facet at 100,000 sessions")


def measure_keys(dataset: Any, rounds: int) -> dict[str, tuple[float, float]]:
    from django.urls import reverse
    from playwright.sync_api import sync_playwright

    from tests.chromium import find_executable

    address = reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk])
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=["--no-sandbox"])
        page = browser.new_page(base_url=url)
        page.context.add_cookies(
            [{"name": cookie.key, "value": cookie.value, "url": url} for cookie in login()]
        )
        page.goto(address)
        page.wait_for_selector(".ad-facet li a")
        press = page.keyboard.press
        results = {"next row": time_rounds(rounds, lambda: wait_for_row(page, lambda: press("j")))}
        press("Space")
        page.wait_for_selector("#peek .ad-chat")
        results["next session beside the list"] = time_rounds(rounds, lambda: wait_for_peek(page, press))
        press("Escape")
        results["next page"] = time_rounds(rounds, lambda: open_next(page))
        page.goto(address)
        results["facet, until its rows"] = time_rounds(rounds, lambda: open_facet(page, address, "tbody tr"))
        results["facet, until its counts"] = time_rounds(
            rounds, lambda: open_facet(page, address, ".ad-facet li a")
        )
        browser.close()
    return results


def time_rounds(rounds: int, measure: Callable[[], float]) -> tuple[float, float]:
    """The median and the 95th percentile, without the first two."""
    times = sorted([measure() for _ in range(rounds + 2)][2:])
    return times[len(times) // 2], times[int(len(times) * 0.95)]


ACTIVE_ROW = "[...document.querySelectorAll('tbody tr')].indexOf(document.querySelector('.ad-active'))"


def wait_for_row(page: Any, act: Callable[[], Any]) -> float:
    before = page.evaluate(ACTIVE_ROW)
    start = time.perf_counter()
    act()
    page.wait_for_function(f"before => {ACTIVE_ROW} !== before", arg=before)
    return 1000 * (time.perf_counter() - start)


def wait_for_peek(page: Any, press: Callable[[str], Any]) -> float:
    before = page.text_content("#peek .ad-chat")
    start = time.perf_counter()
    press("k")
    page.wait_for_function(
        "before => document.querySelector('#peek .ad-chat')?.textContent !== before", arg=before
    )
    return 1000 * (time.perf_counter() - start)


def open_next(page: Any) -> float:
    start = time.perf_counter()
    page.click(".ad-browse-list a[rel=next]")
    page.wait_for_selector("tbody tr a[data-open]")
    return 1000 * (time.perf_counter() - start)


def open_facet(page: Any, address: str, selector: str) -> float:
    page.goto(address)
    link = page.wait_for_selector(".ad-facet li a")
    start = time.perf_counter()
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**?*")
    page.wait_for_selector(selector)
    return 1000 * (time.perf_counter() - start)


@contextmanager
def serve() -> Any:
    """The application on a port, with the static files of the admin."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.test.testcases import LiveServerThread

    thread = LiveServerThread("127.0.0.1", StaticFilesHandler)
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    yield f"http://127.0.0.1:{thread.port}"
    thread.terminate()


def login() -> list[Any]:
    return [*admin_client().cookies.values()]


if __name__ == "__main__":
    main()
