"""The list of sessions and the page of one: by keyboard, with a selection, for everybody."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.checking.check_dataset import check_dataset
from datasets_app.models import SessionComment
from tests import factories
from tests.browser.conftest import DESKTOP, sign_in
from tests.browser.faults import find_violations_in_both_schemes

CODE = "Run **this**:\n\n```\n" + "print('a long line') " * 20 + "\n```"


def test_sessions_are_listed_selected_and_read(page: Page, transactional_db: Any, tmp_path: Path) -> None:
    lines = [
        *factories.make_session("s1", text="My refund: write to jo@company.org"),
        factories.make_turn("s2", 1, text="Hello"),
        factories.make_turn("s2", 2, text=f"A refund. {CODE}"),
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    check_dataset(dataset, actor=None, name_models=())
    page.goto(reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk]) + "?q=refun")
    expect(page.get_by_text("1–2 of 2 sessions that match")).to_be_visible()
    selected = page.get_by_role("button", name="More for selected")
    expect(selected).to_be_disabled()
    page.get_by_label("Select all on this page").check()
    expect(selected).to_have_text("More for selected (2)")
    for details in page.locator("main details").all():
        details.evaluate("element => { element.open = true; }")
    assert find_violations_in_both_schemes(page) == []
    selected.click()
    expect(page.get_by_text("2 sessions selected")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.goto(reverse("admin:datasets_app_session_change", args=[dataset.sessions.get(session_id="s2").pk]))
    expect(page.locator("strong", has_text="this")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.keyboard.press("m")
    expect(page.get_by_text("**this**")).to_be_visible()
    page.keyboard.press("k")
    expect(page.locator("mark", has_text="jo@company.org").first).to_be_visible()
    assert find_violations_in_both_schemes(page) == []


def test_twenty_sessions_are_read_tagged_and_excluded_by_keys(
    page: Page, transactional_db: Any, tmp_path: Path
) -> None:
    """Facet, preview, comments, range, tag, exclude and undo; nothing is clicked."""
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(21, tags=["scenario:late"]))
    press = page.keyboard.press
    tagged = dataset.turns.filter(tags__contains=["seen"]).values("session").distinct()
    excluded = dataset.sessions.filter(excluded=True)
    page.goto(reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk]))
    facet = page.get_by_role("link", name="late 21")
    facet.focus()
    press("Enter")
    expect(page.get_by_role("link", name="Tag: scenario:late")).to_be_visible()
    press("j")
    press("Space")
    peek = page.get_by_label("Preview")
    expect(peek.get_by_text("What user says as number 1 of s1.")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    press("j")
    expect(peek.get_by_text("What user says as number 1 of s2.")).to_be_visible()
    press("n")
    press("n")
    press("c")
    page.keyboard.type("Answers another question")
    press("Control+Enter")
    toast = page.locator("#toast")
    expect(toast).to_contain_text("Comment added.")
    expect(peek.locator("#turn-2").get_by_text("Answers another question")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    commented = (3, 4, 12, 21)
    for number in range(3, 22):
        press("j")
        expect(peek.get_by_text(f"What user says as number 1 of s{number}.")).to_be_visible()
        if number in commented:
            press("c")
            page.keyboard.type(f"As well {number}")
            press("Control+Enter")
            expect(peek.locator("#turn-1").get_by_text(f"As well {number}")).to_be_visible()
    comments = SessionComment.objects.order_by("pk").values_list("session__session_id", "turn_index")
    assert list(comments) == [("s2", 2), *((f"s{number}", 1) for number in commented)]
    press("Escape")
    expect(peek).to_be_hidden()
    _select_twenty(page)
    press("t")
    page.keyboard.type("seen")
    press("Enter")
    expect(toast).to_contain_text("seen added to 40 turns.")
    assert tagged.count() == 20
    _select_twenty(page)
    press("e")
    expect(toast).to_contain_text("20 sessions excluded.")
    expect(page.locator("tr.ad-excluded")).to_have_count(20)
    assert find_violations_in_both_schemes(page) == []
    assert excluded.count() == 20
    press("u")
    expect(toast).to_contain_text("Undone.")
    expect(page.locator("tr.ad-excluded")).to_have_count(0)
    assert not excluded.exists()
    press("Enter")
    expect(page.locator("h2", has_text="s2")).to_be_visible()


def _select_twenty(page: Page) -> None:
    """From the row at the end of the list to the one before its first, or back."""
    is_down = page.locator("tr.ad-active").get_by_role("link", name="s21", exact=True).count() == 0
    page.keyboard.press("x")
    for _ in range(19):
        page.keyboard.press("j" if is_down else "k")
    page.keyboard.press("Shift+X")
    expect(page.get_by_role("button", name="More for selected (20)")).to_be_visible()


def test_a_filter_changes_the_list_without_another_page(
    page: Page, transactional_db: Any, tmp_path: Path
) -> None:
    """By keys: focus and what is unfolded stay, the count is said, keys and selection are of the new rows; a
    step back shows the list of before."""
    lines = [
        *factories.make_sessions(3, tags=["scenario:late"]),
        *[
            turn
            for at in range(12)
            for turn in factories.make_session(f"t{at:02}", tags=[f"scenario:t{at:02}"])
        ],
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    address = reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk])
    rows, news = page.locator(".ad-browse tbody tr"), page.locator("#list-news")
    page.goto(address)
    expect(news).to_have_text("15 sessions.")
    page.evaluate("window.isSamePage = true")
    page.get_by_text("5 more of Tags: scenario").click()
    facet = page.get_by_role("link", name="t11 1", exact=True)
    facet.focus()
    page.keyboard.press("Enter")
    expect(news).to_have_text("1 session.")
    expect(rows).to_have_count(1)
    expect(facet).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="More for selected (1)")).to_be_visible()
    # One key after the other: the second is not of the list before the first.
    page.evaluate(
        "ids => ids.forEach((id) => document.getElementById(id).click())",
        ["facet-tag=scenario%3At11", "facet-tag=scenario%3Alate", "facet-tag=scenario%3At10"],
    )
    expect(news).to_have_text("4 sessions.")
    expect(rows).to_have_count(4)
    expect(page.get_by_role("button", name="More for selected")).to_be_disabled()
    assert parse_qs(urlsplit(page.url).query)["tag"] == ["scenario:late", "scenario:t10"]
    assert find_violations_in_both_schemes(page) == []
    page.get_by_role("link", name="Tag: scenario:late").press("Enter")
    expect(rows).to_have_count(1)
    expect(page.locator("#browse-list")).to_be_focused()
    assert page.evaluate(
        "window.isSamePage && !Object.keys(localStorage).some((key) => key.includes('htmx'))"
    )
    expect(news).to_have_text("1 session.")
    page.go_back()
    expect(rows).to_have_count(4)
    expect(page.get_by_role("link", name="Tag: scenario:late")).to_be_visible()
    page.go_forward()
    expect(rows).to_have_count(1)
    expect(page.locator("#facets")).not_to_have_attribute("aria-busy", "true")
    # Of two pressed while others are counted, the first is no longer there: the second isn't left for later.
    page.evaluate(
        """ids => {
            document.getElementById(ids[0]).click();
            document.getElementById(ids[1]).id = "facet-gone";
            for (const id of ["facet-gone", ids[2]]) document.getElementById(id).click();
        }""",
        ["facet-tag=scenario%3At09", "facet-tag=scenario%3At08", "facet-tag=scenario%3Alate"],
    )
    expect(rows).to_have_count(5)
    assert parse_qs(urlsplit(page.url).query)["tag"] == ["scenario:t10", "scenario:t09", "scenario:late"]
    expect(news).to_have_text("5 sessions.")


def test_a_list_that_fails_is_told_from_an_empty_one(
    page: Page, transactional_db: Any, tmp_path: Path, browser_errors: list[str]
) -> None:
    """Past the last row comes the next page. Without a connection the list stays, counts that failed are said
    to have failed, and a page that is refused says why."""
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(51, tags=["scenario:late"]))
    page.goto(reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk]))
    rows, facets = page.locator(".ad-browse tbody tr"), page.locator("#facets")
    expect(facets).not_to_have_attribute("aria-busy", "true")
    page.locator("#session-" + str(dataset.sessions.get(session_id="s50").pk)).focus()
    for _ in range(51):
        page.keyboard.press("j")
    expect(rows).to_have_count(1)
    expect(rows).to_be_focused()
    page.keyboard.press("k")
    expect(rows).to_have_count(50)
    expect(rows.last).to_be_focused()
    expect(facets).not_to_have_attribute("aria-busy", "true")
    page.context.set_offline(True)
    facet = page.get_by_role("link", name="late 51", exact=True)
    facet.press("Enter")
    expect(page.locator("#toast")).to_contain_text("The server can't be reached. The list is as it was.")
    expect(rows).to_have_count(50)
    page.context.set_offline(False)
    page.route("**/sessions/facets/*", lambda route: route.abort())
    facet.press("Enter")
    expect(page.get_by_text("1–50 of an unknown number of sessions that match")).to_be_visible()
    expect(facets).to_have_text("Counting failed. Reload the page to try again.")
    page.unroute_all()
    page.context.clear_cookies()
    page.get_by_role("link", name="Tag: scenario:late").press("Enter")
    expect(page.get_by_label("User name")).to_be_visible()
    assert browser_errors
    browser_errors.clear()


def test_a_turn_is_commented_where_it_stands(page: Page, transactional_db: Any, tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    page.goto(reverse("admin:datasets_app_session_change", args=[dataset.sessions.get().pk]))
    page.get_by_role("button", name="Comment on turn 2").click()
    text = page.locator("#turn-2").get_by_label("Comment, with @name for people")
    expect(text).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#comments").get_by_role("textbox")).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.type("Too short")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#turn-2 .ad-comments").get_by_text("Too short")).to_be_visible()
    expect(page.locator("#comments")).to_contain_text("On turn 2.")
    assert find_violations_in_both_schemes(page) == []


def test_withheld_turns_can_be_read_as_such(open_page: Any, curator: User, tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1), origin="external")
    curator.groups.set([Group.objects.get(name="viewer")])
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, path=reverse("admin:datasets_app_session_change", args=[dataset.sessions.get().pk]))
    expect(page.get_by_text("characters, withheld").first).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
