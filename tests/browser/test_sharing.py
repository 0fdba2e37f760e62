"""A privacy officer signs by keyboard and takes the package home: its charts are drawn, its zip is whole."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests import factories
from tests.browser.conftest import sign_in
from tests.browser.faults import find_serious_violations

# The longest of them, so they begin first.
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_review_is_signed_and_a_package_taken_home(open_page: Any, processes: Any, tmp_path: Path) -> None:
    processes.start("worker")
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(4, tags=["scenario:billing"]))
    # All else of the checklist is done: the signature is what the package waits for.
    scrub_dataset(dataset, replace(parse_policy(None), hash_session_ids=True, drop_timestamps=True))
    page: Page = open_page(viewport={"width": 390, "height": 844})
    user = User.objects.create_user("olga", password="a long password", is_staff=True, first_name="Olga")
    user.groups.add(Group.objects.get(name="privacy officer"))
    sign_in(page, "olga")
    page.goto(reverse("admin:datasets_app_dataset_sharing", args=[dataset.pk]))
    assert find_serious_violations(page) == []
    page.get_by_label("Statement").focus()
    page.keyboard.type("Seen.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Olga (olga) signed on")).to_be_visible()
    assert find_serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Export as a package").click()
    expect(page.get_by_label("Format")).to_have_value("package")
    assert find_serious_violations(page) == []
    page.get_by_role("button", name="Start export").click()
    with page.expect_download() as begun:
        page.get_by_role("link", name="Download support_package.zip").click()
    with zipfile.ZipFile(begun.value.path()) as packed:
        packed.extractall(tmp_path / "home")
    charts = sorted((tmp_path / "home/support/charts").glob("*.svg"))
    assert len(charts) == 3
    # On a page of nobody's, whose policy allows such images.
    _are_drawn(page.context.new_page(), charts)


def _are_drawn(page: Page, charts: list[Path]) -> None:
    """As an image, which runs no script and fetches nothing: how a card shows them."""
    for chart in charts:
        size = page.evaluate(
            """async text => {
                const image = new Image();
                image.src = "data:image/svg+xml," + encodeURIComponent(text);
                await image.decode();
                return [image.naturalWidth, image.naturalHeight];
            }""",
            chart.read_text(),
        )
        assert size[0] == 720
        assert size[1] > 60
