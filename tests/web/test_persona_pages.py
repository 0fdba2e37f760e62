"""Beside a persona's YAML: what is wrong with it, what would change, how it sounds and how not."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.admin.persona_forms import NEW_PERSONA_YAML
from datasets_app.catalog.import_persona import import_persona
from datasets_app.catalog.personas import DEFAULT_FILE
from datasets_app.domain.personas.fields import PATHS, change_fields, read_fields
from datasets_app.domain.personas.persona import parse_persona
from datasets_app.domain.pii.persona_terms import list_persona_terms
from datasets_app.models import AuditEvent, Persona
from tests import campaigns

BESIDE = reverse("admin:datasets_app_persona_beside")
ROLES = ["superuser", "curator", "annotator", "lead", "privacy officer", "viewer", "none", "outsider"]
EDITS, READS = {"superuser", "curator"}, {"superuser", "curator", "lead", "viewer"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
TEXT = DEFAULT_FILE.read_text(encoding="utf-8")


@pytest.fixture
def persona(db: None) -> Persona:
    return import_persona(TEXT).persona


def address(persona: Persona) -> str:
    return reverse("admin:datasets_app_persona_change", args=[persona.pk])


def words(response: Any) -> str:
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", response.content.decode())).replace("&#x27;", "'")


def beside(client: Any, yaml: str, persona: Persona | None = None) -> Any:
    return client.post(BESIDE + (f"?persona={persona.pk}" if persona else ""), {"yaml": yaml})


def test_a_new_persona_begins_without_an_error(curator: Any) -> None:
    add = reverse("admin:datasets_app_persona_add")
    page = words(curator.get(add))
    assert "Problems appear here as you type." in page
    assert "expected a string" not in page
    assert "New persona" in page
    assert "expected a string" in words(curator.post(add, {"yaml": NEW_PERSONA_YAML}))


# --- who may ---


@pytest.mark.parametrize("role", ROLES)
def test_the_page_for_each_role(role: str, sign_in: Any, persona: Persona) -> None:
    client = sign_in(role)
    page = client.get(address(persona))
    assert page.status_code in ({200} if role in READS else {302, 403})
    assert beside(client, TEXT).status_code in ({200} if role in EDITS else {302, 403})
    html = page.content.decode()
    assert ("<textarea" in html) is (role in EDITS)
    assert (BESIDE in html) is (role in EDITS)
    if role in READS:
        assert "Doesn&#x27;t sound like" in html or "Doesn't sound like" in html
    changed = client.post(address(persona), {"yaml": TEXT + "# more\n"})
    assert changed.status_code in {302, 403}
    persona.refresh_from_db()
    assert (persona.yaml == TEXT) is (role not in EDITS)


def test_looking_needs_a_post_and_a_persona_that_is_there(curator: Any, persona: Persona) -> None:
    assert curator.get(BESIDE).status_code == 405
    assert curator.post(f"{BESIDE}?persona=999999", {"yaml": TEXT}).status_code == 404
    for nonsense in ("x", "9" * 40, "²", ""):
        assert curator.post(f"{BESIDE}?persona={nonsense}", {"yaml": TEXT}).status_code == 200


# --- the check ---


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id: p\nx: [\n", "line 3, column 1: not valid YAML"),
        ("id: p\nid: q\n", "line 2, column 1"),
        ("", "expected a YAML mapping with at least an id"),
        ("id:\n", "id: expected a string that is not empty"),
        ("id: p\nexemplars: [1]\n", "exemplars, item 1: expected a string"),
        ("id: p\n", "W704 exemplars no exemplars"),
        ("id: p\nlexicon: {avoid: [yes]}\n", "E701 lexicon.avoid entry 1 is the boolean yes/true/on"),
        ("id: p\nlexicon: {avoid: [of course]}\n", "W702 lexicon.avoid 'of course' has several words"),
        ("id: p\nlexicon: {preferred: [e-mail]}\n", "W703 lexicon.preferred 'e-mail' has punctuation"),
        ("id: p\nlexicon: {preferred: [ok], avoid: [OK]}\n", "W705 lexicon 'ok' is both"),
        (TEXT, "No problems found."),
    ],
)
def test_what_is_wrong_is_told_as_it_is_typed(text: str, told: str, curator: Any) -> None:
    shown = words(beside(curator, text))
    assert told in shown
    assert ("Fix them before you save" in shown) is ("E701" in told)
    assert Persona.objects.count() == 0


def test_what_is_wrong_is_told_without_a_script_as_well(curator: Any, persona: Persona) -> None:
    bad = curator.post(address(persona), {"yaml": TEXT.replace("avoid: [", "avoid: [no, ")})
    assert "E701 lexicon.avoid entry 1" in words(bad)
    assert "Changes" in words(bad)
    persona.refresh_from_db()
    assert persona.yaml == TEXT
    stood = words(curator.get(address(persona)))
    assert "No problems found." in stood
    assert "Changes" not in stood


def test_a_text_as_long_as_may_be_is_told_of_in_a_moment(curator: Any, persona: Persona) -> None:
    words_avoided = "\n".join(f"    - word{number} word" for number in range(30_000))
    text = f"id: default_v1\nexemplars: [Hello there.]\nlexicon:\n  avoid:\n{words_avoided}\n"
    shown = words(beside(curator, text, persona))
    assert "The first 200 of 30,000 findings" in shown
    assert "The text is too long to compare here." in shown
    assert "With a lexicon of more than 1,000 words, samples would take too long." in shown
    assert "at most 1,048,576 characters" in words(beside(curator, "#" * 1_100_000, persona))


# --- what would change ---


def test_the_difference_to_the_stored_text(curator: Any, persona: Persona) -> None:
    changed = TEXT.replace("max_avg: 18", "max_avg: 12").replace("\n", "\r\n")
    html = beside(curator, changed, persona).content.decode()
    assert re.search(r'voice-removed">-\s+sentence_length: {max_avg: 18}', html)
    assert re.search(r'voice-added">\+\s+sentence_length: {max_avg: 12}', html)
    assert html.count('class="voice-added"') == 1
    same = beside(curator, TEXT.replace("\n", "\r\n"), persona).content.decode()
    assert "Changes" not in same
    assert "Changes" not in beside(curator, changed).content.decode()


def test_labels_that_become_stale_are_counted(curator: Any, tmp_path: Path) -> None:
    own = campaigns.make_campaign(campaigns.make_replies(tmp_path, 4), "ana", "ben", overlap=2)
    campaigns.label_all_replies(own, "ana", 1, limit=3)
    text = own.persona.yaml
    assert "3 labels were made under the current text" in words(
        beside(curator, text + "# more\n", own.persona)
    )
    assert "current text" not in words(beside(curator, text, own.persona))
    curator.post(address(own.persona), {"yaml": text + "# more\n"})
    own.persona.refresh_from_db()
    assert "No labels were made under the current text" in words(
        beside(curator, text + "# even more\n", own.persona)
    )


def test_saving_is_written_down_with_the_digest(curator: Any, persona: Persona) -> None:
    text = TEXT + "# more\n"
    assert curator.post(address(persona), {"yaml": text}).status_code == 302
    event = AuditEvent.objects.filter(action="import_persona").latest("pk")
    assert event.details["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert event.details["change"] == "updated"
    assert event.actor == "curator"


# --- how it sounds, and how not ---


def test_both_sides_stand_beside_each_other(curator: Any, persona: Persona) -> None:
    page = curator.get(address(persona))
    voice = page.context["voice"]
    assert voice["preferred"] == ["because", "check", "choose", "clear", "first", "steps", "together"]
    assert "Sentences of at most 18 words on average" in voice["rules"]
    assert [pair.category for pair in voice["pairs"]] == ["slang", "hype", "legalese", "rudeness"]
    assert all(pair.asked and pair.on_brand != pair.off_brand for pair in voice["pairs"])
    shown = words(page)
    for expected in (*voice["exemplars"], "doses of medicine", "Emojis are not allowed", "synergy"):
        assert expected in shown
    avoided = re.compile(r"\b(awesome|dude|guru|leverage|literally|lol|obviously|synergy)\b", re.IGNORECASE)
    assert not any(avoided.search(pair.on_brand) for pair in voice["pairs"])
    assert any(avoided.search(pair.off_brand) for pair in voice["pairs"])


def test_the_voice_follows_what_is_typed(curator: Any, persona: Persona) -> None:
    formal = TEXT.replace("tone: [calm, direct, helpful]", "tone: [formal]").replace(
        "formality: neutral", "formality: formal"
    )
    voice = beside(curator, formal, persona).context["voice"]
    assert "legalese" not in [pair.category for pair in voice["pairs"]]
    mute = beside(curator, "id: mute\nexemplars: [Hi.]\nlexicon: {avoid: [the]}\n")
    assert "hardly a sentence does without" in words(mute)


def test_the_way_to_generate_is_for_who_may(sign_in: Any, persona: Persona) -> None:
    way = f"{reverse('admin:datasets_app_dataset_generate')}?persona=default_v1"
    curator, viewer = sign_in("curator"), sign_in("viewer")
    assert way in curator.get(address(persona)).content.decode()
    assert way not in viewer.get(address(persona)).content.decode()
    assert curator.get(way).context["form"]["persona"].value() == "default_v1"


def test_texts_do_nothing(sign_in: Any) -> None:
    text = "\n".join(
        [
            f"id: {json.dumps(EVIL)}",
            f"description: {json.dumps(EVIL)}",
            f"exemplars: [{json.dumps(EVIL)}]",
            f"lexicon: {{preferred: [{json.dumps(EVIL)}], avoid: [{json.dumps(EVIL)}]}}",
            f"style_rules: {{{json.dumps(EVIL)}: {json.dumps(EVIL)}}}",
            f"safety_rules: {{disallowed_topics: [{json.dumps(EVIL)}], brand_notes: {json.dumps(EVIL)}}}",
        ]
    )
    persona = import_persona(text).persona
    curator, viewer = sign_in("curator"), sign_in("viewer")
    pages = [
        viewer.get(address(persona)),
        curator.get(address(persona)),
        beside(curator, text + "\n# <script>alert(3)</script>\n", persona),
        beside(curator, f"id: {json.dumps(EVIL)}\n{EVIL}: [\n", persona),
    ]
    for page in pages:
        html = page.content.decode()
        assert page.status_code == 200
        assert "<script>alert" not in html
        assert "<img src=x" not in html
    fragment = pages[2].content.decode()
    assert "style=" not in fragment
    # Within quotes, an attribute can't begin.
    assert not re.search(r"<[^>]*\son[a-z]+=", re.sub('"[^"]*"', '""', fragment))


# --- fields beside the YAML ---


def fields_of(response: Any) -> dict[str, str]:
    return {name: str(response.context["fields"][name].value() or "") for name in PATHS}


def test_fields_change_the_yaml_and_nothing_else_in_it(curator: Any, persona: Persona) -> None:
    shown = fields_of(curator.get(address(persona)))
    assert shown["display_name"] == "Plankboard assistant"
    assert shown["preferred"].splitlines()[0] == "because"
    entered = {
        "initial-field-products": "",
        "field-products": "Board One\r\nPlank Mobile",
        "initial-field-avoid": shown["avoid"],
        "field-avoid": shown["avoid"] + "\r\nnope",
        "initial-field-brand": "",
        "field-brand": "",
    }
    live = curator.post(f"{BESIDE}?persona={persona.pk}&fields", {"yaml": TEXT, **entered})
    assert "products: [Board One, Plank Mobile]" in live.content.decode()
    assert curator.post(address(persona), {"yaml": TEXT, **entered}).status_code == 302
    persona.refresh_from_db()
    removed = set(TEXT.splitlines()) - set(persona.yaml.splitlines())
    assert [line.strip().partition(":")[0] for line in removed] == ["avoid"]
    assert "brand:" not in persona.yaml
    assert persona.yaml.startswith("# The voice of the demonstration data")


def test_fields_follow_the_yaml_and_keep_what_was_changed_there(curator: Any, persona: Persona) -> None:
    changed = TEXT.replace("Plankboard assistant", "Plankboard helper")
    assert fields_of(beside(curator, changed, persona))["display_name"] == "Plankboard helper"
    # The fields still have what they began with.
    stale = dict.fromkeys(["initial-field-display_name", "field-display_name"], "Plankboard assistant")
    assert curator.post(address(persona), {"yaml": changed, **stale}).status_code == 302
    persona.refresh_from_db()
    assert persona.display_name == "Plankboard helper"
    assert "can't be read" in words(beside(curator, "a: [", persona))


@pytest.mark.parametrize(
    "text",
    ["{id: x, lexicon: {avoid: [a]}}", "id: x\nlexicon: &a {avoid: [a]}\nother: *a\n", "", "id: 'ü: '\r\n"],
)
def test_changed_fields_read_back(text: str) -> None:
    entered = {"id": "x", "avoid": "b\n# c: d", "brand": "Ünï: 'x'", "exemplars": "You can: undo.\n- no"}
    assert read_fields(change_fields(text, entered)).items() >= entered.items()


def test_the_names_of_a_brand_are_kept_by_scrubs() -> None:
    text = change_fields("id: x\n", {"products": "Wendy Wonder", "competitors": "Barnes"})
    assert {"Wendy Wonder", "Barnes"} <= set(list_persona_terms(parse_persona(text)))
