"""A decision as submitted: what it may contain, and the state it leads to."""

import math
import re
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from datasets_app.domain.labels.criterion import Kind
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Answers, Schema, encode_answers
from datasets_app.domain.labels.values import InvalidValue, describe_label, is_code

SUBMISSION_KINDS = ("label", "skip", "flag", "undo")
MAX_NOTE_LENGTH = 2000
# Line breaks and tabs are text; all other control characters are not.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

# States in which an assignment occupies one of the places of its item.
HOLDING_STATES = ("leased", "labelled")
_NEXT_STATES = {"label": "labelled", "skip": "skipped", "flag": "flagged", "undo": "leased"}


class InvalidSubmission(Exception):
    """An invalid submission; the message is for the annotator."""


class Submission(NamedTuple):
    """A valid submission. ``notes`` is None rather than empty; ``seconds`` is the time on task."""

    key: uuid.UUID
    kind: str
    label: int | None
    notes: str | None
    confidence: float | None
    seconds: float | None
    # The answers under a schema.
    codes: dict[str, int | float] | None = None
    texts: dict[str, str] | None = None
    # Words that were marked: see evidence.py.
    evidence: dict[str, Any] | None = None

    @property
    def next_state(self) -> str:
        """The state of its assignment afterwards."""
        return _NEXT_STATES[self.kind]


def validate_submission(
    key: object,
    kind: str,
    *,
    label: int | None,
    notes: str | None,
    confidence: float | None,
    seconds: float | None,
    max_seconds: float,
    schema: Schema | None = None,
    with_session: bool | None = None,
    answers: Mapping[str, Any] | None = None,
) -> Submission:
    """Validate a submission; caps seconds at ``max_seconds``. Under a ``schema``, a label has ``answers`` to
    its criteria; ``with_session`` to those about the session as well. Raises :class:`InvalidSubmission`."""
    if kind not in SUBMISSION_KINDS:
        raise InvalidSubmission(f"A decision is one of {', '.join(SUBMISSION_KINDS)}.")
    own_key = _parse_key(key)
    found = None
    if kind != "label":
        label = confidence = None
    elif schema is not None:
        label, found = None, encode_submitted(schema, answers or {}, with_session=with_session)
    elif not is_code(ON_BRAND, label):
        raise InvalidSubmission(describe_label(ON_BRAND))
    said = None if kind == "undo" else clean_notes(notes)
    if kind == "flag" and not said:
        raise InvalidSubmission("Say why you flag this reply.")
    return Submission(
        own_key,
        kind,
        label,
        said,
        _validate_confidence(confidence),
        _clean_seconds(seconds, max_seconds),
        found and found.codes,
        found and found.texts,
    )


def encode_submitted(
    schema: Schema, values: Mapping[str, Any], *, with_session: bool | None = None
) -> Answers:
    """What a page submits; a text without characters counts as none. Raises :class:`InvalidSubmission`."""
    texts = {criterion.key for criterion in schema.criteria if criterion.kind == Kind.TEXT}
    said = {
        key: _clean_text(value) if key in texts and isinstance(value, str) else value
        for key, value in values.items()
    }
    try:
        given = {key: value for key, value in said.items() if value != ""}
        return encode_answers(schema, given, with_session=with_session)
    except InvalidValue as error:
        raise InvalidSubmission(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None


def _parse_key(key: object) -> uuid.UUID:
    try:
        return key if isinstance(key, uuid.UUID) else uuid.UUID(str(key))
    except ValueError:
        raise InvalidSubmission("The key of a decision must be a UUID.") from None


def clean_notes(notes: str | None) -> str | None:
    """Normalize and validate a note; None if it is empty. Raises InvalidSubmission."""
    text = _clean_text(notes or "")
    if len(text) > MAX_NOTE_LENGTH:
        raise InvalidSubmission(
            f"A note has at most {MAX_NOTE_LENGTH:,} characters; this one has {len(text):,}."
        )
    return text or None


def _clean_text(written: str) -> str:
    text = written.replace("\r\n", "\n").replace("\r", "\n").strip()
    if _CONTROL_CHARACTERS.search(text):
        raise InvalidSubmission("The note holds a control character; write it as plain text.")
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise InvalidSubmission("The note holds half a character; write it as plain text.")
    return text


def _validate_confidence(confidence: float | None) -> float | None:
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidSubmission("Confidence is a number from 0 to 1.")
    return confidence


def _clean_seconds(seconds: float | None, max_seconds: float) -> float | None:
    if seconds is None:
        return None
    if not math.isfinite(seconds) or seconds < 0:
        raise InvalidSubmission("The time on task is a number of seconds, 0 or more.")
    return min(seconds, max_seconds)
