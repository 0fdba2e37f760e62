"""What axe-core finds on a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Within the admin's frame, what is ours.
PAGE_SELECTOR = ".ad-page"


def find_serious_violations(page: Page, context: str | None = None) -> list[str]:
    """Serious and critical faults, of the whole page or of what a selector names, as text."""
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in Axe().run(page, context=context).response["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]
