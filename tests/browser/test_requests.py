"""Four eyes in the browser: a request, the password again, the approval."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.models import Dataset
from tests import factories
from tests.browser.conftest import sign_in
from tests.browser.faults import find_serious_violations

pytestmark = pytest.mark.browser

PASSWORD = "a long password"


def test_a_second_person_approves_after_giving_the_password_again(
    open_page: Any, processes: Any, tmp_path: Path, settings: Any
) -> None:
    settings.FOUR_EYES = True
    processes.start("worker")
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    for name in ("olga", "ben"):
        user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
        user.groups.add(Group.objects.get(name="privacy officer"))
    asker: Page = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sign_in(asker, "olga")
    asker.goto(reverse("admin:datasets_app_dataset_origin", args=[dataset.pk]))
    asker.get_by_role("combobox", name="Origin").select_option("production")
    asker.get_by_role("textbox", name="Reason").fill("Stated wrongly")
    asker.get_by_role("button", name="Change origin").click()
    expect(asker.get_by_text("A second person has to approve this")).to_be_visible()
    forget_proofs()

    second: Page = open_page(viewport={"width": 1280, "height": 844})
    sign_in(second, "ben", "/admin/")
    expect(second.get_by_text("waits for approval, requested by olga")).to_be_visible()
    second.get_by_role("link", name="Open requests").click()
    expect(second.get_by_text("Stated wrongly")).to_be_visible()
    assert find_serious_violations(second) == []
    forget_proofs()
    second.get_by_role("button", name="Approve").click()
    second.get_by_role("textbox", name="Password").fill(PASSWORD)
    second.get_by_role("button", name="Confirm").click()
    expect(second.get_by_text("Approved. The job starts")).to_be_visible()
    expect(asker.locator("#job-run").get_by_text("Done", exact=True)).to_be_visible()
    assert Dataset.objects.get().origin == "production"


def forget_proofs() -> None:
    """As if everybody had signed in long ago."""
    from importlib import import_module

    from django.conf import settings

    from datasets_app.core.web.reauthentication import PROVED_AT

    for key in Session.objects.values_list("session_key", flat=True):
        store = import_module(settings.SESSION_ENGINE).SessionStore(session_key=key)
        store[PROVED_AT] = 0
        store.save()
