"""The way of an annotator: fifty replies by keyboard, with mistakes taken back and a network that comes
and goes; and the same pages looked at by axe-core, on a phone, in the dark."""

import re
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotations_app.campaigns.create import create_campaign
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, Decision
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Persona
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories
from tests.browser.conftest import DESKTOP, GUARD, TIMEOUT_MS, sign_in
from tests.browser.faults import find_serious_violations, find_violations_in_both_schemes

pytestmark = pytest.mark.browser

PERSONA = """
id: calm
display_name: Calm assistant
description: Answers first.
exemplars: [Let us check together.]
lexicon: {preferred: [check], avoid: [obviously]}
style_rules: {sentence_length: {max_avg: 18}, emojis: {allowed: false}}
"""
VISIBLE = "document.querySelector('.q-item:not([hidden])')"


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    lines = []
    for number in range(60):
        lines += [
            factories.make_turn(f"s{number}", 1, text=f"Question {number}?"),
            factories.make_turn(f"s{number}", 2, text=f"Reply {number}: obviously, check it."),
        ]
    dataset = factories.make_dataset(tmp_path, lines, "support")
    persona = Persona.objects.create(persona_id="calm", yaml=PERSONA)
    anna = User.objects.create_user("anna", password="a long password")
    anna.groups.add(Group.objects.get(name="annotator"))
    guidelines = "# Judge\n\nonly the *voice*."
    return create_campaign(
        Campaign(name="voice", dataset=dataset, persona=persona, overlap=1, guidelines=guidelines), ["anna"]
    )


