"""Words that are marked as the reason of a label: where they are in the text."""

from typing import Any

import pytest

from annotations_app.domain.evidence import (
    MAX_SPANS,
    digest_text,
    list_offsets,
    list_page_spans,
    quote_evidence,
    read_evidence,
)
from annotations_app.domain.submission import InvalidSubmission

TEXT = "Ärger 😀 with\r\nthe bill"


def said(*spans: Any, text: str = TEXT) -> dict[str, Any]:
    return {"digest": digest_text(text), "spans": list(spans)}


def test_offsets_are_characters_of_the_stored_text() -> None:
    """The page has one line feed for CR LF, and no halves of characters."""
    evidence = read_evidence(said([13, 16], [6, 7]), TEXT)
    assert quote_evidence(evidence, TEXT) == ["😀", "the"]
    assert evidence is not None
    assert list_page_spans(evidence, TEXT) == [[6, 7], [13, 16]]
    assert list_offsets(evidence, TEXT) == {"evidence": [{"start": 6, "end": 7}, {"start": 14, "end": 17}]}
    assert quote_evidence(evidence, f"{TEXT}.") == list_page_spans(evidence, f"{TEXT}.") == []


def test_overlapping_spans_are_joined() -> None:
    evidence = read_evidence(said([4, 9], [0, 5], [9, 10], [12, 13], text="a" * 20), "a" * 20)
    assert evidence is not None
    assert evidence["spans"] == [[0, 10], [12, 13]]
    assert read_evidence(said(), TEXT) is None
    assert list_offsets(None, TEXT) == {}
    assert list_offsets(evidence, TEXT) == {}  # of another text


@pytest.mark.parametrize(
    "wrong",
    [
        {"spans": "all"}, said([1, 1]), said([2, 1]), said([-1, 2]), said([0, 1.5]), said([0]),
        said([0, True]),
        said([0, 99]), said(*[[0, 1]] * (MAX_SPANS + 1)), said([0, 1], text="another"), {"spans": [[0, 1]]},
    ],
)  # fmt: skip
def test_anything_else_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSubmission):
        read_evidence(wrong, TEXT)
