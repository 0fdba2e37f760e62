"""The generated sets that scrubs are scored by: what is marked is there, and nothing is in both sets."""

import random
import re
from functools import cache

import pytest
from faker import Faker

from benchmarks.make_pii_sets import NUMBER_SLOTS, NUMBERS, PARTS, ROWS_BY_SLOT, has_slot
from benchmarks.pii_sets import negatives, values
from benchmarks.pii_sets.templates import Template, read_templates, render_row
from benchmarks.pii_sets.vocabulary import HELD_OUT_WORDS, TUNE_WORDS

_SLOT = re.compile(r"<([A-Z_]+|[a-z]+)>")
WORDS = dict(zip(PARTS, (TUNE_WORDS, HELD_OUT_WORDS), strict=True))


def test_the_held_out_set_has_no_template_of_the_other() -> None:
    tune, held_out = ({(t.before, t.text, t.key) for t in read_templates(f"{part}.txt")} for part in PARTS)
    assert len(tune) > 150
    assert len(held_out) > 150
    assert not tune & held_out
    chats = [{t.text for t in read_templates(f"{part}_tech.txt")} for part in PARTS]
    assert not chats[0] & chats[1]
    brands = [{brand["id"] for brand in negatives.read_session_brands(part)[0]} for part in PARTS]
    assert all(brands)
    assert not brands[0] & brands[1]


@pytest.fixture(autouse=True)
def _one_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faker takes a quarter of a second for each."""
    monkeypatch.setattr(values, "make_faker", cache(lambda _: Faker("en_GB")))


@pytest.mark.parametrize(
    ("name", "slots"), [*((part, tuple(ROWS_BY_SLOT)) for part in PARTS), (NUMBERS, NUMBER_SLOTS)]
)
def test_every_template_can_be_filled_and_its_values_are_marked(name: str, slots: tuple[str, ...]) -> None:
    templates = read_templates(f"{name}.txt")
    for number, template in enumerate(templates):
        row = render_row(template, random.Random(number), WORDS.get(name, HELD_OUT_WORDS))
        assert row["text"].count("<") == _SLOT.sub("", template.text).count("<"), template
        assert row["spans"], template
        assert all(row["text"][span["start"] : span["end"]].strip() for span in row["spans"]), template
        assert row["spans"] == sorted(row["spans"], key=lambda span: span["start"])
    for slot in slots:
        found = sum(has_slot(template, slot) for template in templates)
        assert found >= 3, f"{name}.txt has {found} templates with <{slot}>, and needs three"


def test_a_row_is_the_same_for_the_same_seed() -> None:
    template = Template("en", "chat", "ring <PHONE>, I'm at <ADDRESS>", before="Where are you?")
    rows = [render_row(template, random.Random(5), TUNE_WORDS) for _ in range(2)]
    assert rows[0] == rows[1]
    assert [span["type"] for span in rows[0]["spans"]] == ["PHONE", "ADDRESS"]
    assert rows[0]["before"] == "Where are you?"


def test_a_brand_may_have_whole_conversations() -> None:
    rows = [row for row in negatives.make_brand_rows("tune", random.Random(3)) if "session" in row]
    assert {row["role"] for row in rows} == {"user", "assistant"}
    brands = [brand for brand in negatives.read_brands("tune")[0] if "chat" in brand]
    assert {row["brand"] for row in rows} == {brand["id"] for brand in brands}
    for brand in brands:
        turns = [row for row in rows if row["brand"] == brand["id"]]
        assert len(turns) >= 60
        assert len({row["session"] for row in turns}) == len(brand["chat"])


@pytest.mark.parametrize(
    ("year", "words"),
    [
        (1909, "nineteen oh nine"),
        (1940, "nineteen forty"),
        (1984, "nineteen eighty-four"),
        (2000, "two thousand"),
        (2009, "two thousand nine"),
        (2013, "twenty thirteen"),
    ],
)
def test_a_year_is_spelled_as_it_is_said(year: int, words: str) -> None:
    assert values._spell_year(year) == words
