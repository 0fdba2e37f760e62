"""From an empty house to a generated dataset, and to a persona that is changed with its voice in sight.

On the way axe-core looks at the pages, and on a phone nothing scrolls sideways."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.catalog.import_persona import import_persona
from datasets_app.catalog.personas import DEFAULT_FILE
from datasets_app.models import Dataset, Persona
from tests.browser.conftest import sign_in
from tests.browser.faults import find_serious_violations, find_violations_in_both_schemes

pytestmark = pytest.mark.browser
GENERATE = "admin:datasets_app_dataset_generate"


def test_from_the_start_page_to_a_generated_dataset(page: Page, processes: Any) -> None:
    processes.start("worker")
    page.goto("/admin/")
    page.get_by_role("link", name="Generate conversations").click()
    preview = page.locator("#preview")
    expect(preview.locator(".gen-session")).to_have_count(3)
    expect(preview.locator(".gen-counts")).to_contain_text("Brand traps20")
    expect(page.locator("[name=model]")).to_be_hidden()
    assert find_serious_violations(page) == []

    page.fill("[name=brand]", "90")
    expect(preview).to_contain_text("Safety and brand traps add up to 105 %")
    expect(page.locator("#preview-news")).to_have_text("1 problem to fix")
    page.fill("[name=brand]", "40")
    expect(preview.locator(".gen-counts")).to_contain_text("Brand traps40")
    first = preview.locator(".gen-session-head").first.inner_text()
    page.fill("[name=seed]", "7")
    expect(preview.locator(".gen-session-head").first).not_to_have_text(first)

    # A model is chosen with the keyboard, and chosen no more.
    page.get_by_role("radio", name="Offline").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[name=model]")).to_be_visible()
    page.fill("[name=model]", "some-model")
    page.fill("[name=price_answer]", "2.5")
    expect(preview).to_contain_text("at the prices you entered")
    assert find_serious_violations(page) == []
    page.get_by_role("radio", name="A model").focus()
    page.keyboard.press("ArrowUp")
    expect(preview).not_to_contain_text("Estimated model usage")
    expect(preview).to_contain_text("exactly as they will be written")
    shown = preview.locator(".gen-session .ad-text").all_inner_texts()

    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.get_by_text("This field is required.").first).to_be_visible()
    expect(page.locator("[name=seed]")).to_have_value("7")
    assert find_serious_violations(page) == []
    page.fill("[name=dataset_name]", "evaluation")
    page.keyboard.press("Enter")
    expect(page.locator("#job-run .ad-badge").first).to_have_text("Done")
    dataset = Dataset.objects.get(name="evaluation")
    texts = set(dataset.sessions.values_list("turns__text", flat=True))
    assert dataset.session_count == 100
    assert shown
    assert set(shown) <= texts
    page.get_by_role("link", name="Open the dataset").click()
    page.get_by_role("link", name="Generate more").click()
    expect(page.locator("[name=dataset_name]")).to_have_value("evaluation")


def test_a_persona_is_changed_with_its_voice_in_sight(page: Page, transactional_db: None) -> None:
    persona = import_persona(DEFAULT_FILE.read_text(encoding="utf-8")).persona
    page.goto(reverse("admin:datasets_app_persona_change", args=[persona.pk]))
    beside, voice, text = (
        page.locator("#persona-beside"),
        page.locator("#persona-voice"),
        page.locator("[name=yaml]"),
    )
    expect(beside).to_contain_text("No problems found.")
    expect(voice.locator(".voice-pair")).to_have_count(4)
    assert find_serious_violations(page) == []
    text.fill(persona.yaml.replace("avoid: [", "avoid: [no, "))
    expect(beside).to_contain_text("E701")
    expect(page.locator("#persona-news")).to_have_text("1 finding")
    expect(beside.locator(".voice-added")).to_contain_text("avoid: [no, awesome")
    text.fill(persona.yaml + "x: [\n")
    expect(beside).to_contain_text("not valid YAML")
    expect(voice.locator(".voice-pair")).to_have_count(0)
    assert find_serious_violations(page) == []
    text.fill(persona.yaml.replace("avoid: [", "avoid: [frankly, "))
    expect(voice.locator(".voice-off")).to_contain_text("frankly")
    assert find_serious_violations(page) == []
    page.get_by_role("button", name="Save and continue editing").click()
    expect(beside).not_to_contain_text("Changes")
    assert "frankly" in Persona.objects.get().yaml


def test_on_a_phone(open_page: Any, curator: User) -> None:
    """Light and dark, with words as long as they may be."""
    text = DEFAULT_FILE.read_text(encoding="utf-8").replace("dude", "w" * 60).replace("Plankboard", "P" * 200)
    persona = import_persona(text).persona
    page: Page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="light")
    addresses = (
        reverse(GENERATE),
        reverse("admin:datasets_app_persona_change", args=[persona.pk]),
        reverse("admin:datasets_app_persona_add"),
    )
    sign_in(page, path=addresses[0])
    for address in addresses:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
        assert find_violations_in_both_schemes(page) == [], address
