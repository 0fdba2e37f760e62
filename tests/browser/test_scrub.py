"""The way of a curator who scrubs: look at a sample, read, mark, scrub, see that nothing is left."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, JobRun, ScrubFinding, ScrubMark
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories

# The longest of them, so they begin first.
pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXT = "I am Jane Fonseca 😀, mail desk@example.org. My zorblax is late."
LONG = 60_000  # in milliseconds: a worker loads the name model first


def page_of(dataset: Dataset, name: str = "scrub") -> str:
    return reverse(f"admin:datasets_app_dataset_{name}", args=[dataset.pk])


def reading(dataset: Dataset) -> str:
    return reverse("admin:datasets_app_session_change", args=[dataset.sessions.order_by("pk")[0].pk])


@pytest.fixture
def dataset(transactional_db: None, tmp_path: Path) -> Dataset:
    lines = [
        factories.make_turn("s1", 1, text=TEXT, tags=["scenario:support"]),
        factories.make_turn("s1", 2, text="Thank you, Jane.", metadata={"to": "desk@example.org"}),
    ]
    return factories.make_dataset(tmp_path, lines, origin="production")


def test_from_preview_to_placeholders(page: Page, processes: Any, dataset: Dataset) -> None:
    processes.start("worker")
    page.goto(page_of(dataset))
    page.get_by_role("button", name="Preview on a sample").click()
    expect(page.get_by_role("heading", name="Preview results")).to_be_visible(timeout=LONG)
    expect(page.locator(".ad-chart").first.get_by_role("row", name=re.compile("EMAIL"))).to_be_visible()
    expect(page.locator("mark", has_text="desk@example.org").first).to_be_visible()

    page.locator("details:has(#findings) .ad-scroll").get_by_role("link").first.click()
    value = page.locator("#turn-1 mark", has_text="Jane Fonseca")
    expect(value).to_contain_text("NAME")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('#turn-1 mark')).borderBottomStyle") == "solid"
    )
    _mark_by_keyboard(page)
    _mark_the_selection(page)

    page.get_by_role("link", name="View corrections").click()
    expect(page.get_by_role("heading", name="Reviewer corrections (2)")).to_be_visible()
    expect(page.get_by_text("1 word, 7 characters")).to_be_visible()
    page.get_by_role("button", name="Scrub with corrections").click()
    expect(page.get_by_text("Text is replaced permanently.")).to_be_visible()
    page.get_by_role("button", name="Scrub permanently").click()
    verified = "except 1 ignored term (1 occurrence): no other pattern matches remain in 2 turns"
    expect(page.get_by_text(verified)).to_be_visible(timeout=LONG)

    page.goto(reading(dataset))
    expect(page.locator("#turn-1 .ad-found-placeholder").first).to_be_visible()
    expect(page.locator("#turn-1 .ad-text")).to_contain_text("[EMAIL]")
    expect(page.locator("#turn-1 .ad-text")).to_contain_text("Jane Fonseca")
    expect(page.locator("#turn-1 .ad-text")).not_to_contain_text("zorblax")
    expect(page.locator("#turn-1 .ad-text")).not_to_contain_text("desk@example.org")
    expect(page.locator(".ad-badge", has_text="Scrubbed")).to_be_visible()
    _audit_by_keyboard(page, dataset)


def _audit_by_keyboard(page: Page, dataset: Dataset) -> None:
    """Read the two turns of the sample: one is clean, in the other a word is left."""
    page.goto(f"/admin/datasets_app/dataset/{dataset.pk}/scrub/audit/")
    page.get_by_role("button", name="Draw sample").click()
    expect(page.get_by_text("0 of 2 turns read")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_text("1 of 2 turns read")).to_be_visible()
    [word, *_] = re.findall(r"\b[a-z]{3,}\b", page.locator(".ad-chat li:last-child .ad-text").inner_text())
    page.keyboard.press("l")
    expect(page.locator(".ad-missed [name=words]")).to_be_focused()
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Marked. Mark what else is left")).to_be_visible()
    expect(page.get_by_role("button", name="Scrub what was found")).to_be_visible()


def _mark_by_keyboard(page: Page) -> None:
    """The name is nobody's: with Tab to its button, and Enter."""
    page.locator("#turn-1 .ad-turn-head a").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if "Not personal: NAME" in page.evaluate("document.activeElement.textContent"):
            break
    else:
        raise AssertionError("Tab never reaches the button")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    expect(page.get_by_text("Marked as not personal.")).to_be_visible()
    expect(page.locator("#turn-1 .ad-found-kept")).to_contain_text("Jane Fonseca")


