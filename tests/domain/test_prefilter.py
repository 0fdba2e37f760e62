"""What the pre-filter lets through is all that an expression matches, and hardly more."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.pii import context
from datasets_app.domain.pii.rules.numbers import labels
from datasets_app.domain.pii.rules.prefilter import make_prefilter

PATTERNS = (*context._QUESTION_PATTERNS.values(), *(label.words for label in labels.LABELS))
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
        ("e-mail\u2003,address", [1, 2]),
        ("mail\x0b\x85\x1fme", [1]),
        ("the \ud800 iban", [0]),
        ("", []),
    ],
)
def test_letters_of_other_alphabets_and_spaces(text: str, expected: list[int]) -> None:
    regexes = [r"\biban\b", r"mail[,\s]+\w+(?! only)", r"l\s,"]
    assert make_prefilter([re.compile(regex, re.IGNORECASE) for regex in regexes])(text) == expected


@pytest.mark.parametrize(("regex", "flags"), [("IBAN", 0), (r"[^\w]", re.IGNORECASE), (r"\d", re.IGNORECASE)])
def test_patterns_without_a_looser_form_are_refused(regex: str, flags: int) -> None:
    with pytest.raises(ValueError, match="no looser form"):
        make_prefilter([re.compile(regex, flags)])
