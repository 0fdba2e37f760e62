"""Notes are grouped into failure modes by keys, by mouse and by finger."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from annotations_app.agreement.failure_modes import group_notes, list_modes, list_notes
from annotations_app.models import Campaign
from tests.browser.conftest import DESKTOP, PHONE, sign_in
from tests.browser.faults import find_violations_in_both_schemes
from tests.campaigns import lease_for, make_campaign, make_replies, submit

pytestmark = pytest.mark.browser

NOTES = 30  # more than fit a screen


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    lead = User.objects.create_user("lea", password="a long password", is_staff=True)
    lead.groups.add(Group.objects.get(name="lead"))
    campaign = make_campaign(make_replies(tmp_path, NOTES), "ana")
    for number in range(NOTES):
        submit(lease_for(campaign, "ana").current, label=0, notes=f"Note {number}.")
    return campaign


def open_notes(open_page: Any, campaign: Campaign, **options: Any) -> Page:
    page: Page = open_page(**options)
    sign_in(page, "lea", reverse("admin:annotations_app_campaign_notes", args=[campaign.pk]))
    return page


def count_notes(campaign: Campaign) -> dict[str, int]:
    return {mode.name: mode.noted for mode in list_modes(campaign)}


def row(page: Page, number: int) -> Locator:
    return page.locator("[data-notes] li", has_text=f"Note {number}.")


def grip(page: Page, number: int) -> Locator:
    return row(page, number).locator("[data-grip]")


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_by_keys_and_by_mouse(open_page: Any, campaign: Campaign) -> None:
    page = open_notes(open_page, campaign, viewport=DESKTOP)
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("m")
    page.keyboard.type("Too long")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Grouped into Too long.")).to_be_visible()
    assert count_notes(campaign) == {"Too long": 1}
    # One that wasn't chosen goes alone.
    row(page, 28).locator("[name=note]").check()
    drag(page, grip(page, 20), page.locator("[data-drop]", has_text="Too long"))
    expect(page.locator("[data-drop]", has_text="Too long")).to_contain_text("2 notes")
    assert row(page, 20).locator(".ad-badge").text_content() == "Too long"
    # The page comes back where one was, also for keys.
    expect(row(page, 20)).to_be_in_viewport()
    expect(row(page, 20).locator("[name=note]")).to_be_focused()
    # Chosen ones go together, and dropped elsewhere they stay.
    for number in (20, 19):
        row(page, number).locator("[name=note]").check()
    drag(page, grip(page, 20), page.locator("[data-modes] h3"))
    assert count_notes(campaign) == {"Too long": 2}
    expect(page.locator("[name=note]:checked")).to_have_count(2)
    drag(page, grip(page, 20), page.locator("#mode-name"))
    expect(page.locator("#mode-name")).to_be_focused()
    page.keyboard.type("Invents a price")
    page.keyboard.press("Enter")
    expect(page.locator("[data-drop]", has_text="Invents a price")).to_contain_text("2 notes")
    page.keyboard.press("x")
    page.keyboard.press("1")
    expect(page.locator("[data-drop]", has_text="Too long")).to_contain_text("2 notes")
    assert count_notes(campaign) == {"Too long": 2, "Invents a price": 1}
    assert find_violations_in_both_schemes(page) == []


def drag(page: Page, source: Locator, target: Locator) -> None:
    source.scroll_into_view_if_needed()
    page.mouse.move(*middle(source))
    page.mouse.down()
    expect(page.locator(".lead-dragged")).to_be_visible()
    page.mouse.move(*middle(target), steps=3)
    page.mouse.up()


def test_by_finger(open_page: Any, campaign: Campaign) -> None:
    """The modes, which are below all notes, come up from the bottom of the screen."""
    notes = list_notes(campaign).values_list("pk", flat=True)
    for number in range(20):
        group_notes(campaign, [notes[number]], f"Mode {number}", actor=None)
    page = open_notes(open_page, campaign, viewport=PHONE, has_touch=True)
    send = page.context.new_cdp_session(page).send

    def touch(kind: str, *at: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in at]
        send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    first, last = (page.locator("li[data-drop]").nth(place) for place in (0, 19))
    expect(first).not_to_be_in_viewport()
    touch("Start", middle(grip(page, 28)))
    expect(first).to_be_in_viewport()
    touch("Move", middle(first))
    assert find_violations_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # At its edge the sheet scrolls.
    touch("Move", (PHONE["width"] / 2, PHONE["height"] - 10))
    page.wait_for_function(
        "(sheet) => sheet.scrollTop + sheet.clientHeight > sheet.scrollHeight - 2",
        arg=page.locator("[data-modes]").element_handle(),
    )
    touch("Move", middle(last))
    expect(last).to_have_class("lead-drop")
    touch("End")
    expect(row(page, 28).locator(".ad-badge")).to_have_text("Mode 19")
    assert count_notes(campaign)["Mode 19"] == 2
    # A finger that moves over the text scrolls, and drags nothing.
    touch("Start", middle(row(page, 26).locator("label")))
    touch("Move", middle(row(page, 28)))
    expect(page.locator(".lead-dragged")).to_have_count(0)
    touch("End")
    expect(page.locator("[name=note]:checked")).to_have_count(0)