class Annotator:
    """Presses keys, and remembers what was on the screen when they were pressed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed: list[tuple[str, str, int | None, str | None]] = []

    def reply(self) -> str:
        self.page.wait_for_function(f"() => {VISIBLE} !== null")
        shown: str = self.page.evaluate(f"{VISIBLE}.querySelector('.q-reply .ad-text').textContent")
        return shown

    def key(self, key: str) -> None:
        self.page.wait_for_timeout(GUARD)
        self.page.keyboard.press(key)

    def decides(self, key: str, kind: str, label: int | None = None, notes: str | None = None) -> None:
        text = self.reply()
        self.key(key)
        self.page.wait_for_function(
            "text => document.querySelector('.q-item:not([hidden]) .q-reply .ad-text')?.textContent !== text",
            arg=text,
        )
        self.pressed.append((text, kind, label, notes))

    def labels(self, count: int) -> None:
        for _ in range(count):
            label = len(self.pressed) % 3 % 2
            self.decides(str(label), "label", label)

    def undoes(self) -> None:
        """What comes back is what was decided last."""
        back = next(text for text in self.standing()[::-1])
        self.key("Backspace")
        expect(self.page.locator(".q-item:visible .q-reply .ad-text")).to_have_text(back)
        self.pressed.append((back, "undo", None, None))

    def standing(self) -> list[str]:
        """Replies that are decided, in order."""
        found: list[str] = []
        for text, kind, _, _ in self.pressed:
            found = [other for other in found if other != text] + ([] if kind == "undo" else [text])
        return found

    def is_saved(self) -> None:
        expect(self.page.locator("#save")).to_have_text("Saved")


def test_fifty_replies_by_keyboard_alone(
    open_page: Any, campaign: Campaign, browser_errors: list[str]
) -> None:
    page: Page = open_page(viewport={"width": 1280, "height": 800})
    context = page.context
    sign_in(page, "anna", "/annotate/")
    anna = Annotator(page)

    anna.labels(4)
    _pressed_twice(anna)
    anna.undoes()
    anna.labels(4)
    _with_note(anna)
    _flagged(anna)
    anna.decides("s", "skip")
    anna.is_saved()

    _offline_for_two(anna, context)
    anna.labels(6)
    _taken_back_offline(anna, context)
    anna = _closed_while_offline(anna, context, browser_errors)
    anna.labels(6)
    _unanswered(anna, "503")
    anna.labels(5)
    _unanswered(anna, "answer lost")
    _changed(anna)
    while len(anna.standing()) < 50:
        anna.labels(1)
    anna.is_saved()

    # What the browser itself says of a network that is gone is no complaint of ours.
    browser_errors[:] = [text for text in browser_errors if "Failed to load resource" not in text]
    _database_holds(anna)
    assert kept_in_the_browser(anna.page) == []


def test_no_key_is_lost_at_a_tenth_of_a_second(open_page: Any, campaign: Campaign) -> None:
    """Faster than the server sends replies: keys wait for the reply they are for."""
    page: Page = open_page(viewport={"width": 1280, "height": 800})
    sign_in(page, "anna", "/annotate/")
    anna = Annotator(page)
    anna.reply()
    for number in range(20):
        page.wait_for_timeout(100)
        page.keyboard.press(str(number % 2))
    _until_labeled(20)
    anna.is_saved()
    assert list(Annotation.objects.order_by("pk").values_list("label", flat=True)) == [0, 1] * 10


def _until_labeled(count: int) -> None:
    end = time.monotonic() + TIMEOUT_MS / 1000
    while Annotation.objects.count() < count and time.monotonic() < end:
        time.sleep(0.1)
    assert Annotation.objects.count() == count


def kept_in_the_browser(page: Page) -> list[str]:
    found: list[str] = page.evaluate("Object.keys(localStorage).filter((key) => key.includes('outbox'))")
    return found


def _pressed_twice(anna: Annotator) -> None:
    """The second press comes at once, before anyone has read the next reply, however slow the machine is."""
    text = anna.reply()
    anna.page.wait_for_timeout(GUARD)
    anna.page.evaluate(
        """() => {
            for (let presses = 0; presses < 2; presses++)
                document.body.dispatchEvent(
                    new KeyboardEvent("keydown", { key: "1", bubbles: true, cancelable: true }));
        }"""
    )
    expect(anna.page.locator(".q-item:visible .q-reply .ad-text")).not_to_have_text(text)
    anna.pressed.append((text, "label", 1, None))


def _with_note(anna: Annotator) -> None:
    anna.reply()  # before it is shown, keys do nothing
    anna.key("n")
    expect(anna.page.locator("#note-panel textarea")).to_be_focused()
    anna.page.keyboard.type("1 too 0 short s")
    anna.page.keyboard.press("Enter")
    expect(anna.page.locator("#note-panel textarea")).not_to_be_focused()
    anna.key("c")
    anna.key("c")
    expect(anna.page.locator("#confidence")).to_have_text("Fairly sure")
    anna.decides("0", "label", 0, "1 too 0 short s")


def _flagged(anna: Annotator) -> None:
    anna.reply()
    anna.key("f")
    expect(anna.page.locator("#flag")).to_be_visible()
    anna.page.keyboard.press("5")
    expect(anna.page.locator("#flag-error")).to_contain_text("few words")
    anna.page.keyboard.type("1 is odd")
    text = anna.reply()
    anna.page.keyboard.press("Enter")
    expect(anna.page.locator(".q-item:visible .q-reply .ad-text")).not_to_have_text(text)
    anna.pressed.append((text, "flag", None, "Other: 1 is odd"))


def _offline_for_two(anna: Annotator, context: BrowserContext) -> None:
    context.set_offline(True)
    anna.labels(2)
    expect(anna.page.locator("#save")).to_have_text("Offline: 2 decisions waiting, stored here")
    context.set_offline(False)
    anna.is_saved()


def _taken_back_offline(anna: Annotator, context: BrowserContext) -> None:
    anna.is_saved()
    context.set_offline(True)
    anna.labels(1)
    anna.undoes()
    anna.labels(1)
    expect(anna.page.locator("#save")).to_have_text("Offline: 3 decisions waiting, stored here")
    context.set_offline(False)
    anna.is_saved()


def _closed_while_offline(anna: Annotator, context: BrowserContext, browser_errors: list[str]) -> Annotator:
    """What waited when the tab was closed is sent when the page is opened again."""
    context.set_offline(True)
    anna.labels(2)
    expect(anna.page.locator("#save")).to_contain_text("2 decisions waiting")
    anna.page.close()
    context.set_offline(False)
    again = Annotator(context.new_page())
    again.page.on("pageerror", lambda error: browser_errors.append(str(error)))
    again.page.on("console", lambda message: browser_errors.append(message.text))
    again.pressed = anna.pressed
    again.page.goto("/annotate/voice/")
    again.is_saved()
    again.undoes()
    return again


def _unanswered(anna: Annotator, how: str) -> None:
    """Once the server answers 503; once it does as it is told, but its answer gets lost."""
    met = []

    def answer(route: Route) -> None:
        met.append(how)
        if how == "503":
            route.fulfill(status=503, body="")
        else:
            route.fetch()
            route.abort()

    anna.page.route("**/decide/", answer, times=1)
    anna.labels(2)
    anna.is_saved()
    assert met == [how]


def _changed(anna: Annotator) -> None:
    """One of the last ten is decided anew; then one is back where one was."""
    anna.is_saved()
    here = anna.reply()
    row = anna.page.locator("#recent li").nth(3)
    before = row.get_attribute("data-decision")
    row.locator("a").focus()
    anna.page.keyboard.press("Enter")
    expect(anna.page.locator("[data-decided]:visible")).to_contain_text("You decided:")
    label = 0 if before == "on" else 1
    anna.decides(str(label), "label", label)
    assert anna.reply() == here
    expect(anna.page.locator("#recent li").nth(3)).to_have_attribute("data-decision", ("off", "on")[label])


def _database_holds(anna: Annotator) -> None:
    decisions = list(Decision.objects.order_by("pk").select_related("assignment__item__turn"))
    history = [(row.assignment.item.turn.text, row.kind, row.label, row.notes) for row in decisions]
    assert history == anna.pressed
    assert len({row.key for row in decisions}) == len(decisions)
    assert all(row.counted for row in decisions)
    last = {text: (kind, label, notes) for text, kind, label, notes in anna.pressed}
    wanted = {text: (label, notes) for text, (kind, label, notes) in last.items() if kind == "label"}
    labels = Annotation.objects.select_related("turn")
    assert {row.turn.text: (row.label, row.notes) for row in labels} == wanted
    assert len(labels) == len(wanted)
    assert {row.confidence for row in labels if row.notes} == {0.75}
    assert all(row.annotator == "anna" and row.seconds for row in labels)
    assert Assignment.objects.filter(state="leased").count() == 3


def test_axe_finds_nothing_serious(open_page: Any, campaign: Campaign) -> None:
    page: Page = open_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page.goto("/login/")
    assert find_violations_in_both_schemes(page) == []
    sign_in(page, "anna", "/annotate/")
    Annotator(page).labels(2)
    assert find_violations_in_both_schemes(page) == []
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.locator("#flag")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Your account").click()
    assert find_violations_in_both_schemes(page) == []
    page.goto("/annotate/?all")
    assert find_violations_in_both_schemes(page) == []
    page.goto("/password/")
    assert find_violations_in_both_schemes(page) == []


def test_on_a_phone(open_page: Any, campaign: Campaign) -> None:
    page: Page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark")
    page.goto("/login/")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    sign_in(page, "anna", "/annotate/")
    anna = Annotator(page)
    before = anna.reply()
    for button in page.locator(".q-bar button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert box["y"] > 844 / 2
    expect(page.locator("#persona")).to_be_hidden()
    page.locator("summary", has_text="Calm assistant").click()
    expect(page.locator("#persona")).to_be_visible()
    page.wait_for_timeout(GUARD)
    page.get_by_role("button", name="On-brand").tap()
    expect(page.locator(".q-item:visible .q-reply .ad-text")).not_to_have_text(before)
    expect(page.locator("#announce")).to_contain_text("On-brand. Next reply.")
    anna.is_saved()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert Annotation.objects.get().turn.text == before
    assert find_serious_violations(page) == []


def test_logged_out_meanwhile(open_page: Any, campaign: Campaign, browser_errors: list[str]) -> None:
    """What was pressed is kept until one is logged in again; logging out asks first, and clears it."""
    page: Page = open_page(viewport={"width": 1280, "height": 800})
    sign_in(page, "anna", "/annotate/")
    anna = Annotator(page)
    anna.labels(1)
    anna.is_saved()
    Session.objects.all().delete()
    anna.labels(1)
    expect(page.locator("#trouble")).to_contain_text("no longer logged in")
    expect(page.locator("#save")).to_have_text("1 decision waiting, stored here")
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#trouble a").click()
    page.fill("[name=username]", "anna")
    page.fill("[name=password]", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_url("**/annotate/voice/")
    anna.is_saved()
    assert Decision.objects.count() == 2

    _not_allowed_meanwhile(anna)
    _in_two_windows(anna)
    anna.reply()
    page.context.set_offline(True)
    anna.labels(1)
    expect(page.locator("#save")).to_contain_text("1 decision waiting")
    page.get_by_role("button", name=re.compile("Your account")).click()
    page.get_by_role("button", name="Log out", exact=True).click()
    expect(page.locator("#confirm")).to_contain_text("Logging out deletes 1 decision")
    page.context.set_offline(False)
    page.get_by_role("button", name="Log out and discard").click()
    page.wait_for_url("**/login/")
    assert kept_in_the_browser(page) == []
    browser_errors[:] = [text for text in browser_errors if "Failed to load resource" not in text]


def _not_allowed_meanwhile(anna: Annotator) -> None:
    """Who may not label any more keeps what they pressed: to be downloaded, unseen by others, and handed in
    without more ado once they may again."""
    page, group = anna.page, Group.objects.get(name="annotator")
    group.user_set.remove(User.objects.get(username="anna"))
    anna.labels(2)
    panel = page.locator("#held-text")
    told = "Not accepted: 2 decisions. Your account doesn't have the permission to label."
    expect(panel).to_contain_text(told)
    assert find_serious_violations(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download labels").click()
    assert download.value.suggested_filename == "voice.labels.jsonl"
    call_command("import_annotations", str(download.value.path()), "--dataset", "support", stdout=StringIO())
    imported = Annotation.objects.filter(campaign=None).order_by("pk")
    assert [(row.turn.text, row.label, row.annotator) for row in imported] == [
        (text, label, "anna") for text, _, label, _ in anna.pressed[-2:]
    ]
    assert set(imported.values_list("persona_id", flat=True)) == {"calm"}
    imported.delete()
    page.reload()
    expect(page.get_by_role("heading", name="You don't have access")).to_be_visible()
    expect(panel).to_contain_text(told)

    Session.objects.all().delete()
    User.objects.create_user("ben", password="a long password").groups.add(group)
    sign_in(page, "ben", "/annotate/")
    expect(page.get_by_role("heading", name="Your campaigns")).to_be_visible()
    expect(page.locator("#held")).to_be_hidden()
    assert len(kept_in_the_browser(page)) == 2
    assert Decision.objects.count() == 2

    group.user_set.add(User.objects.get(username="anna"))
    Session.objects.all().delete()
    sign_in(page, "anna", "/annotate/")
    anna.is_saved()
    expect(page.locator("#held")).to_be_hidden()
    decisions = Decision.objects.order_by("pk").select_related("assignment__item__turn")
    assert [row.assignment.item.turn.text for row in decisions] == [text for text, *_ in anna.pressed]


def _in_two_windows(anna: Annotator) -> None:
    other = anna.page.context.new_page()
    other.goto("/annotate/voice/")
    assert Annotator(other).reply() == anna.reply()
    anna.labels(1)
    expect(other.locator("#trouble")).to_contain_text("labeled this reply in another window")
    assert Annotator(other).reply() == anna.reply()
    anna.is_saved()
    other.close()


def test_what_was_typed_outlives_a_refusal(
    open_page: Any, campaign: Campaign, browser_errors: list[str]
) -> None:
    """A note is there again after a refusal and after logging in; that of a reply which went to somebody else
    is shown until it is discarded, and no key typed on for it decides on the next reply."""
    scrub_dataset(campaign.dataset, Policy())
    page: Page = open_page(viewport=DESKTOP)
    sign_in(page, "anna", "/annotate/")
    anna, notes = Annotator(page), page.locator("#notes")
    first = anna.reply()
    _types(anna, "mail jane.roe@example.org")
    page.keyboard.press("Enter")
    anna.key("1")
    expect(page.locator("#trouble")).to_contain_text("looks like personal data")
    assert anna.reply() != first
    anna.key("1")
    anna.is_saved()
    expect(page.locator(".q-item:visible .q-reply .ad-text")).to_have_text(first)
    expect(notes).to_have_value("mail jane.roe@example.org")

    notes.fill("a bit curt")
    Session.objects.all().delete()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.goto("/annotate/voice/")
    page.fill("[name=username]", "anna")
    page.fill("[name=password]", "a long password")
    page.keyboard.press("Enter")
    assert anna.reply() == first
    expect(notes).to_have_value("a bit curt")

    _goes_to_somebody_else(first)
    notes.focus()
    page.evaluate(
        "document.dispatchEvent(new Event('online')); window.dispatchEvent(new PageTransitionEvent"
        "('pageshow', {persisted: true}))"
    )
    expect(page.locator("#unsaved-texts li")).to_have_text(["a bit curt"])
    second = anna.reply()
    page.keyboard.type("10s10", delay=50)
    assert anna.reply() == second
    expect(notes).to_have_value("")
    page.get_by_role("button", name="Discard").click()
    expect(page.locator("#unsaved")).to_be_hidden()
    assert Decision.objects.count() == 1
    assert page.evaluate("sessionStorage.length") == 0
    browser_errors[:] = [text for text in browser_errors if "Failed to load resource" not in text]


def _types(anna: Annotator, text: str) -> None:
    anna.reply()
    anna.key("n")
    expect(anna.page.locator("#notes")).to_be_focused()
    anna.page.keyboard.type(text)


def _goes_to_somebody_else(text: str) -> None:
    own = Assignment.objects.filter(item__turn__text=text)
    own.update(state="released")
    CampaignItem.objects.filter(turn__text=text).update(open=0)


def test_logging_out_from_the_admin_sends_what_waits_and_clears_the_browser(
    open_page: Any, campaign: Campaign, browser_errors: list[str]
) -> None:
    """What the next person at this browser must not find; what others left there stays for them."""
    User.objects.filter(username="anna").update(is_staff=True)
    page: Page = open_page(viewport={"width": 1280, "height": 800})
    sign_in(page, "anna", "/annotate/")
    anna = Annotator(page)
    anna.reply()
    page.route("**/decide/", lambda route: route.abort())
    anna.labels(1)
    expect(page.locator("#save")).to_contain_text("1 decision waiting")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/admin/")
    page.unroute("**/decide/")
    page.evaluate("localStorage.setItem('alignmenter.outbox.999.1', '{}')")
    assert not Decision.objects.exists()
    page.evaluate("document.getElementById('logout-form').requestSubmit()")
    page.wait_for_url("**/login/")
    assert Decision.objects.count() == 1
    assert kept_in_the_browser(page) == ["alignmenter.outbox.999.1"]

    page.evaluate("localStorage.removeItem('alignmenter.outbox.999.1'); localStorage.setItem('theme', 'x')")
    sign_in(page, "anna", "/admin/")
    page.evaluate("document.getElementById('logout-form').requestSubmit()")
    page.wait_for_url("**/login/")
    assert page.evaluate("localStorage.length") == 0
    browser_errors[:] = [text for text in browser_errors if "Failed to load resource" not in text]
