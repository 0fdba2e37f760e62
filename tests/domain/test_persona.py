"""A persona file is understood or refused with its place; what Alignmenter can't use is reported."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.metadata.yaml_text import dump_yaml
from datasets_app.domain.personas.persona import PERSONA_CODES, PersonaError, check_persona, parse_persona

COMPLETE = """\
id: north_v1
display_name: North
description: Plain and warm.
exemplars:
  - Here is what I would do first.
lexicon:
  preferred: [clear, steps]
  avoid: [synergy]
style_rules:
  sentence_length: {max_avg: 18}
  contractions: {allowed: true}
  tone: [warm, direct]
  formality: neutral
safety_rules:
  disallowed_topics: [medical dosage]
  brand_notes: Never promise dates.
owner: brand team
"""


def codes(text: str) -> list[str]:
    return [finding.code for finding in check_persona(parse_persona(text))]


def test_every_part_of_a_persona_is_read_and_unknown_keys_are_kept() -> None:
    persona = parse_persona(COMPLETE)
    assert (persona.id, persona.display_name) == ("north_v1", "North")
    assert persona.exemplars == ("Here is what I would do first.",)
    assert (persona.preferred, persona.avoid) == (("clear", "steps"), ("synergy",))
    assert persona.style_rules["sentence_length"] == {"max_avg": 18}
    assert persona.safety_rules["brand_notes"] == "Never promise dates."
    assert persona.extra == {"owner": "brand team"}
    assert check_persona(persona) == []


def test_only_the_id_is_needed() -> None:
    assert parse_persona("id: p").id == "p"


@pytest.mark.parametrize(
    ("text", "field", "found"),
    [
        ("- a list", "", "a list"),
        ("", "", "nothing"),
        ("display_name: X", "id", "nothing"),
        ("id: 12", "id", "the number 12"),
        ("id: '  '", "id", "an empty string"),
        ("id: p\nexemplars: text", "exemplars", "the string 'text'"),
        ("id: p\nexemplars: [yes]", "exemplars, item 1", "the boolean yes/true/on"),
        ("id: p\nlexicon: [a]", "lexicon", "a list"),
        ("id: p\nlexicon: {avoid: [[a]]}", "lexicon.avoid, entry 1", "a list"),
        ("id: p\nstyle_rules: {tone: warm}", "style_rules.tone", "the string 'warm'"),
        (
            "id: p\nsafety_rules: {disallowed_topics: [1]}",
            "safety_rules.disallowed_topics, item 1",
            "the number 1",
        ),
        ("id: p\ndisplay_name: [x]", "display_name", "a list"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field_and_what_was_found(
    text: str, field: str, found: str
) -> None:
    with pytest.raises(PersonaError) as refusal:
        parse_persona(text)
    assert (refusal.value.field, refusal.value.found) == (field, found)
    assert found in str(refusal.value)


def test_broken_yaml_is_refused_with_line_and_column() -> None:
    with pytest.raises(PersonaError, match="line 3, column"):
        parse_persona("id: p\nlexicon: {preferred: [a\n")


@pytest.mark.parametrize("text", ["[" * 500_000, "id: " + "{a: " * 100_000, "x" * (1 << 21), "id: p\0"])
def test_a_hostile_file_is_refused_and_harms_nothing(text: str) -> None:
    with pytest.raises(PersonaError):
        parse_persona(text)


@pytest.mark.parametrize("word", ["yes", "No", "on", "off", "24", "1.5", "2025-01-01", "~"])
def test_a_lexicon_word_that_yaml_takes_for_something_else_is_an_error(word: str) -> None:
    assert codes(f"id: p\nexemplars: [a]\nlexicon: {{preferred: [{word}]}}") == ["E701"]
    assert codes(f"id: p\nexemplars: [a]\nlexicon: {{preferred: ['{word}']}}") in ([], ["W703"])


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("happy to help", "W702"),
        ("follow-up", "W703"),
        ("great!", "W703"),
        (" clear", "W703"),
        ("", "W703"),
        ("don\N{RIGHT SINGLE QUOTATION MARK}t", "W703"),
    ],
)
def test_a_lexicon_entry_that_can_never_match_is_reported(entry: str, code: str) -> None:
    text = yaml.safe_dump({"id": "p", "exemplars": ["a"], "lexicon": {"avoid": [entry]}}, allow_unicode=True)
    assert codes(text) == [code]


def test_words_that_can_match_are_not_reported() -> None:
    assert codes("id: p\nexemplars: [a]\nlexicon: {preferred: [don't, größer, v2, snake_case]}") == []


def test_no_exemplars_and_contradictory_words_are_reported() -> None:
    assert codes("id: p") == ["W704"]
    assert codes("id: p\nexemplars: [a]\nlexicon: {preferred: [Clear], avoid: [clear]}") == ["W705"]


def test_every_code_that_is_reported_is_documented() -> None:
    everything = "id: p\nlexicon: {preferred: [yes, two words, a-b, same], avoid: [same]}"
    assert {"E700", *codes(everything)} == set(PERSONA_CODES)


@given(st.text())
def test_any_text_is_a_persona_or_a_refusal(text: str) -> None:
    try:
        document = parse_persona(text)
    except PersonaError:
        return
    check_persona(document)


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]), min_size=1, max_size=30
)


@given(words.filter(str.strip), st.lists(words, max_size=4), st.lists(words, max_size=4))
def test_what_is_written_as_yaml_is_read_back(name: str, exemplars: list[str], preferred: list[str]) -> None:
    value = {"id": name, "exemplars": exemplars, "lexicon": {"preferred": preferred}}
    persona = parse_persona(dump_yaml(value))
    assert (persona.id, list(persona.exemplars), list(persona.preferred)) == (name, exemplars, preferred)
