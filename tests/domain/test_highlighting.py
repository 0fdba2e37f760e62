"""Words of a persona within a text: which are found, and that the text stays the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations_app.domain.highlighting import AVOID, PREFERRED, highlight_words, list_highlighted_words
from tests.domain.growth import assert_linear_time


def found(text: str, *entries: str) -> list[str]:
    return [piece.text for piece in highlight_words(text, entries, []) if piece.kinds]


@pytest.mark.parametrize(
    ("text", "entry", "words"),
    [
        ("Check it, CHECK it; recheck, checks", "check", ["Check", "CHECK"]),
        ("thank  you and thank\nyou, thanks you", "thank you", ["thank  you", "thank\nyou"]),
        ("Straße, STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("caf\u00e9 cafe\u0301 cafe", "caf\u00e9", ["caf\u00e9", "cafe\u0301"]),
        ("cafe\u0301", "cafe", []),
        ("don\u2019t, don't, dont", "don't", ["don\u2019t", "don't"]),
        ("C++ and C+", "c++", ["C++"]),
        ("because-of, because_of", "because", ["because"]),
        ("你好吗", "你好", ["你好"]),
        ("ШАГИ и шаг", "шаги", ["ШАГИ"]),
        ("a.b.c", ".", [".", "."]),
        ("word", " ", []),
        ("word", "w" * 200, []),
    ],
)
def test_whole_words_however_they_are_written(text: str, entry: str, words: list[str]) -> None:
    assert found(text, entry) == words


def test_entries_may_overlap() -> None:
    pieces = highlight_words("so thank you very much", ["thank you"], ["you very", "much"])
    assert [(piece.text, piece.kind) for piece in pieces] == [
        ("so ", ""),
        ("thank ", PREFERRED),
        ("you", "both"),
        (" very", AVOID),
        (" ", ""),
        ("much", AVOID),
    ]


def test_what_yaml_made_no_text_of_is_passed_over() -> None:
    assert found("yes and True", True, 7, None) == []  # type: ignore[arg-type]


def test_words_are_told_once() -> None:
    pieces = highlight_words("Check, check and lol. CHECK", ["check"], ["lol"])
    assert [word.lower() for word in list_highlighted_words(pieces, PREFERRED)] == ["check"]
    assert list_highlighted_words(pieces, AVOID) == ["lol"]


TEXTS = st.text(
    alphabet=st.sampled_from("aAbß é\u0301İ\n'’-_你ｆ.") | st.characters(codec="utf-8"), max_size=60
)


@given(TEXTS, st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=6))
def test_the_pieces_are_the_text(text: str, preferred: list[str], avoid: list[str]) -> None:
    pieces = highlight_words(text, preferred, avoid)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


def test_a_hostile_lexicon_costs_no_more_than_the_text_is_long() -> None:
    entries = ["a " * 40 + ending for ending in "bcdefgh"]
    assert_linear_time(lambda text: highlight_words(text, entries, []), "a ", length=2_000)
