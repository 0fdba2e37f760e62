"""A curator splits a dataset by keyboard, adds sessions and has those placed; axe-core looks on."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.models import Dataset
from tests import factories
from tests.browser.faults import find_serious_violations
from tests.domain.test_near_duplicates import talk

pytestmark = pytest.mark.browser

LONG = 30_000  # in milliseconds: a worker has to take the job up


def lines(numbers: range) -> list[dict[str, Any]]:
    return [
        factories.make_turn(f"s{number:03d}", at, text=text, tags=["scenario:billing"])
        for number in numbers
        for at, text in enumerate(talk(number % 40, 2), 1)
    ]


def test_split_and_place_what_came_later(
    page: Page, phone_page: Page, processes: Any, transactional_db: None, tmp_path: Path
) -> None:
    dataset: Dataset = factories.make_dataset(tmp_path, lines(range(40)), origin="synthetic")
    processes.start("worker")
    address = reverse("admin:datasets_app_dataset_splits", args=[dataset.pk])
    page.goto(address)
    assert find_serious_violations(page) == []
    page.get_by_label("Shares (%)").fill("50, 25")
    page.keyboard.press("Enter")
    expect(page.get_by_text("add up to 100")).to_be_visible()
    page.get_by_label("Shares (%)").fill("50, 25, 25")
    page.keyboard.press("Enter")
    expect(page.locator(".ad-badge", has_text="Done").first).to_be_visible(timeout=LONG)
    page.goto(address)
    expect(page.get_by_role("row", name="Test locked, target 25 % 10 25 %")).to_be_visible()
    expect(page.get_by_text("No session has a near-duplicate or a sibling in another split.")).to_be_visible()
    assert find_serious_violations(page) == []

    # The last three are copies of sessions that are there.
    factories.import_file(factories.write_jsonl(tmp_path / "more.jsonl", lines(range(40, 43))), append=True)
    phone_page.goto(address)
    expect(phone_page.get_by_text("3 sessions have no split yet.")).to_be_visible()
    assert find_serious_violations(phone_page) == []
    assert phone_page.evaluate("document.documentElement.scrollWidth") == 390
    phone_page.get_by_role("button", name="Assign 3 sessions").click()
    expect(phone_page.locator(".ad-badge", has_text="Done").first).to_be_visible(timeout=LONG)
    phone_page.goto(address)
    expect(phone_page.get_by_text("6 sessions kept together in 3 groups")).to_be_visible()
    split_of = dict(dataset.sessions.values_list("session_id", "split"))
    assert all(split_of[f"s{40 + at:03d}"] == split_of[f"s{at:03d}"] for at in range(3))
