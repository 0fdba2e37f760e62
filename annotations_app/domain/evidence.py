"""Words of a reply that an annotator marked as the reason: character offsets, with the digest of the text."""

import hashlib
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from annotations_app.domain.submission import InvalidSubmission

MAX_SPANS = 50
# Of lines of annotation JSONL.
FIELD = "evidence"
# As stored: {"digest": of the text, "spans": [[start, end], …]}, in characters from 0, without the end.
Evidence = dict[str, Any]


def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_evidence(said: Mapping[str, Any], text: str) -> Evidence | None:
    """Evidence as a page sends it: sorted, overlapping spans joined; None without any. Raises
    InvalidSubmission."""
    spans = said.get("spans")
    if not isinstance(spans, list) or len(spans) > MAX_SPANS or not all(map(_is_span, spans)):
        raise InvalidSubmission(f"Marked words are at most {MAX_SPANS} pairs of a start and an end.")
    if not spans:
        return None
    if said.get("digest") != digest_text(text):
        raise InvalidSubmission(
            "The text of this reply has changed since you marked words in it. Decide again."
        )
    places = _list_places(text)
    if max(end for _, end in spans) > len(places):
        raise InvalidSubmission("Marked words end after the text.")
    joined: list[list[int]] = []
    for start, end in sorted((places[start], places[end - 1] + 1) for start, end in spans):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(end, joined[-1][1])
        else:
            joined.append([start, end])
    return {"digest": said["digest"], "spans": joined}


def list_page_spans(evidence: Evidence | None, text: str) -> list[list[int]]:
    """The spans of a text as a page counts them; none if it isn't the text that was marked."""
    spans = _spans_in(text, evidence)
    places = _list_places(text) if spans else []
    return [[bisect_left(places, start), bisect_left(places, end)] for start, end in spans]


def quote_evidence(evidence: Evidence | None, text: str) -> list[str]:
    """The marked words; none if the text isn't that which was marked."""
    return [text[start:end] for start, end in _spans_in(text, evidence)]


def take_offsets(extra: Mapping[str, Any] | None, text: str) -> tuple[Evidence | None, dict[str, Any] | None]:
    """Evidence from the field of a line with its text, and the other fields. What isn't an offset in this
    text stays a field."""
    fields = dict(extra or {})
    said = fields.pop(FIELD, None)
    is_list = isinstance(said, list) and 0 < len(said) <= MAX_SPANS
    if is_list and all(isinstance(one, dict) and one.keys() == {"start", "end"} for one in said):
        spans = [[one["start"], one["end"]] for one in said]
        if all(map(_is_span, spans)) and max(end for _, end in spans) <= len(text):
            return {"digest": digest_text(text), "spans": spans}, fields or None
    return None, dict(extra) if extra else None


def list_offsets(evidence: Evidence | None, text: str) -> dict[str, Any]:
    """The field of a line of a file with this text; empty if another one was marked."""
    spans = _spans_in(text, evidence)
    return {FIELD: [{"start": start, "end": end} for start, end in spans]} if spans else {}


def _spans_in(text: str, evidence: Evidence | None) -> list[list[int]]:
    """None if another text was marked."""
    return evidence["spans"] if evidence and evidence["digest"] == digest_text(text) else []


def _is_span(span: Any) -> bool:
    is_pair = isinstance(span, list) and len(span) == 2 and all(type(number) is int for number in span)
    return is_pair and 0 <= span[0] < span[1]


def _list_places(text: str) -> list[int] | range:
    """The place in the text of each character of a page: HTML has one line feed for CR LF."""
    if "\r\n" not in text:
        return range(len(text))
    return [place for place in range(len(text)) if text[place : place + 2] != "\r\n"]
