"""The way of a lead: a campaign is begun, its labels disagree, disputes are settled by keyboard, and the
results are looked at. On the way axe-core looks at the pages, and on a phone nothing scrolls sideways."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotations_app.models import Annotation, Campaign
from tests.browser.conftest import DESKTOP, PHONE, sign_in
from tests.browser.faults import find_serious_violations, find_violations_in_both_schemes
from tests.browser.test_kinds import KINDS, make_schema
from tests.campaigns import (
    label_all_replies,
    lease_for,
    make_annotators,
    make_campaign,
    make_persona,
    make_replies,
    submit,
)

# The longest of them, so they begin first.
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def lead(transactional_db: None) -> User:
    user = User.objects.create_user("lea", password="a long password", is_staff=True)
    user.groups.add(Group.objects.get(name="lead"))
    return user


def address(page: str, *arguments: Any) -> str:
    return reverse(f"admin:annotations_app_campaign_{page}", args=arguments)


def disagreement(own: Campaign) -> None:
    """Of eight replies four are disputed: one is a tie of two, on three one of three is overruled."""
    label_all_replies(own, "ana", 1, limit=8)
    label_all_replies(own, "ben", 0, limit=4)
    label_all_replies(own, "ben", 1, limit=4)
    label_all_replies(own, "cy", 0, limit=1)
    label_all_replies(own, "cy", 1, limit=2)


def test_from_a_new_campaign_to_settled_disputes(
    open_page: Any, lead: User, processes: Any, tmp_path: Path
) -> None:
    processes.start("worker")
    make_replies(tmp_path, 8)
    make_annotators("ana", "ben", "cy")
    make_persona()
    page: Page = open_page(viewport={"width": 1280, "height": 800})
    sign_in(page, "lea", "/admin/")
    _begin(page)
    own = Campaign.objects.get()
    disagreement(own)
    page.get_by_role("link", name="Agreement", exact=True).click()
    expect(page.get_by_role("heading", name="Inter-annotator agreement")).to_be_visible()
    expect(page.get_by_role("heading", name="Drift by month")).to_be_visible()
    expect(page.locator(".lead-heat td b")).to_have_count(6)
    assert find_serious_violations(page) == []
    page.locator(".ad-head").get_by_role("link", name="Resolve disagreements").click()
    against = _settle_three(page)
    assert find_serious_violations(page) == []

    settled = Annotation.objects.filter(kind="adjudicated", annotator="lea")
    assert settled.count() == 3
    assert list(settled.exclude(notes=None).values_list("label", "notes")) == [
        (against, "It reads like a form.")
    ]
    page.goto(address("export", own.pk))
    page.get_by_label("Adjudicated:").check()
    page.get_by_role("button", name="Start export").click()
    expect(page.locator(".ad-badge", has_text="Done")).to_be_visible()
    with page.expect_download() as begun:
        page.get_by_role("link", name="Download round-9.adjudicated.jsonl").click()
    lines = Path(begun.value.path()).read_text().splitlines()
    assert len(lines) == 7


def _begin(page: Page) -> None:
    page.get_by_role("link", name="Campaigns").click()
    page.get_by_role("link", name="New campaign").click()
    page.select_option("[name=dataset]", label="support")
    expect(page.locator("#estimate")).to_contain_text("Replies")
    # The second step shows once the first is valid.
    start = page.get_by_role("button", name="Start campaign")
    page.get_by_role("button", name="Continue").press("Enter")
    expect(start).not_to_be_visible()
    page.select_option("[name=persona]", index=1)
    page.get_by_role("button", name="Continue").press("Enter")
    expect(page.get_by_role("heading", name="Step 2 of 2")).to_be_focused()
    page.get_by_role("button", name="Back").press("Enter")
    expect(page.get_by_role("heading", name="Step 1 of 2")).to_be_focused()
    page.get_by_role("button", name="Continue").press("Enter")
    page.fill("[name=name]", "round-9")
    for name in ("ana", "ben"):
        page.get_by_label(name, exact=True).check()
    page.fill("[name=overlap]", "3")
    page.fill("[name=guidelines]", "Only the **voice** counts.")
    page.get_by_role("button", name="Preview guidelines").click()
    expect(page.locator("#guidelines-preview strong")).to_have_text("voice")
    assert find_serious_violations(page) == []
    start.click()
    expect(
        page.get_by_text(
            "Each reply needs 3 annotators, but only 2 are assigned. Add annotators or lower the overlap."
        ).first
    ).to_be_visible()
    expect(page.locator("[name=guidelines]")).to_have_value("Only the **voice** counts.")
    assert find_serious_violations(page) == []
    page.get_by_label("cy", exact=True).check()
    expect(page.locator("#estimate")).to_contain_text("24 (3 per reply)")
    start.click()
    expect(page.get_by_text("0 of 24 labels")).to_be_visible()
    assert find_serious_violations(page) == []


def _settle_three(page: Page) -> int:
    """Nothing but keys; the order is that of the most divided first, so the tie comes first. Returns the
    label that was given against the majority."""
    expect(page.locator(".lead-dispute-progress")).to_contain_text("0 of 4 disputed replies adjudicated")
    first = page.url
    page.keyboard.press("s")
    page.wait_for_url(lambda url: url != first and "turn=" in url)
    page.keyboard.press("Backspace")
    page.wait_for_url(first)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("1")  # a tie: no reason is asked for
    expect(page.locator(".lead-dispute-progress")).to_contain_text("1 of 4")
    page.keyboard.press("1" if _majority(page) == "0" else "0")
    expect(page.locator("#settle-hint")).to_contain_text("Enter a reason")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press(_majority(page))
    expect(page.locator(".lead-dispute-progress")).to_contain_text("2 of 4")
    against = "1" if _majority(page) == "0" else "0"
    page.keyboard.press("r")
    page.keyboard.type("It reads like a form.")
    page.keyboard.press("Escape")
    page.keyboard.press(against)
    expect(page.locator(".lead-dispute-progress")).to_contain_text("3 of 4")
    return int(against)


def _majority(page: Page) -> str:
    return page.locator("[data-dispute]").get_attribute("data-majority") or ""


def test_the_pages_of_a_campaign(open_page: Any, lead: User, tmp_path: Path) -> None:
    """On a phone, light and dark, with names and texts as long as they may be."""
    tag = "scenario:" + "y" * 200
    own = make_campaign(
        make_replies(tmp_path, 8, tags=[tag, "short"], text="x" * 400 + " and more"),
        *("ana", "ben", "cy"),
        overlap=3,
        name="n" * 100,
        guidelines="# Long\n\n" + "z" * 300,
    )
    disagreement(own)
    submit(lease_for(own, "cy").current, "flag", None, notes="Other: " + "w" * 300)
    page: Page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="light")
    sign_in(page, "lea")
    here = [address(name, own.pk) for name in ("change", "flagged", "stale", "settings", "export")]
    here += [address("changelist"), address("add"), f"{address('adjudicate')}?campaign={own.pk}"]
    here += [reverse("admin:datasets_app_dataset_change", args=[own.dataset_id])]
    here += [reverse("admin:annotations_app_annotation_changelist"), address("agreement", own.pk)]
    for where in here:
        page.goto(where)
        if "/agreement/" in where:
            expect(page.get_by_role("heading", name="By tag")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, where
        if page.locator(".ad-page").count():
            assert find_violations_in_both_schemes(page) == [], where
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))


def test_the_pages_of_a_schema(open_page: Any, lead: User, tmp_path: Path) -> None:
    """Calibration round, agreement, notes and adjudication of all kinds of criteria: wide and on a phone."""
    data = make_replies(tmp_path, 6, text="You can change it under Settings, at any time.")
    options = {"overlap": 3, "calibration_replies": 6, "calibration_alpha": 0.8}
    own = make_campaign(data, "ana", "ben", "cy", schema=make_schema(KINDS["several"]), **options)
    for who, name in enumerate(("ana", "ben", "cy")):
        for number in range(6):
            right = (number + who) % 3 > 0
            answers = {"correct": int(right), "helpful": 1 + (number + who) % 5, "minutes": 5 * number + who}
            answers |= {"why": f"A word on {number}.", "solved": ["badly", "well"][right]}
            answers |= {} if right else {"faults": ["facts", "tone", "length"][: who + 1]}
            submit(lease_for(own, name).current, label=None, answers=answers, notes=f"{name} hesitates.")
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "lea")
    here = [address(name, own.pk) for name in ("calibration", "agreement", "notes")]
    for where in [*here, f"{address('adjudicate')}?campaign={own.pk}"]:
        page.goto(where)
        if "/agreement/" in where:
            expect(page.get_by_role("heading", name="Confusion of annotators").first).to_be_visible()
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], where
            assert find_violations_in_both_schemes(page) == [], where


def test_a_dispute_is_settled_on_a_phone(open_page: Any, lead: User, tmp_path: Path) -> None:
    own = make_campaign(make_replies(tmp_path, 8, turns=12), "ana", "ben", "cy", overlap=3)
    disagreement(own)
    page: Page = open_page(viewport={"width": 390, "height": 844}, has_touch=True)
    sign_in(page, "lea")
    page.goto(f"{address('adjudicate')}?campaign={own.pk}")
    expect(page.locator("#judged .ad-bubble")).to_be_in_viewport()
    expect(page.get_by_role("button", name=re.compile("On-brand"))).to_be_in_viewport()
    # The reason follows the labels that it is about, and covers none of them.
    choice, labels = (
        page.locator(".lead-settle").bounding_box(),
        page.locator(".lead-label").last.bounding_box(),
    )
    assert choice
    assert labels
    assert choice["y"] >= labels["y"] + labels["height"]
    page.get_by_role("button", name=re.compile("On-brand")).tap()
    expect(page.locator(".lead-dispute-progress")).to_contain_text("1 of 4")
    expect(page.locator("#judged .ad-bubble")).to_be_in_viewport()
