"""A customer's numbers are known by three examples; ordinary words and numbers never are."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from datasets_app.domain.pii.custom_patterns import CustomPatterns, parse_pattern
from datasets_app.domain.pii.number_formats import learn_format
from datasets_app.domain.pii.policy import PolicyError

SIGNS = "-/. #"
ORDINARY = """
    Please send it to the May 2024 address; call +49 30 901820 or 030-901820 after 12:30. The order of 3 costs
    1,299.00 EUR, see version 4.18.2 of 2024-01-17, web03, win11, gcc13, A4, B2B, 24/7, No. 5 and COVID-19.
"""


def find(pattern: str, text: str) -> list[str]:
    label, regex, _ = parse_pattern(pattern)
    return [text[match.start : match.end] for match in CustomPatterns([(label, regex)]).find(text)]


@st.composite
def formats(draw: st.DrawFn) -> tuple[list[str], str]:
    """Examples of a format, and another number of it."""
    prefix = draw(st.text(string.ascii_uppercase, min_size=2, max_size=4))
    lengths = draw(st.lists(st.integers(2, 7), min_size=1, max_size=3).filter(lambda some: sum(some) > 3))
    signs = [draw(st.sampled_from(SIGNS)) for _ in lengths]

    def number() -> str:
        parts = [
            sign + draw(st.text(string.digits, min_size=length, max_size=length))
            for sign, length in zip(signs, lengths, strict=True)
        ]
        return prefix + "".join(parts)

    return [number() for _ in range(3)], number()


@given(formats(), st.sampled_from(["{}", "my {} is late", "({})", "订单{}已", "id={}, thanks", "“{}”"]))
def test_each_example_and_every_number_of_the_form_is_found(made: tuple[list[str], str], frame: str) -> None:
    examples, other = made
    assume(len(set(examples)) == 3)
    pattern = f"ORDER_NUMBER: {', '.join(examples)}"
    for value in (*examples, other, other.lower()):
        assert find(pattern, frame.format(value)) == [value]
    assert find(pattern, ORDINARY) == []


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=3, max_size=5),
    st.text(st.characters(categories=["L", "Z", "P"])),
)
def test_ordinary_words_never_are(examples: list[str], words: str) -> None:
    try:
        learned = learn_format(examples)
    except PolicyError:
        return
    assert CustomPatterns([("X", learned.regex)]).find(f"{words} {ORDINARY}") == []


@pytest.mark.parametrize(
    ("examples", "description"),
    [
        ("A-2024-00017, A-2024-00018, A-2023-00412", "“A”, “-”, 4 digits, “-”, 5 digits"),
        ("RE 10023, RE 10024, RE 200", "“RE”, “ ”, 3 to 5 digits"),
        ("AB12345, CD23456, EF34567", "2 letters, 5 digits"),
        ("302-1234567-1234567, 303-1234567-7654321, 028-0-1", None),
        (
            "302-1234567-1234567, 303-1234567-7654321, 028-9999999-0000001",
            "3 digits, “-”, 7 digits, “-”, 7 digits",
        ),
        (
            "1Z999AA10123456784, 1Z12345E0205271688, 1Z8790930346834440",
            "1 digit, “Z”, 3 digits, 3 letters or digits, 10 digits",
        ),
        ("Ж-1234, Ж-1235, Ж-9999", "“Ж”, “-”, 4 digits"),
    ],
)
def test_a_format_is_described(examples: str, description: str | None) -> None:
    if description is None:
        with pytest.raises(PolicyError, match="too general"):
            parse_pattern(f"N: {examples}")
        return
    assert parse_pattern(f"N: {examples}").description == description
    assert all(find(f"N: {examples}", f"see {value}.") == [value] for value in examples.split(", "))


@pytest.mark.parametrize(
    ("examples", "reason"),
    [
        ("4711, 4712", "3 to 50 different examples"),
        ("A-1, A-1, A-1", "3 to 50 different examples"),
        ("hello, world, order", "ordinary words match it"),
        ("ORD-1, ORD-2, ORD-3", "ordinary words match it"),
        ("4711001, 4711002, 4711003", "dates, prices and telephone numbers match it"),
        ("2024-01-02, 2024-02-03, 2025-01-01", "dates, prices and telephone numbers match it"),
        ("May-2024, Jun-2024, Oct-2023", "ordinary words with a number match it"),
        ("A-1234, AB/1234, 77-X", "have different forms"),
        ("A-1234-, A-1235-, A-1236-", "Example 1 must begin and end"),
        (f"A-1234, A-1235, A-{'1' * 60}", "Example 3 can't be a number"),
    ],
)
def test_what_is_no_format_is_refused_without_a_word_of_it(examples: str, reason: str) -> None:
    with pytest.raises(PolicyError, match=reason) as refused:
        parse_pattern(f"ORDER_NUMBER: {examples}")
    assert not any(example in str(refused.value) for example in examples.split(", ") if len(example) > 3)
