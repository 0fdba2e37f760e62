"""Names that the words around them announce, without any model."""

import time

import pytest

from datasets_app.domain.pii.names import name_rules
from datasets_app.domain.pii.names.name_words import compute_word_starts, select_words, split_pieces


def ruled(text: str) -> list[str]:
    cut = split_pieces(text)
    forms, starts = select_words(cut), compute_word_starts(cut)
    found = sorted(set(name_rules.find_names(text, forms, starts)))
    return [text[starts[first] : starts[last] + len(forms[last])] for first, last in found]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my name is zubrelle", "zubrelle"),
        ("My full name is Zubrelle Okwonk and I need help", "Zubrelle Okwonk"),
        ("the card is in the name of Zubrelle Okwonk", "Zubrelle Okwonk"),
        ("last name: Okwonk", "Okwonk"),
        ("her name's Zubrelle", "Zubrelle"),
        ("Name: Jane van der Berg", "Jane van der Berg"),
        ("customer: jennifer okwonk", "jennifer"),
        ("Dear Zubrelle,", "Zubrelle"),
        ("this is jennifer speaking", "jennifer"),
        ("jennifer here", "jennifer"),
        ("Zubrelle Okwonk", ""),
        ("jennifer martinez", "jennifer martinez"),
        ("Jennifer", "Jennifer"),
        ("Regards,\nZubrelle Okwonk", "Zubrelle Okwonk"),
        ("Mr. Okwonk called", "Okwonk"),
        ("my manager is prof. Okwonk", "Okwonk"),
        ("book a table under Okwonk", "Okwonk"),
        ("call me jennifer", "jennifer"),
        ("jennifer 4021", "jennifer"),
        ("jennifer martinez and password 8812", "jennifer martinez"),
        ("i paid jennifer yesterday", "jennifer"),
        ("First: the report by Jennifer Martinez", "Jennifer Martinez"),
        ("my name is J. R. Okwonk", "J. R. Okwonk"),
        ("my name is Anne-Marie O'Brien", "Anne-Marie O'Brien"),
    ],
)
def test_a_cue_tells_a_name(text: str, name: str) -> None:
    found = ruled(text)
    assert (name in found) if name else found == []


@pytest.mark.parametrize(
    "text",
    [
        "my name is not on the list",
        "what is your name?",
        "may I have your name please",
        "this is the invoice",
        "this is urgent",
        "I am waiting",
        "thanks a lot",
        "Dear customer,",
        "Hello there",
        "ok",
        "call me tomorrow",
        "the company name is missing",
        "Regards,\nthe team",
        "under the table",
        "send it to me",
        "order 4021",
        "4021 jennifer street",
        "the id is 4021",
        "",
    ],
)
def test_what_people_say_where_a_name_could_stand_is_no_name(text: str) -> None:
    assert ruled(text) == []


def test_capitals_say_nothing_where_all_are_capitals() -> None:
    assert ruled("THIS IS ABSOLUTELY UNACCEPTABLE") == []
    assert ruled("MY NAME IS JENNIFER") == ["JENNIFER"]


def test_a_name_ends_where_other_words_begin() -> None:
    assert ruled("my name is Jennifer and I cannot log in") == ["Jennifer"]
    assert ruled("my name is Jennifer, thanks") == ["Jennifer"]
    assert ruled("my name is Jennifer\nI cannot log in") == ["Jennifer"]


@pytest.mark.parametrize(
    "unit",
    ["my name is ", "name: ", "a name ", "J. ", "van ", "mr ", "dear\n", "under the name of ", "jennifer "],
)
def test_rules_take_time_by_the_length_of_a_text(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    cut = split_pieces(text)
    started = time.process_time()
    name_rules.find_names(text, select_words(cut), compute_word_starts(cut))
    assert time.process_time() - started < 3
