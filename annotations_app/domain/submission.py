"""What an annotator has pressed: what it may hold, and what it does to an assignment."""

import math
import re
import uuid
from typing import NamedTuple

KINDS = ("label", "skip", "flag", "undo")
LONGEST_NOTE = 2000
# Lines and tabs are text; what else is below a space, and DEL, is not.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

# States in which an assignment takes one of the places of its item.
HOLDING = ("leased", "labelled")
_BECOMES = {"label": "labelled", "skip": "skipped", "flag": "flagged", "undo": "leased"}


class NotValid(Exception):
    """What was pressed can't be; the message is a sentence for who pressed it."""


class Pressed(NamedTuple):
    """A press, checked. ``notes`` is None rather than empty; ``seconds`` is the time on task."""

    key: uuid.UUID
    kind: str
    label: int | None
    notes: str | None
    confidence: float | None
    seconds: float | None

    @property
    def becomes(self) -> str:
        """The state of its assignment afterwards."""
        return _BECOMES[self.kind]


def checked(
    key: object,
    kind: str,
    *,
    label: int | None,
    notes: str | None,
    confidence: float | None,
    seconds: float | None,
    longest: float,
) -> Pressed:
    """Take a press as it comes; raises :class:`NotValid`. ``longest``: seconds beyond it are cut off."""
    if kind not in KINDS:
        raise NotValid(f"A decision is one of {', '.join(KINDS)}.")
    own_key = _key(key)
    if kind != "label":
        label = confidence = None
    elif type(label) is not int or label not in (0, 1):
        raise NotValid("A label is 1 (on-brand) or 0 (off-brand).")
    said = None if kind == "undo" else checked_notes(notes)
    if kind == "flag" and not said:
        raise NotValid("Say why you flag this reply.")
    return Pressed(own_key, kind, label, said, _confidence(confidence), _seconds(seconds, longest))


def _key(key: object) -> uuid.UUID:
    try:
        return key if isinstance(key, uuid.UUID) else uuid.UUID(str(key))
    except ValueError:
        raise NotValid("The key of a decision must be a UUID.") from None


def checked_notes(notes: str | None) -> str | None:
    """A note without what only looks like text; None rather than an empty one. Raises NotValid."""
    text = (notes or "").replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > LONGEST_NOTE:
        raise NotValid(f"A note has at most {LONGEST_NOTE:,} characters; this one has {len(text):,}.")
    if _CONTROL.search(text):
        raise NotValid("The note holds a control character; write it as plain text.")
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise NotValid("The note holds half a character; write it as plain text.")
    return text or None


def _confidence(confidence: float | None) -> float | None:
    if confidence is not None and not 0 <= confidence <= 1:
        raise NotValid("Confidence is a number from 0 to 1.")
    return confidence


def _seconds(seconds: float | None, longest: float) -> float | None:
    if seconds is None:
        return None
    if not math.isfinite(seconds) or seconds < 0:
        raise NotValid("The time on task is a number of seconds, 0 or more.")
    return min(seconds, longest)
