"""What the pre-filter lets through is all that an expression matches, and hardly more."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.pii import context
from datasets_app.domain.pii.rules.prefilter import make_prefilter

PATTERNS = tuple(context._QUESTION_PATTERNS.values())
find_possible = make_prefilter(PATTERNS)
WORDS = re.findall(r"[^\W\d_]+|\W", " ".join(pattern.pattern for pattern in PATTERNS))


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=12).map(" ".join))
def test_nothing_that_matches_is_left_out(text: str) -> None:
    matching = [number for number, pattern in enumerate(PATTERNS) if pattern.search(text)]
    assert set(matching) <= set(find_possible(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("your order has left", []),
        ("İBAN numaranız nedir", [0]),
        ("what is the ıban?", [0]),
        ("mail\u00a0address", [1]),
        ("the \ud800 iban", [0]),
        ("", []),
    ],
)
def test_letters_of_other_alphabets_and_spaces(text: str, expected: list[int]) -> None:
    patterns = [re.compile(r"\biban\b", re.IGNORECASE), re.compile(r"mail\s+\w+(?! only)", re.IGNORECASE)]
    assert make_prefilter(patterns)(text) == expected


def test_only_patterns_that_ignore_case_are_taken() -> None:
    with pytest.raises(ValueError, match="heeds case"):
        make_prefilter([re.compile("IBAN")])
