"""Words of a reply are marked with the keyboard, a mouse and a finger; a schema changes meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.evidence import quote_evidence
from annotations_app.models import Annotation, Campaign, Judgment
from datasets_app.catalog import text_gates
from tests.browser.conftest import DESKTOP, GUARD, PHONE, sign_in
from tests.browser.faults import find_violations_in_both_schemes
from tests.browser.test_criteria import is_saved, press, reply
from tests.campaigns import PERSONA_YAML, make_campaign, make_persona
from tests.factories import make_dataset

pytestmark = pytest.mark.browser

# A preferred word is highlighted within it.
TEXT = "Gladly 😀: the **bill** is sadly wrong, and Sōseki's too."


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return make(tmp_path)


def make(folder: Path, **options: Any) -> Campaign:
    ana = User.objects.create_user("ana", password="a long password")
    ana.groups.add(Group.objects.get(name="annotator"))
    lines = []
    for session in range(4):
        for turn, (role, text) in enumerate((("user", "Well?"), ("assistant", TEXT)), 1):
            turn_line = {"session_id": f"s{session}", "turn_index": turn, "role": role, "text": text}
            lines.append(turn_line | {"persona_id": "warm_v1", "tags": []})
    dataset = make_dataset(folder, lines)
    text_gates.scan_and_describe(dataset)
    return make_campaign(dataset, "ana", persona=make_persona(yaml=PERSONA_YAML), **options)


def open_queue(open_page: Any, **options: Any) -> Page:
    page: Page = open_page(**options)
    sign_in(page, "ana", "/annotate/round-1/")
    page.wait_for_selector(".q-item:visible")
    return page


def marked(page: Page) -> list[str]:
    texts = page.locator(".q-item:visible [data-marked] button").all_text_contents()
    return [text.removesuffix(" ✕") for text in texts]


def stored() -> list[str]:
    return quote_evidence(Annotation.objects.latest("pk").evidence, TEXT)


def test_by_keyboard(open_page: Any, campaign: Campaign) -> None:
    page = open_queue(open_page, viewport=DESKTOP)
    press(page, ". ArrowRight ArrowRight Shift+ArrowRight Enter")
    assert marked(page) == ["bill** is"]
    press(page, "End Enter")
    assert marked(page) == ["bill** is", "too"]
    press(page, "Shift+ArrowLeft Enter")
    assert marked(page) == ["bill** is", "Sōseki's too"]
    press(page, "ArrowRight Enter Home Enter Escape")
    assert marked(page) == ["Gladly", "bill** is", "Sōseki's"]
    assert find_violations_in_both_schemes(page) == []
    # Kept over a reload; then a key decides.
    page.reload()
    page.wait_for_selector(".q-item:visible")
    assert marked(page) == ["Gladly", "bill** is", "Sōseki's"]
    press(page, "0")
    is_saved(page)
    assert stored() == ["Gladly", "bill** is", "Sōseki's"]
    assert marked(page) == []
    # Undone and decided again, without one of them.
    press(page, "Backspace")
    page.get_by_role("button", name="Unmark: Gladly").click()
    press(page, "1")
    is_saved(page)
    assert stored() == ["bill** is", "Sōseki's"]
    # Reopened: as it was decided.
    page.locator("#recent a").first.click()
    expect(page.locator(".q-item:visible [data-marked] button")).to_have_count(2)


def select(page: Page, word: str, last: str) -> None:
    page.evaluate(
        """([word, last]) => {
            const place = [...document.querySelectorAll(".q-item:not([hidden]) [data-reply] [data-raw]")][0];
            const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), nodes = [];
            while (walker.nextNode()) nodes.push(walker.currentNode);
            const first = nodes.find((node) => node.data.includes(word));
            const end = nodes.find((node) => node.data.includes(last));
            getSelection().setBaseAndExtent(
                first, first.data.indexOf(word) + 1, end, end.data.indexOf(last) + last.length - 1);
        }""",
        [word, last],
    )


def test_by_mouse(open_page: Any, campaign: Campaign) -> None:
    page = open_queue(open_page, viewport=DESKTOP)
    show_raw = page.locator(".q-item:visible [data-reply] [data-show-raw]")
    if show_raw.count():
        show_raw.click()
    select(page, "sadly", "wrong")
    page.locator("[data-do=mark]").click()
    assert marked(page) == ["sadly wrong"]
    page.wait_for_timeout(GUARD)
    page.locator("[data-do=off]").click()
    is_saved(page)
    assert stored() == ["sadly wrong"]


def test_by_finger(open_page: Any, campaign: Campaign) -> None:
    page = open_queue(open_page, viewport=PHONE, has_touch=True)
    page.locator("[data-do=mark]").tap()
    word = page.evaluate(
        """() => {
            const place = document.querySelector(".q-item:not([hidden]) [data-reply] [data-raw]");
            const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
            const range = document.createRange();
            let node;
            while ((node = walker.nextNode()) && !node.data.includes("wrong"));
            range.setStart(node, node.data.indexOf("wrong") + 1);
            range.setEnd(node, node.data.indexOf("wrong") + 3);
            const { x, y, width, height } = range.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
        }"""
    )
    page.touchscreen.tap(*word)
    assert marked(page) == ["wrong"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert find_violations_in_both_schemes(page) == []
    page.wait_for_timeout(GUARD)
    page.locator("[data-do=on]").tap()
    is_saved(page)
    assert stored() == ["wrong"]


SCHEMA = "schema: quality\ncriteria:\n  - {key: right, question: Right?, kind: yes_no}\n" + (
    "  - {key: tone, question: Tone?, kind: choice, answers: [cold, warm]}\n"
)


def test_a_schema_that_changes_meanwhile(open_page: Any, transactional_db: None, tmp_path: Path) -> None:
    """The page asks the new questions; what was answered so far is still there."""
    campaign = make(tmp_path, schema=import_schema(SCHEMA).schema)
    page = open_queue(open_page, viewport=DESKTOP)
    first = reply(page)
    later = import_schema(SCHEMA.replace("[cold, warm]", "[cold, neutral, warm]")).schema
    edit_campaign(campaign, changes={"schema": later, "guidelines": "Look twice."}, actor=None)
    press(page, "1 w Enter")
    expect(page.locator("#guidelines")).to_contain_text("Look twice.")
    expect(page.locator(".q-level", has_text="Neutral")).to_be_visible()
    judged = Judgment.objects.get()
    assert (judged.schema.version, judged.codes, judged.guidelines_digest) == (1, {"right": 1, "tone": 1}, "")
    assert reply(page) != first
    press(page, "1 w Enter")
    is_saved(page)
    judged = Judgment.objects.latest("pk")
    assert (judged.schema.version, judged.codes["tone"], len(judged.guidelines_digest)) == (2, 1, 64)
