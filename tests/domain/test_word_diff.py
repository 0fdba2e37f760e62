"""Texts compared word by word."""

import pytest

from datasets_app.domain.releases.comparison import diff_words


@pytest.mark.parametrize(
    ("before", "after", "removed", "added"),
    [
        ("We ship on Monday.", "We ship on Tuesday.", ["Monday"], ["Tuesday"]),
        ("same", "same", [], []),
        ("", "new text", [], ["new text"]),
        ("a b c", "a c", ["b "], []),
        ("Mail jo@example.org.", "Mail [EMAIL].", ["jo@example.org"], ["[EMAIL]"]),
        ("Grüße, Zoë", "Grüße Zoë", [","], []),
    ],
)
def test_only_what_changed_is_marked(before: str, after: str, removed: list[str], added: list[str]) -> None:
    first, second = diff_words(before, after)
    assert "".join(piece.text for piece in first) == before
    assert "".join(piece.text for piece in second) == after
    assert [piece.text for piece in first if piece.changed] == removed
    assert [piece.text for piece in second if piece.changed] == added
