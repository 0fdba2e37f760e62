"""Charts of a dataset and of a comparison: for everybody, by keyboard, on a phone."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests import factories
from tests.browser.conftest import PHONE
from tests.browser.faults import find_violations_in_both_schemes

pytestmark = pytest.mark.browser


def test_a_bar_is_reached_by_keyboard_and_leads_to_its_sessions(
    page: Page, transactional_db: None, tmp_path: Any
) -> None:
    lines = [
        line
        for number in range(20)
        for line in factories.make_session(f"s{number}", tags=[f"scenario:{number % 14}"], persona_id="warm")
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    other = factories.make_dataset(tmp_path, factories.make_sessions(2, tags=["scenario:1"]), "other")
    page.goto(reverse("admin:datasets_app_dataset_change", args=[dataset.pk]))
    chart = page.get_by_role("table", name="Tags: scenario", exact=True)
    expect(chart.get_by_role("row")).to_have_count(9)
    page.get_by_text("6 more").click()
    assert find_violations_in_both_schemes(page, "main") == []
    page.get_by_role("link", name="Compare with another dataset").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1–20 of 20 sessions that match")).to_be_visible()
    page.set_viewport_size(PHONE)
    compare = reverse("admin:datasets_app_dataset_compare_releases", args=[dataset.pk])
    page.goto(f"{compare}?before=now&after=dataset-{other.pk}")
    both = page.get_by_role("table", name="Tags: scenario", exact=True)
    expect(both.get_by_role("link", name="1, other: 2")).to_be_visible()
    assert find_violations_in_both_schemes(page, "main") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
