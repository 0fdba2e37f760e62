"""The list of sessions and the page of one: by keyboard, with a selection, for everybody."""

from pathlib import Path
from typing import Any

from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.checking.check_dataset import check_dataset
from tests import factories
from tests.browser.faults import find_violations_in_both_schemes

CODE = "Run **this**:\n\n```\n" + "print('a long line') " * 20 + "\n```"


def test_sessions_are_listed_selected_and_read(page: Page, transactional_db: Any, tmp_path: Path) -> None:
    lines = [
        *factories.make_session("s1", text="My refund: write to jo@company.org"),
        factories.make_turn("s2", 1, text="Hello"),
        factories.make_turn("s2", 2, text=f"A refund. {CODE}"),
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    check_dataset(dataset, actor=None, name_models=())
    page.goto(reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk]) + "?q=refun")
    expect(page.get_by_text("1–2 of 2 sessions that match")).to_be_visible()
    selected = page.get_by_role("button", name="Tag, exclude or export selected")
    expect(selected).to_be_disabled()
    page.get_by_label("Select all on this page").check()
    expect(selected).to_have_text("Tag, exclude or export selected (2)")
    for details in page.locator("main details").all():
        details.evaluate("element => { element.open = true; }")
    assert find_violations_in_both_schemes(page) == []
    selected.click()
    expect(page.get_by_text("2 sessions selected")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.goto(reverse("admin:datasets_app_session_change", args=[dataset.sessions.get(session_id="s2").pk]))
    expect(page.locator("strong", has_text="this")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.keyboard.press("m")
    expect(page.get_by_text("**this**")).to_be_visible()
    page.keyboard.press("k")
    expect(page.locator("mark", has_text="jo@company.org").first).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