def _mark_the_selection(page: Page) -> None:
    """A word that no detector knows: selected by double click, then the form is opened."""
    page.evaluate(
        """() => {
            const text = [...document.querySelector("#turn-1 .ad-text").childNodes].at(-1);
            const at = text.data.indexOf("zorblax");
            getSelection().setBaseAndExtent(text, at, text, at + 7);
        }"""
    )
    page.locator("#turn-1 .ad-missed summary").click()
    expect(page.locator("#turn-1 [name=words]")).to_have_value("zorblax")
    page.locator("#turn-1").get_by_role("button", name="Mark as missed").click()
    expect(page.get_by_text("Marked as missed.")).to_be_visible()
    expect(page.locator("#turn-1 .ad-found-missed")).to_contain_text("zorblax")
    assert ScrubMark.objects.get(verdict="missed").term == ""


def test_missed_words_are_typed_without_a_mouse(page: Page, dataset: Dataset) -> None:
    page.goto(reading(dataset))
    page.locator("#turn-2 .ad-missed summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#turn-2 [name=words]")).to_be_focused()
    page.keyboard.type("thank you")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Marked as missed.")).to_be_visible()
    expect(page.locator("#turn-2")).to_have_class(re.compile("ad-turn"))
    assert page.url.endswith("?turn=2#turn-2")


def test_a_selection_across_a_highlight_is_the_text_alone(page: Page, dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy(kinds=("EMAIL",)), dry_run=True)
    page.goto(reading(dataset))
    page.locator("#turn-1 .ad-missed summary").click()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#turn-1 .ad-text'))")
    expect(page.locator("#turn-1 [name=words]")).to_have_value(TEXT)


def test_errors_stand_at_their_fields(page: Page, dataset: Dataset) -> None:
    page.goto(page_of(dataset))
    page.fill("[name=patterns]", "ORDER=\\bORD-\\d+\nBAD=a(b")
    page.get_by_role("button", name="Preview on a sample").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was started")
    expect(page.get_by_text("Line 2: The pattern BAD has a mistake at column 6")).to_be_visible()
    expect(page.locator("[name=patterns]")).to_have_value("ORDER=\\bORD-\\d+\nBAD=a(b")
    assert not JobRun.objects.exists()


def test_on_a_phone_nothing_scrolls_sideways(
    phone_page: Page, transactional_db: None, tmp_path: Path
) -> None:
    long = "x" * 300
    lines = [
        factories.make_turn(
            f"{long}@example.org",
            1,
            text=f"Mail {long}@example.org or 212-555-0147 " * 30,
            tags=[f"user:{long}@example.org"],
            metadata={"user": {"email": f"{long}@example.org"}},
        )
    ]
    dataset = factories.make_dataset(tmp_path, lines, "n" * 100, origin="production")
    parameters = {"policy": json.loads(json.dumps(Policy().as_json())), "dry_run": True, "sample": 5}
    job = JobRun.objects.create(
        operation="scrub_dataset", dataset=dataset, state="running", parameters=parameters
    )
    policy = Policy(kinds=("EMAIL", "PHONE"), patterns=(("A_LABEL_OF_FORTY_CHARACTERS_AND_MORE", "Mail"),))
    scrub_dataset(dataset, policy, dry_run=True, job_run=job)
    JobRun.objects.filter(pk=job.pk).update(state="done")
    ScrubMark.objects.create(dataset=dataset, verdict="not_personal", term=long[:200])
    assert ScrubFinding.objects.exists()
    shown = [page_of(dataset), page_of(dataset, "sharing"), page_of(dataset, "export"), reading(dataset)]
    shown.append(reverse("admin:datasets_app_jobrun_change", args=[job.pk]))
    for where in shown:
        phone_page.goto(where)
        assert phone_page.evaluate("document.documentElement.scrollWidth") <= 390, where
    JobRun.objects.create(operation="scrub_dataset", dataset=dataset, state="running", done=1, total=3)
    phone_page.goto(page_of(dataset))
    expect(
        phone_page.get_by_text("Preview running").or_(phone_page.get_by_text("Scrub running"))
    ).to_be_visible()
    assert phone_page.evaluate("document.documentElement.scrollWidth") <= 390
