"""The search that Ctrl+K opens on every page of the admin. The fixtures fail a test if the console reports an
error."""

import re

from playwright.sync_api import Page, expect

DATASETS = re.compile("/admin/datasets_app/dataset/$")
TURNS = re.compile("/admin/datasets_app/turn/$")


def open_palette(page: Page) -> None:
    page.wait_for_load_state()  # only then does the page listen to keys
    page.keyboard.press("Control+k")
    expect(page.locator("#search-input-command")).to_be_focused()


def test_enter_opens_the_first_result(page: Page) -> None:
    open_palette(page)
    page.keyboard.type("datas")
    expect(page.locator("#command-results-list li.active")).to_contain_text("Datasets")
    page.keyboard.press("Enter")
    expect(page).to_have_url(DATASETS)


def test_enter_waits_for_the_results_of_what_was_typed(page: Page) -> None:
    open_palette(page)
    page.keyboard.type("turns")
    page.keyboard.press("Enter")
    expect(page).to_have_url(TURNS)


def test_results_of_other_words_are_not_opened(page: Page) -> None:
    open_palette(page)
    page.keyboard.type("datas")
    expect(page.locator("#command-results-list li.active")).to_be_visible()
    page.keyboard.press("Control+a")
    page.keyboard.type("turns")
    page.keyboard.press("Enter")
    expect(page).to_have_url(TURNS)


def test_enter_without_results_does_nothing(page: Page) -> None:
    open_palette(page)
    page.keyboard.press("Enter")
    with page.expect_response("**/admin/search/*s=xyzzy*"):
        page.keyboard.type("xyzzy")
        page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#search-input-command")).to_be_hidden()
    expect(page).to_have_url(re.compile("/admin/$"))


def test_arrows_and_clicks_choose_another_result(page: Page) -> None:
    results = page.locator("#command-results-list a")
    open_palette(page)
    page.keyboard.type("datas")
    expect(results.first).to_be_visible()
    second, last = results.nth(1).get_attribute("href"), results.last.get_attribute("href")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{second}$"))
    open_palette(page)
    page.keyboard.type("datas")
    expect(results.first).to_be_visible()
    results.last.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{last}$"))
