"""Several criteria on one screen: what is missing is named; answers outlive an undo, a reload and an outage.
All kinds of criteria are in ``test_kinds.py``."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from annotations_app.criteria.schemas import import_schema
from annotations_app.models import Campaign, Decision, Judgment
from tests.browser.conftest import DESKTOP, GUARD, PHONE, sign_in
from tests.campaigns import make_campaign, make_replies

pytestmark = pytest.mark.browser

SCHEMA = """\
schema: quality
criteria:
  - key: correct
    question: Is what the reply says correct?
    kind: yes_no
  - key: faults
    question: What is wrong?
    kind: tags
    answers: [facts, tone, length]
    help: As many as there are.
    when: {correct: 0}
  - key: helpful
    question: How helpful is the reply?
    kind: ordinal
    answers: [{value: 1, name: Not at all}, {value: 2, name: Fairly}, {value: 3, name: Very}]
  - key: why
    question: What would a better reply say?
    kind: text
    optional: true
"""


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return make(tmp_path, import_schema(SCHEMA).schema)


def make(folder: Path, schema: Any) -> Campaign:
    ana = User.objects.create_user("ana", password="a long password")
    ana.groups.add(Group.objects.get(name="annotator"))
    return make_campaign(make_replies(folder, 8), "ana", schema=schema, guidelines="Read **twice**.")


def press(page: Page, keys: str) -> None:
    page.wait_for_timeout(GUARD)
    for key in keys.split():
        page.keyboard.press(key)
        page.wait_for_timeout(60)


def reply(page: Page) -> str:
    return page.locator(".q-item:visible").get_attribute("data-assignment") or ""


def is_saved(page: Page) -> None:
    expect(page.locator("#save")).to_have_text("Saved")


def test_three_criteria_by_keys_alone(open_page: Any, campaign: Campaign, browser_errors: list[str]) -> None:
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "ana", "/annotate/round-1/")
    page.wait_for_selector(".q-item:visible")
    first, faults = reply(page), page.locator("[data-criterion=faults]")
    expect(faults).to_be_hidden()
    # Something is missing: it is said where, and nothing is sent.
    press(page, "0 Enter")
    expect(page.locator("#announce")).to_have_text("Not answered: How helpful is the reply?")
    expect(page.locator("[data-missing] legend")).to_have_text("How helpful is the reply?")
    expect(faults).to_be_visible()
    keys = [key.text_content() for key in page.locator(".q-criteria kbd").all()]
    assert keys == ["0", "1", "q", "w", "e", "a", "d", "g", "z"]
    press(page, "q e g z")
    page.keyboard.type("Sooner, please", delay=5)
    press(page, "Enter Enter")
    expect(page.locator(f"#a{first}")).to_be_hidden()
    is_saved(page)
    judged = Judgment.objects.get()
    assert (judged.codes, judged.texts) == (
        {"correct": 0, "faults": 5, "helpful": 2},
        {"why": "Sooner, please"},
    )
    # The next reply begins with nothing answered; an answer that is hidden again doesn't count.
    assert page.locator(".q-criteria :checked").count() == 0
    press(page, "0 w 1 a Enter")
    is_saved(page)
    assert Judgment.objects.latest("pk").codes == {"correct": 1, "helpful": 0}
    _undone(page)
    _reloaded(page)
    _labeled_ahead(page)
    # What the browser itself says of a network that is gone is no complaint of ours.
    browser_errors[:] = [text for text in browser_errors if "Failed to load resource" not in text]


def _undone(page: Page) -> None:
    """What is undone comes back with its answers, to be changed."""
    press(page, "Backspace")
    expect(page.locator("#helpful-0")).to_be_checked()
    press(page, "d Enter")
    is_saved(page)
    assert Judgment.objects.latest("pk").codes == {"correct": 1, "helpful": 1}
    page.locator("#recent a").last.click()
    expect(page.locator("#faults-2")).to_be_checked()
    assert page.locator("#why-typed").input_value() == "Sooner, please"
    press(page, "Escape")
    assert Judgment.objects.count() == 2


def _reloaded(page: Page) -> None:
    """What is answered but not sent is there after a reload."""
    press(page, "0 w d")
    page.reload()
    page.wait_for_selector(".q-item:visible")
    expect(page.locator("#faults-1")).to_be_checked()
    press(page, "s")
    is_saved(page)
    assert page.locator(".q-criteria :checked").count() == 0
    press(page, "f 2")
    is_saved(page)
    kinds = list(Decision.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["label", "label", "undo", "label", "skip", "flag"]


def _labeled_ahead(page: Page) -> None:
    """Offline, decisions wait in the browser with their answers."""
    page.context.set_offline(True)
    press(page, "1 g Enter")
    expect(page.locator("#save")).to_contain_text("1 decision waiting")
    page.context.set_offline(False)
    is_saved(page)
    assert Judgment.objects.latest("pk").codes == {"correct": 1, "helpful": 2}


def test_by_finger(open_page: Any, campaign: Campaign) -> None:
    page: Page = open_page(viewport=PHONE, has_touch=True)
    sign_in(page, "ana", "/annotate/round-1/")
    page.wait_for_selector(".q-item:visible")
    page.locator(".q-level", has_text="No").first.tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator(".q-level", has_text="Tone").tap()
    page.locator(".q-level", has_text="Very").tap()
    page.get_by_role("button", name="Save answers").tap()
    is_saved(page)
    assert Judgment.objects.get().codes == {"correct": 0, "faults": 2, "helpful": 2}


def test_questions_about_the_whole_conversation(
    open_page: Any, transactional_db: None, tmp_path: Path
) -> None:
    """Beside those about the reply, with the last reply of each conversation."""
    ana = User.objects.create_user("ana", password="a long password")
    ana.groups.add(Group.objects.get(name="annotator"))
    text = "schema: both\ncriteria:\n  - {key: right, question: Right?, kind: yes_no}\n"
    text += "  - {key: solved, question: Was it solved?, kind: choice, answers: [badly, well], of: session}\n"
    schema = import_schema(text).schema
    make_campaign(make_replies(tmp_path, 1, turns=4), "ana", schema=schema, order="session")
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "ana", "/annotate/round-1/")
    page.wait_for_selector(".q-item:visible")
    solved = page.locator("[data-criterion=solved]")
    expect(solved).to_be_hidden()
    press(page, "1 Enter")
    expect(solved).to_be_visible()
    press(page, "1 Enter")
    expect(page.locator("#announce")).to_contain_text("Not answered: Was it solved?")
    press(page, "w Enter")
    is_saved(page)
    assert [one.codes for one in Judgment.objects.order_by("pk")] == [{"right": 1}, {"right": 1, "solved": 1}]
    press(page, "Backspace")
    expect(page.locator("#solved-1")).to_be_checked()
