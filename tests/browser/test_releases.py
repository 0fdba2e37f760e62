"""A version released by keyboard, handed out, looked at on a phone in the dark."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from playwright.sync_api import Page

from datasets_app.catalog import text_gates
from datasets_app.jobs.perform import perform
from datasets_app.models import JobRun, Release
from tests import factories
from tests.browser.faults import find_serious_violations

# The longest of them, so they begin first.
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_version_is_released_handed_out_and_compared(
    page: Page, phone_page: Page, curator: User, empty_queue: None, tmp_path: Path
) -> None:
    lines = [*factories.make_sessions(2), factories.make_turn("s3", text="Mail jo@example.org.")]
    dataset = factories.make_dataset(tmp_path, lines)
    text_gates.scan_and_describe(dataset)
    curator.user_permissions.add(Permission.objects.get(codename="override_gate"))
    address = reverse("admin:datasets_app_dataset_releases", args=[dataset.pk])
    page.goto(address)
    assert find_serious_violations(page) == []
    page.focus("[name=override]")
    page.keyboard.type("nobody is left to sign")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobrun/**")
    perform(JobRun.objects.get(operation="release_dataset").pk)
    release = Release.objects.get()
    dataset.sessions.get(session_id="s2").turns.filter(turn_index=2).update(text="Corrected.")
    Release.objects.update(fault="support_v1.0.0.jsonl.gz was changed after the release.")

    page.goto(f"{address}1.0.0/")
    with page.expect_download() as download:
        page.click("text=support_v1.0.0.jsonl.gz >> nth=-1")
    assert Path(download.value.path()).read_bytes() == release.files.get(kind="data").file.read()
    for seen in (page, phone_page):
        for place in (address, f"{address}1.0.0/", f"{address}compare/?before=1.0.0"):
            seen.goto(place)
            assert find_serious_violations(seen) == []
            assert _fits(seen)


def _fits(page: Page) -> Any:
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
