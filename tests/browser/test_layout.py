"""What stands beside what, measured in a browser."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from datasets_app.models import CheckFinding, CheckReport
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.faults import find_serious_violations, find_violations_in_both_schemes
from tests.campaigns import label_all_replies, make_campaign, make_replies

pytestmark = pytest.mark.browser


def box(locator: Locator) -> dict[str, float]:
    found = locator.bounding_box()
    assert found is not None
    return dict(found)


def test_clear_stands_beside_search(page: Page, transactional_db: None, tmp_path: Any) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    page.goto(f"{reverse('admin:datasets_app_turn_changelist')}?dataset={dataset.pk}&q=number")
    words = box(page.locator(".ad-filter [name=q]"))
    search, clear = (box(page.locator(".ad-filter-buttons > *").nth(place)) for place in (0, 1))
    assert search["y"] == clear["y"]
    assert abs(words["y"] + words["height"] - search["y"] - search["height"]) < 4


def test_the_field_of_a_finding_stands_behind_its_message(
    phone_page: Page, transactional_db: None, tmp_path: Any
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    report = CheckReport.objects.create(dataset=dataset, turn_count=2, warning_count=1, totals={"W601": 1})
    CheckFinding.objects.create(
        report=report, code="W601", message="no licence is stated, so nobody may use it", field="licence"
    )
    phone_page.goto(reverse("admin:datasets_app_dataset_checks", args=[dataset.pk]))
    field = phone_page.locator("td[data-label=Finding] .ad-subtle", has_text="(licence)")
    message = phone_page.locator("td[data-label=Finding] > div")
    assert box(field)["x"] >= box(message)["x"]
    assert box(message)["width"] > 200
    assert box(field)["height"] < 30


def test_the_tab_one_is_on_stands_whole_on_a_phone(
    phone_page: Page, transactional_db: None, tmp_path: Any
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    for name in ("history", "retention"):
        phone_page.goto(reverse(f"admin:datasets_app_dataset_{name}", args=[dataset.pk]))
        phone_page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        for row in (".ad-tabs", ".ad-subtabs"):
            tab, tabs = box(phone_page.locator(f"{row} [aria-current]")), box(phone_page.locator(row))
            assert tab["x"] >= tabs["x"]
            assert tab["x"] + tab["width"] <= tabs["x"] + tabs["width"] + 1


def test_links_within_sentences_are_not_told_by_colour_alone(
    page: Page, transactional_db: None, tmp_path: Any
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    report = CheckReport.objects.create(dataset=dataset, turn_count=2, warning_count=1, totals={"W601": 1})
    CheckFinding.objects.create(report=report, code="W601", message="no licence is stated", field="licence")
    page.goto(reverse("admin:datasets_app_dataset_checks", args=[dataset.pk]))
    assert page.get_by_role("link", name="Edit metadata").is_visible()
    assert find_serious_violations(page) == []


def test_the_frame_works_by_keyboard_and_covers_no_title(phone_page: Page, transactional_db: None) -> None:
    """The sidebar is opened and closed, what a list offers stands under its title, the logo has a name."""
    page = phone_page
    page.goto(reverse("admin:datasets_app_dataset_changelist"))
    title, tool = box(page.locator("h1")), box(page.locator(".ad-tools .ad-primary"))
    assert tool["y"] >= title["y"] + title["height"]
    page.goto(reverse("admin:datasets_app_dataset_import"))
    page.locator("h1 .ad-crumb-here").evaluate("it => it.textContent = 'a long title '.repeat(9)")
    assert box(page.locator(".ad-top > .ad-btn").last)["y"] < title["y"] + title["height"]
    page.get_by_role("button", name="Show the sidebar").press("Enter")
    expect(page.get_by_role("link", name="Alignmenter Datasets")).to_be_visible()
    page.locator(".ad-account").press("Enter")
    expect(page.get_by_role("navigation", name="Your account")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Alignmenter Datasets")).not_to_be_visible()


def test_breadcrumbs_shorten_names_before_words(page: Page, transactional_db: None, tmp_path: Any) -> None:
    dataset = make_replies(tmp_path, 1, name="a-name-of-a-dataset-" * 4)
    page.goto(reverse("admin:datasets_app_dataset_history", args=[dataset.pk]))
    name, word = page.locator(".ad-crumb-step").all()[1], page.locator(".ad-crumb-step", has_text="Datasets")
    name.evaluate("it => it.before(...Array(4).fill().map(() => it.cloneNode(true)))")
    is_cut = "it => it.scrollWidth > it.clientWidth"
    assert name.evaluate(is_cut)
    assert not word.evaluate(is_cut)
    page.set_viewport_size(PHONE)
    assert page.locator(".ad-crumb-step:visible").evaluate(is_cut)
    assert not page.locator(".ad-crumb-here").evaluate(is_cut)


def test_a_row_of_a_list_opens_what_it_is_about(page: Page, transactional_db: None, tmp_path: Any) -> None:
    """Wherever it is clicked, but not on its check box."""
    dataset = make_replies(tmp_path, 1)
    page.goto(reverse("admin:datasets_app_dataset_changelist"))
    row = page.locator("#result_list tr.data-row")
    row.get_by_role("checkbox").check()
    expect(row.get_by_role("checkbox")).to_be_checked()
    place = box(row.locator("td").last)
    page.mouse.click(place["x"] + place["width"] - 4, place["y"] + 4)
    page.wait_for_url(f"**{reverse('admin:datasets_app_dataset_change', args=[dataset.pk])}")


def test_what_is_too_wide_once_a_phone_is_turned_scrolls_by_keyboard(
    page: Page, transactional_db: None
) -> None:
    page.goto(reverse("admin:datasets_app_dataset_import"))
    page.evaluate(
        """document.querySelector(".ad-page").insertAdjacentHTML(
            "beforeend", `<div class="ad-scroll"><p class="ad-nowrap">${"wide ".repeat(20)}</p></div>`)"""
    )
    table = page.locator(".ad-scroll").last
    page.set_viewport_size(PHONE)
    expect(table).to_have_attribute("tabindex", "0")


def test_whole_pages_of_a_dataset_have_no_faults(page: Page, transactional_db: None, tmp_path: Any) -> None:
    """With the frame of the admin: landmarks, names, contrast, and nothing wider than the window."""
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    CheckReport.objects.create(dataset=dataset, turn_count=2, error_count=1, totals={"E301": 1})
    labeled = make_campaign(make_replies(tmp_path, 2, name="labeled"), "ana")
    label_all_replies(labeled, "ana", label=1)
    addresses = [
        reverse("admin:index"),
        reverse("admin:datasets_app_dataset_import"),
        reverse("admin:datasets_app_dataset_change", args=[dataset.pk]),
        reverse("admin:annotations_app_campaign_dataset_labels", args=[dataset.pk]),
        reverse("admin:annotations_app_campaign_dataset_calibration", args=[labeled.dataset_id]),
        reverse("admin:annotations_app_campaign_dataset_review", args=[labeled.dataset_id]),
        reverse("admin:annotations_app_campaign_add"),
        reverse("admin:datasets_app_persona_changelist"),
    ]
    for address in addresses:
        page.goto(address)
        assert page.locator("main").count() == 1, address
        assert find_violations_in_both_schemes(page) == [], address
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
        page.set_viewport_size(DESKTOP)


def test_an_item_is_assigned_and_a_digest_copied_by_keyboard(
    page: Page, transactional_db: None, tmp_path: Any
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(reverse("admin:index"))
    menu = page.locator(".ad-menu").first
    menu.locator("summary").press("Enter")
    assert menu.get_by_role("button", name="Assign").is_visible()
    page.keyboard.press("Escape")
    assert not menu.get_by_role("button", name="Assign").is_visible()
    menu.locator("summary").press("Enter")
    menu.get_by_label("Assign to").select_option("curator")
    menu.get_by_role("button", name="Assign").press("Enter")
    expect(page.get_by_text("Assigned to you")).to_be_visible()
    page.goto(reverse("admin:datasets_app_dataset_change", args=[dataset.pk]))
    page.get_by_role("button", name="Copy SHA-256").press("Enter")
    expect(page.locator(".ad-copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == dataset.source_files.get().sha256


def test_fields_suggest_what_there_is(page: Page, transactional_db: None, tmp_path: Any) -> None:
    """Tags of the chosen dataset: chosen by keys, while something else can still be typed."""
    dataset = factories.make_dataset(
        tmp_path, [factories.make_turn("s", tags=["scenario:refund", "scenario:returns"])]
    )
    page.goto(f"{reverse('admin:datasets_app_turn_changelist')}?dataset={dataset.pk}")
    tag = page.get_by_role("combobox", name="Tag")
    tag.click()
    options = page.locator(".ad-picker [role=option]")
    expect(options).to_have_text(["scenario:refund", "scenario:returns"])
    tag.press_sequentially("ret")
    expect(options).to_have_text(["scenario:returns"])
    tag.press("ArrowDown")
    tag.press("Enter")
    expect(tag).to_have_value("scenario:returns")
    tag.fill("other")
    tag.press("Enter")
    page.wait_for_url("**tag=other**")
    assert find_serious_violations(page) == []


def test_choosing_a_file_makes_no_error(page: Page, transactional_db: None, tmp_path: Any) -> None:
    """The frame's own script takes each such field for its widget, once anything on the page has changed."""
    page.goto(reverse("admin:datasets_app_dataset_import"))
    page.evaluate(
        "new Promise(done => { document.body.append(document.createElement('i')); setTimeout(done); })"
    )
    page.set_input_files("[name=file]", factories.write_jsonl(tmp_path / "one.jsonl", []))
    # An error ends the test, as in all of them.
    expect(page.get_by_role("button", name="Upload and preview")).to_be_enabled()
