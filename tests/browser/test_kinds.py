"""Each kind of criterion, answered with the keyboard alone: wide and as narrow as a phone, light and dark."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from annotations_app.criteria.schemas import import_schema
from annotations_app.models import Campaign, Judgment, LabelSchema
from tests.browser.conftest import DESKTOP, GUARD, PHONE, sign_in
from tests.browser.faults import find_color_violations, find_serious_violations, show_scheme
from tests.campaigns import make_campaign, make_replies

pytestmark = pytest.mark.browser

MAX_STEPS = 60
LOOKS = [(size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]

YES_NO = "{key: correct, question: Is what the reply says correct?, kind: yes_no}"
CHOICE = "{key: refusal, question: Does it refuse?, kind: choice, answers: [answers, in part, refuses]}"
ORDINAL = "{key: helpful, question: How helpful is the reply?, kind: ordinal, answers: [1, 2, 3, 4, 5]}"
TAGS = "{key: faults, question: What is wrong?, kind: tags, answers: [facts, tone, length, claims]}"
NUMBER = "{key: minutes, question: How many minutes does it save?, kind: number, help: A guess will do.}"
TEXT = "{key: why, question: What would a better reply say?, kind: text}"
FAULTS = TAGS.replace("}", ", when: {correct: 0}}")
SESSION = "{key: solved, question: Was it solved?, kind: choice, answers: [badly, well], of: session}"
PAIR = "{key: better, question: Which reply is better?, kind: preference}"
WARMER = "{key: warmer, question: Which reply is warmer?, kind: preference}"
WHY = "Say so: 1 or 2 s sooner."


class Kind(NamedTuple):
    """What is asked; by the name of a control the code that is chosen or the text that is typed."""

    criteria: list[str]
    answers: list[tuple[str, int | str]]
    stored: dict[str, Any]


KINDS = {
    "yes_no": Kind([YES_NO], [("correct", 1)], {"correct": 1}),
    "choice": Kind([CHOICE], [("refusal", 1)], {"refusal": 1}),
    "ordinal": Kind([ORDINAL], [("helpful", 3)], {"helpful": 3}),
    "tags": Kind([TAGS], [("faults", 0), ("faults", 2)], {"faults": 5}),
    "number": Kind([NUMBER], [("minutes", "-2.5")], {"minutes": -2.5}),
    "text": Kind([TEXT], [("why", WHY)], {"why": WHY}),
    "conditional": Kind([YES_NO, FAULTS], [("correct", 0), ("faults", 1)], {"correct": 0, "faults": 2}),
    "session": Kind([YES_NO, SESSION], [("correct", 1), ("solved", 0)], {"correct": 1, "solved": 0}),
    "pair": Kind([PAIR], [("better", 2)], {"better": 2}),
    "pair_twice": Kind([PAIR, WARMER], [("better", 0), ("warmer", 3)], {"better": 0, "warmer": 3}),
    "several": Kind(
        [YES_NO, FAULTS, ORDINAL, NUMBER, TEXT, SESSION],
        [("correct", 0), ("faults", 3), ("helpful", 4), ("minutes", "12"), ("why", WHY), ("solved", 1)],
        {"correct": 0, "faults": 8, "helpful": 4, "minutes": 12, "why": WHY, "solved": 1},
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_answered_by_keyboard(open_page: Any, transactional_db: None, tmp_path: Path, name: str) -> None:
    """By the keys that are shown on a wide screen; by Tab, arrows and the space bar on a narrow one."""
    kind, campaign = KINDS[name], make(tmp_path, KINDS[name])
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "ana")
    for size, scheme in LOOKS:
        if scheme == "light":
            page.set_viewport_size(size)
            page.goto(f"/annotate/{campaign.name}/")
        show_scheme(page, scheme)
        _answer(page, kind, give_by_key if size is DESKTOP else give_by_tab, scheme)
    judged = [one.codes | (one.texts or {}) for one in Judgment.objects.all()]
    assert judged == [kind.stored] * len(LOOKS)


def make_schema(kind: Kind) -> LabelSchema:
    return import_schema("\n  - ".join(["schema: asked\ncriteria:", *kind.criteria])).schema


def make(folder: Path, kind: Kind) -> Campaign:
    data = make_replies(folder, len(LOOKS), text="You can change it under Settings, at any time.")
    other = None
    if PAIR in kind.criteria:
        other = make_replies(folder, len(LOOKS), name="other", text="Gladly! Settings will do.")
        other.turns.filter(role="user").update(text="Where is it?")
        data.turns.filter(role="user").update(text="Where is it?")
    return make_campaign(
        data, "ana", schema=make_schema(kind), other_dataset=other, guidelines="Read **twice**."
    )


def _answer(page: Page, kind: Kind, give: Any, scheme: str) -> None:
    """Whatever takes more than one key is looked at when it is answered and not yet sent."""
    shown = page.locator(".q-item:visible").get_attribute("data-assignment")
    page.wait_for_timeout(GUARD)
    takes_one_key = page.locator("button[data-criterion]").count() > 0
    if not takes_one_key:
        for criterion, answer in kind.answers:
            give(page, find_control(page, criterion, answer), answer)
    assert page.evaluate(FIND_CUT_OFF) == []
    find = find_serious_violations if scheme == "light" else find_color_violations
    assert find(page) == []
    if takes_one_key:
        give(page, find_control(page, *kind.answers[0]), "")
    else:
        give(page, page.get_by_role("button", name="Save answers"), "")
    expect(page.locator(f"#a{shown}")).to_be_hidden()
    expect(page.locator("#save")).to_have_text("Saved")


def find_control(page: Page, criterion: str, answer: int | str) -> Locator:
    if isinstance(answer, str):
        return page.locator(f'[name="typed.{criterion}"]')
    return page.locator(f'[name="chosen.{criterion}"][value="{answer}"]')


def give_by_key(page: Page, control: Locator, answer: int | str) -> None:
    key = control.get_attribute("data-key") or ""
    shown = control.locator("xpath=self::button/kbd | parent::label/kbd | parent::div[@class='q-typed']/kbd")
    expect(shown).to_have_text(key)
    expect(shown).to_be_in_viewport()
    page.keyboard.press(key)
    if isinstance(answer, str) and answer:
        page.keyboard.type(answer)
        page.keyboard.press("Enter")


def give_by_tab(page: Page, control: Locator, answer: int | str) -> None:
    """Whatever has the focus on the way is in sight."""
    for _ in range(MAX_STEPS):
        page.keyboard.press("ArrowRight" if control.evaluate(IS_IN_FOCUSED_GROUP) else "Tab")
        assert page.evaluate(IS_FOCUS_IN_SIGHT), page.evaluate("document.activeElement.outerHTML")
        if control.evaluate(IS_FOCUSED):
            break
    expect(control).to_be_focused()
    if isinstance(answer, str) and answer:
        page.keyboard.type(answer)
    elif not control.evaluate("control => control.checked"):
        page.keyboard.press("Space")


IS_FOCUSED = "control => control === document.activeElement"
IS_IN_FOCUSED_GROUP = """control => {
    const { type, name } = document.activeElement;
    return type === "radio" && control.name === name;
}"""
# Under a fixed bar or cut off by a box that scrolls, another element would be in its place.
IS_FOCUS_IN_SIGHT = """() => {
    const focused = document.activeElement.closest("label") || document.activeElement;
    const { x, y, width, height } = focused.getBoundingClientRect();
    return focused.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
# What is wider than its box.
FIND_CUT_OFF = """() => [...document.querySelectorAll("html, main, main *:not(.q-sr, .ad-sr)")]
    .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.outerHTML.match(/^<[^>]*>/)[0])"""
