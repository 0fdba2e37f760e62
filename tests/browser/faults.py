"""What axe-core finds on a page."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# Within the admin's frame, what is ours.
PAGE_SELECTOR = ".ad-page"
# What a color scheme can change. The other rules read structure and text.
COLOR_RULES = ["color-contrast", "link-in-text-block"]


def find_serious_violations(page: Page, context: str | None = None) -> list[str]:
    """Serious and critical faults, of the whole page or of what a selector names, as text."""
    return _run_axe(page, context, {"resultTypes": ["violations"]})


def find_color_violations(page: Page, context: str | None = None) -> list[str]:
    """Those that depend on the color scheme: for the other scheme of a page that was looked at in one."""
    rules = {"type": "rule", "values": COLOR_RULES}
    return _run_axe(page, context, {"resultTypes": ["violations"], "runOnly": rules})


def _run_axe(page: Page, context: str | None, options: dict[str, Any]) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    run = "([context, options]) => axe.run(context ?? document, options)"
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in page.evaluate(run, [context, options])["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]
