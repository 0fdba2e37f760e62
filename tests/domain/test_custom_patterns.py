"""A team's own patterns: linear whatever they are, refused with a place if they can't be used."""

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.pii import custom_patterns
from datasets_app.domain.pii.custom_patterns import CustomPatterns, PatternError
from datasets_app.domain.pii.detector import KINDS, Match
from datasets_app.domain.pii.policy import PolicyError
from tests.strategies import texts


def found(regex: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in CustomPatterns([("X", regex)]).find(text)]


def refused(regex: str) -> PatternError:
    with pytest.raises(PatternError) as error:
        CustomPatterns([("ORDER", regex)])
    return error.value


# --- finding -----------------------------------------------------------------------------------


def test_matches_of_all_patterns_by_their_start() -> None:
    patterns = CustomPatterns([("order", r"ORD-\d+"), ("CLIENT", r"\bAC\d{4}\b"), ("ORDER", r"#\d+")])
    assert patterns.kinds == {"ORDER", "CLIENT"}
    assert patterns.find("AC1234: ORD-17, #9 and AC12345") == [
        Match("CLIENT", 0, 6),
        Match("ORDER", 8, 14),
        Match("ORDER", 16, 18),
    ]
    assert [patterns.find(text) for text in ("#1", "", "none")] == [[Match("ORDER", 0, 2)], [], []]


def test_matches_without_a_character_are_none() -> None:
    assert found("a*", "baab") == ["aa"]
    assert found("", "abc") == []
    assert found("$", "äöü") == []
    assert found("x?", "äxö") == ["x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("👩‍👩‍👧 ID-1 👍🏽 ID-22", ["ID-1", "ID-22"]),
        ("e\u0301ID-1\u0301", ["ID-1"]),
        ("שלום ID-7 שלום", ["ID-7"]),
        ("a\u200bID-3\u200bb", ["ID-3"]),
        ("ｊａｎｅ ID-4 ＠", ["ID-4"]),
        ("\U0001f600" * 50 + "ID-5", ["ID-5"]),
        ("half \ud83d a character ID-6", ["ID-6"]),
    ],
)
def test_offsets_count_code_points(text: str, expected: list[str]) -> None:
    assert found(r"ID-\d+", text) == expected


@given(texts, st.sampled_from([r"\d+", "a", "[א-ת]+", "👩", r"\S+", "(?i)TAB|N", r"e\x{301}"]))
def test_the_same_is_found_as_by_the_standard_library(text: str, regex: str) -> None:
    # RE2 knows digits and spaces of ASCII only, and of these not the vertical tab.
    in_other_words = {r"e\x{301}": "e\u0301", r"\d+": "[0-9]+", r"\S+": r"[^\t\n\f\r ]+"}
    theirs = in_other_words.get(regex, regex)
    assert found(regex, text) == [match[0] for match in re.finditer(theirs, text)]


def test_half_a_character_is_taken_whole() -> None:
    assert found(r"\C", "aé👍") == ["a", "é", "👍"]
    assert found(r"a\C", "aéb") == ["aé"]
    assert found(r"\C\z", "aé") == ["é"]


# --- time --------------------------------------------------------------------------------------

HOSTILE = [
    "(a+)+$",
    "(a|aa)*b$",
    "(a*)*b",
    "a(.*b)?",
    "(?:.*b)?",
    "a|a.*b",
    "(?:a?){500}a{500}b",
    ".",
    "\\b|a.*c",
]


@pytest.mark.parametrize("regex", HOSTILE)
@pytest.mark.parametrize("letter", ["a", "ä"])
def test_a_hostile_pattern_takes_no_longer_than_the_text_is(regex: str, letter: str) -> None:
    patterns = CustomPatterns([("X", regex)])
    for text in (letter * 50_000, letter * 49_999 + "!"):
        # 0.35 s at most on a slow machine, nearly always 0.01 s; other work can hold up one of several.
        assert any(takes_seconds(patterns, text) < 0.75 for _ in range(3))


def takes_seconds(patterns: CustomPatterns, text: str) -> float:
    started = time.process_time()
    patterns.find(text)
    return time.process_time() - started


