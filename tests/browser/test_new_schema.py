"""As a new user would, with the keyboard alone: a schema of three criteria is written, a campaign opened with
it, and ten replies are labeled."""

import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from annotations_app.models import Campaign, Judgment
from tests.browser.conftest import DESKTOP, sign_in
from tests.browser.faults import find_violations_in_both_schemes
from tests.campaigns import make_annotators, make_persona, make_replies

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REPLIES = 10
MAX_TABS = 200
SCHEMA = """\
schema: first_look
criteria:
  - {key: correct, question: Is it correct?, kind: yes_no}
  - {key: fault, question: What is wrong?, kind: tags, answers: [facts, tone], when: {correct: 0}}
  - {key: helpful, question: How helpful is it?, kind: ordinal, answers: [1, 2, 3]}
"""


def test_from_an_idea_to_ten_labels(open_page: Any, processes: Any, tmp_path: Path) -> None:
    processes.start("worker")
    make_replies(tmp_path, REPLIES)
    make_annotators("ana")
    make_persona()
    lead = User.objects.create_user("lea", password="a long password", is_staff=True)
    lead.groups.add(Group.objects.get(name="lead"))
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "lea", reverse("admin:annotations_app_campaign_schemas"))
    started = time.monotonic()
    _write_schema(page)
    _open_campaign(page)
    _label(open_page)
    print(f"A schema, a campaign and {REPLIES} labels took {time.monotonic() - started:.0f} s.")


def go_to(page: Page, target: Locator) -> None:
    """By Tab, as often as it takes."""
    expect(target).to_be_visible()
    for _ in range(MAX_TABS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} isn't reached by Tab")


def _press(page: Page, role: Any, name: str) -> None:
    go_to(page, page.get_by_role(role, name=name, exact=True))
    page.keyboard.press("Enter")


def _write_schema(page: Page) -> None:
    _press(page, "link", "New schema")
    go_to(page, page.locator("[name=text]"))
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(SCHEMA)
    expect(page.locator(".q-criterion")).to_have_count(3)
    assert find_violations_in_both_schemes(page) == []
    _press(page, "button", "Save")
    expect(page.get_by_text("first_look 1 is created.")).to_be_visible()


def _open_campaign(page: Page) -> None:
    _press(page, "link", "New campaign")
    for name, typed in (("dataset", "support"), ("persona", "warm")):
        go_to(page, page.locator(f"select[name={name}]"))
        page.keyboard.type(typed)
    expect(page.locator("select[name=schema] :checked")).to_have_text("first_look 1")
    _press(page, "button", "Continue")
    go_to(page, page.locator("[name=name]"))
    page.keyboard.type("first-round")
    go_to(page, page.get_by_label("ana", exact=True))
    page.keyboard.press("Space")
    go_to(page, page.locator("[name=overlap]"))
    page.keyboard.press("Control+a")
    page.keyboard.type("1")
    _press(page, "button", "Start campaign")
    expect(page.locator(".ad-badge", has_text="Open")).to_be_visible()
    assert Campaign.objects.get().item_count == REPLIES


def _label(open_page: Any) -> None:
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "ana", "/annotate/")
    for number in range(REPLIES):
        page.locator(".q-item:visible").wait_for()
        before = page.locator(".q-item:visible").get_attribute("data-assignment")
        page.wait_for_timeout(200)  # sooner after a reply has come, a key counts as pressed twice
        keys = page.locator(".q-criterion:visible kbd").all_text_contents()
        wrong, right = keys[0], keys[1]
        page.keyboard.press(wrong if number == 0 else right)
        shown = page.locator(".q-criterion:visible kbd").all_text_contents()
        if number == 0:
            page.keyboard.press(shown[2])
        page.keyboard.press(shown[-1])
        page.keyboard.press("Enter")
        if number < REPLIES - 1:
            expect(page.locator(f"#a{before}")).to_be_hidden()
    expect(page.locator("#save")).to_have_text("Saved")
    codes = [one.codes for one in Judgment.objects.order_by("pk")]
    assert codes == [{"correct": 0, "fault": 1, "helpful": 2}] + 9 * [{"correct": 1, "helpful": 2}]
