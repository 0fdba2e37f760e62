"""What axe-core finds on a page."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# What a color scheme can change. The other rules read structure and text.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
# Rows and entries with the same elements and attributes have the same faults: two of them are looked at.
MARK_REPEATED = """() => {
    const kinds = new Map();
    for (const one of [...document.querySelectorAll("body *")].reverse()) {
        const look = [...one.attributes].filter(({ name }) => name !== "data-repeated").map(
            ({ name, value }) => ["class", "style", "role", "type"].includes(name) ? `${name}=${value}` : name
        ).sort().join();
        kinds.set(one, `<${one.localName} ${look} ${!one.textContent.trim()}>`
            + `${[...new Set([...one.children].map((child) => kinds.get(child)))].join("")}</>`);
    }
    for (const parent of document.querySelectorAll("body *")) {
        const counts = new Map();
        for (const child of parent.children) {
            const count = counts.get(kinds.get(child)) || 0;
            counts.set(kinds.get(child), count + 1);
            child.toggleAttribute("data-repeated", count > 1);
        }
    }
}"""


def find_serious_violations(page: Page, context: str | None = None) -> list[str]:
    """Serious and critical faults, of the whole page or of what a selector names, as text."""
    return _run_axe(page, context, {"resultTypes": ["violations"]})


def find_violations_in_both_schemes(page: Page, context: str | None = None) -> list[str]:
    """The same for a page that is light, and then what its dark colors change, without loading it again."""
    found = find_serious_violations(page, context)
    show_scheme(page, "dark")
    found += find_color_violations(page, context)
    show_scheme(page, "light")
    return found


def find_color_violations(page: Page, context: str | None = None) -> list[str]:
    """What a color scheme can change, for a page of which the rest was looked at."""
    rules = {"type": "rule", "values": COLOR_RULES}
    return _run_axe(page, context, {"resultTypes": ["violations"], "runOnly": rules})


def show_scheme(page: Page, scheme: Any) -> None:
    """The admin reads the scheme when it loads, and sets a class. Changes of color are ended, not awaited: in
    a window behind another one they would never end."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(
        """isDark => {
            document.documentElement.classList.toggle("dark", isDark);
            for (const one of document.getAnimations()) {
                if (one instanceof CSSTransition) one.finish();
            }
        }""",
        scheme == "dark",
    )


def _run_axe(page: Page, context: str | None, options: dict[str, Any]) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    page.evaluate(MARK_REPEATED)
    where = {"include": [[context or "html"]], "exclude": [["[data-repeated]"]]}
    run = "([where, options]) => axe.run(where, options)"
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in page.evaluate(run, [where, options | {"preload": False}])["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]