def test_many_matches_in_a_long_text_stay_linear() -> None:
    patterns = CustomPatterns([("X", "ü")])
    times = []
    for length in (20_000, 200_000):
        started = time.process_time()
        assert len(patterns.find("aü" * length)) == length
        times.append(time.process_time() - started)
    assert times[1] < 25 * times[0]


def test_where_the_view_is_narrow_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    regexes = [r"[ab]+c", r"\bd+\b", r"é.{0,300}?d", r"a$", r"^[a-z]", r"[^c]{5,900}c"]
    texts = ["".join(chance.choices("abcdé \n", k=5000)) for _ in range(3)]
    freely = [found(regex, text) for regex in regexes for text in texts]
    monkeypatch.setattr(custom_patterns, "MAX_FREE_SCAN_BYTES", 0)
    assert [found(regex, text) for regex in regexes for text in texts] == freely


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regex", "column", "words"),
    [
        ("(abc", 1, "opened and never closed"),
        ("x(a)(b", 5, "opened and never closed"),
        ("abc)", 4, "closed that was never opened"),
        (r"[(]\(a)", 7, "closed that was never opened"),
        (r"\Q((\E)", 7, "closed that was never opened"),
        ("ab[c", 3, "bracket"),
        ("*a", 1, "nothing before it"),
        ("a*b**", 4, "can't be repeated"),
        ("x[z-a]", 3, "no such range"),
        ("[[:foo:]]", 2, "no such range"),
        ("a{2}b{1001}", 6, "at most 1000"),
        ("(a{1,1000}){1,1000}", 12, "at most 1000"),
        ("ab\\", 3, "backslash"),
        (r"\d\y", 3, "escape is not known"),
        (r"(?P<a>x)(?P<a", 9, "named group"),
        (r"a(?=b)", 2, "look-ahead is not supported"),
        (r"a(?!b)", 2, "negative look-ahead is not supported"),
        (r"\((?<=a)b", 3, "look-behind is not supported"),
        (r"(?<!a)b", 1, "negative look-behind is not supported"),
        (r"(a)\1", 4, "back-references are not supported"),
        (r"\\1(a)\1", 7, "back-references are not supported"),
        (r"(?P<n>a)(?P=n)", 9, "back-references are not supported"),
        (r"(?i)a(?(1)b)", 6, "conditions are not supported"),
        (r"(?>a)", 1, "atomic groups"),
        (r"a\Z", 2, r"write \z"),
        (r"é\u1234", 2, "write the character itself"),
        ("a\udc80", 2, "no such character"),
    ],
)
def test_a_mistake_is_told_with_its_column(regex: str, column: int, words: str) -> None:
    error = refused(regex)
    assert error.column == column
    assert words in error.problem
    assert str(error) == f"The pattern ORDER has a mistake at column {column}: {error.problem}."


@pytest.mark.parametrize(
    "regex", [r"(?:\pL{1,50}\s){15}x", "(?:[a-z]{1,900}[0-9]{1,900}){1,9}", "a" * 10_001]
)
def test_what_would_take_too_much_memory_is_refused(regex: str) -> None:
    assert re.search("too large|repetition|longer than 10,000", refused(regex).problem)


@given(st.text(st.sampled_from(list(r"()[]{}?*+|\^$.,-:<>=!PpQEdbxkZ12aé")), max_size=12))
def test_whatever_is_given_is_a_detector_or_a_sentence_with_a_place(regex: str) -> None:
    try:
        CustomPatterns([("X", regex)]).find("aé12 (a)")
    except PatternError:
        error = refused(regex)
        assert 1 <= error.column <= len(regex)
        assert str(error).endswith(".")


def test_the_error_repeats_nothing_of_a_long_pattern() -> None:
    assert "Silva" not in str(refused("(?=Ana Silva)"))
    assert "Silva" not in str(refused("(Ana Silva"))


@pytest.mark.parametrize("label", ["", "1A", "_A", "A-B", "Ä", "A" * 41, *KINDS, "email"])
def test_a_label_is_a_word_of_its_own(label: str) -> None:
    with pytest.raises(PolicyError):
        CustomPatterns([(label, "a")])
