"""The palette that Ctrl+K opens on every page of the admin, and the list of shortcuts."""

import re
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import PHONE
from tests.browser.faults import find_violations_in_both_schemes

pytestmark = pytest.mark.browser

DATASETS = re.compile("/admin/datasets_app/dataset/$")
TURNS = re.compile("/admin/datasets_app/turn/$")


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-field")).to_be_focused()


def selected(page: Page) -> Any:
    return page.locator("#palette-list [aria-selected=true]")


@pytest.fixture
def page(page: Page) -> Page:
    page.goto(reverse("admin:index"))
    return page


def test_enter_opens_the_result_of_what_was_typed(page: Page) -> None:
    open_palette(page)
    with page.expect_response("**/palette/*q=xyzzy*"):
        page.keyboard.type("xyzzy")
        page.keyboard.press("Enter")
    expect(page.get_by_text("No results for “xyzzy”")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(page).to_have_url(re.compile("/admin/$"))

    open_palette(page)
    page.keyboard.press("Control+a")
    page.keyboard.type("datas")
    expect(selected(page)).to_contain_text("Datasets")
    expect(page.locator("#palette-field")).to_have_attribute(
        "aria-activedescendant", selected(page).get_attribute("id") or ""
    )
    # At once, before the results of these words are there.
    page.keyboard.press("Control+a")
    page.keyboard.type("turns")
    page.keyboard.press("Enter")
    expect(page).to_have_url(TURNS)


def test_arrows_and_clicks_choose_another_result(page: Page) -> None:
    results = page.locator("#palette-list a")
    open_palette(page)
    page.keyboard.type("s")
    expect(page.locator("#palette-list")).to_have_attribute("data-term", "s")
    last = results.last.get_attribute("href")
    page.keyboard.press("ArrowUp")
    expect(results.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(results.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{re.escape(last or '')}$"))
    page.get_by_role("button", name="Search and go to").click()
    expect(page.locator("#palette-field")).to_be_focused()
    page.keyboard.type("datas")
    results.filter(has_text="Datasets").click()
    expect(page).to_have_url(DATASETS)


def test_a_key_pressed_while_the_page_loads_is_not_lost(page: Page) -> None:
    """The frame's scripts are held back, as on a busy machine; it shows the page when they are there."""
    held: list[Route] = []
    is_held = True
    page.route("**/unfold/js/alpine/*.js", lambda route: held.append(route) if is_held else route.continue_())
    page.goto(reverse("admin:index"), wait_until="commit")
    page.wait_for_function("document.getElementById('palette')")
    page.keyboard.press("Control+k")
    # On a busy machine some are requested only now.
    is_held = False
    for route in held:
        route.continue_()
    expect(page.locator("#palette-field")).to_be_focused()
    expect(page.locator("#palette-list a").first).to_be_visible()


def test_the_palette_and_the_shortcuts_are_accessible(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert find_violations_in_both_schemes(page, "dialog[open]") == []
    open_palette(page)
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    page.keyboard.type("?")
    expect(page.locator("#palette-field")).to_have_value("?")
    page.keyboard.press("Control+a")
    page.keyboard.type("datas")
    expect(page.get_by_role("option", name="Datasets")).to_be_visible()
    assert find_violations_in_both_schemes(page, "dialog[open]") == []
    page.set_viewport_size(PHONE)
    page.reload()
    page.get_by_role("button", name="Search and go to").click()
    expect(page.locator("#palette-list a").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
