"""From a conversation on the list to an exported case with three variants, by keyboard."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotations_app.cases.draft_variants import draft_variants
from annotations_app.cases.make_case import CaseOptions, make_case
from annotations_app.models import Campaign
from datasets_app.catalog.edit import edit_dataset
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.models import Dataset, Session
from tests import factories
from tests.browser.faults import find_violations_in_both_schemes
from tests.campaigns import make_annotators, make_persona
from tests.llm_server import LlmServer

pytestmark = pytest.mark.browser

# Of 40 that are allowed.
MAX_KEYS = 10
ASKED = "I am Maria Fontane, mail maria.fontane@example.org. Where is my parcel? It is late!"


class Keyboard:
    """Counts the keys that are pressed beyond the text that is typed."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.count += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)


def draft(dataset: Dataset, endpoint: str) -> None:
    try:
        draft_variants(dataset, ModelParameters("openai:tiny", endpoint), ["language"])
    finally:
        connection.close()


def test_a_draft_of_a_model_is_kept_by_keyboard(page: Page, transactional_db: Any, tmp_path: Path) -> None:
    make_persona()
    lines = [
        factories.make_turn("s1", 1, text=ASKED, persona_id="warm_v1"),
        factories.make_turn("s1", 2, text="No idea. Ask somebody else.", persona_id="warm_v1"),
    ]
    source = factories.make_dataset(tmp_path, lines, name="prod", origin="synthetic")
    made = make_case(Session.objects.get(dataset=source), 2, "cases", CaseOptions())
    with LlmServer(answer=lambda request: '{"text": "Und wo ist mein Paket?"}') as server:
        edit_dataset(made.dataset.pk, {"judge_endpoints": [server.url]}, actor=None)
        # Playwright's event loop runs in this thread.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(draft, made.dataset, server.url).result()
    page.goto(reverse("admin:annotations_app_campaign_dataset_variants", args=[made.dataset.pk]))
    expect(page.get_by_text("Und wo ist mein Paket?")).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    page.get_by_role("link", name="Another language").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Keep: answer stays the same")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Kept, of case-")).to_be_visible()
    expect(page.get_by_role("heading", name="No drafts to review")).to_be_visible()
    assert not Session.objects.filter(dataset=made.dataset, excluded=True).exists()


def test_from_a_trace_to_an_exported_case(
    page: Page, transactional_db: Any, processes: Any, tmp_path: Path
) -> None:
    make_persona()
    make_annotators("ana", "ben")
    lines = [
        factories.make_turn("s1", 1, text=ASKED, persona_id="warm_v1"),
        factories.make_turn("s1", 2, text="No idea. Ask somebody else.", persona_id="warm_v1"),
    ]
    dataset = factories.make_dataset(tmp_path, lines, name="prod")
    processes.start("worker")
    keys = Keyboard(page)
    page.goto(reverse("admin:datasets_app_dataset_sessions", args=[dataset.pk]))
    keys.press("j", "Enter")
    expect(page.get_by_role("link", name="Make a test case")).to_be_visible()
    keys.press("t")
    expect(page.get_by_role("heading", name="Make a test case", exact=True)).to_be_visible()
    assert find_violations_in_both_schemes(page) == []
    mark = "box => getComputedStyle(box, '::after').content"
    assert page.get_by_role("checkbox", checked=True).first.evaluate(mark) == "none"
    keys.type("Apologizes and says where the parcel is")
    keys.press("Tab")
    keys.type("no apology")
    keys.press("Enter")
    # Scrubbed by a worker meanwhile; the page shows it.
    expect(page.get_by_role("link", name="Export the cases")).to_be_visible(timeout=90_000)
    cases = Dataset.objects.get(name="prod-cases")
    assert (cases.session_count, cases.status) == (4, Dataset.Status.SCRUBBED)
    assert Campaign.objects.get().members.count() == 2
    keys.press("o")
    expect(page.get_by_role("button", name="Start export")).to_be_visible()
    keys.press("s")
    expect(page.get_by_role("link", name="Download").first).to_be_visible(timeout=90_000)
    with page.expect_download() as saved:
        keys.press("d")
    text = Path(saved.value.path()).read_text()
    exported = [json.loads(line) for line in text.splitlines()]
    assert {tag for line in exported for tag in line["tags"] if tag.startswith("variant:")} == {
        "variant:original", "variant:typos", "variant:tone", "variant:distraction",
    }  # fmt: skip
    assert "Fontane" not in text
    assert keys.count <= MAX_KEYS
