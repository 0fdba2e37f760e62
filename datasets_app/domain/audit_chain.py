"""The chain over the audit log: each seal's digest is the SHA-256 of the digest before it and its event.

A fault is a change made outside the application. A chain that was rewritten from some position on is valid in
itself: only a :class:`Head` noted elsewhere before tells it from the true one.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

GENESIS_DIGEST = "0" * 64


class Head(NamedTuple):
    """How far a chain went and what its last digest was: by that, everything up to there is fixed."""

    position: int
    digest: str

    def __str__(self) -> str:
        return f"{self.position}:{self.digest}"

    @classmethod
    def parse(cls, text: str) -> "Head":
        """ "12:ab…" → a head; ValueError with a sentence for anything else."""
        if not (match := re.fullmatch(r"([0-9]{1,18}):([0-9a-fA-F]{64})", text.strip())):
            raise ValueError("A head is a position, a colon and 64 hexadecimal digits.")
        return cls(int(match[1]), match[2].lower())


class Link(NamedTuple):
    """A seal, with its event as text from the database server, or None if the event is missing."""

    position: int
    event_id: int
    previous: str
    digest: str
    event_text: str | None


class Fault(NamedTuple):
    message: str
    position: int | None = None
    event: int | None = None


def compute_digest(previous: str, event_text: str) -> str:
    return hashlib.sha256((previous + event_text).encode()).hexdigest()


def find_faults(links: Iterable[Link]) -> Iterator[Fault]:
    """Check a chain from beginning to end; ``links`` are ordered by position."""
    last, last_true = Link(0, 0, "", GENESIS_DIGEST, None), GENESIS_DIGEST
    for link in links:
        if last.digest != last_true:
            yield _make_mismatch_fault(last, last_true, link.previous)
        follows = link.position == last.position + 1
        if not follows:
            yield _make_gap_fault(last.position, link)
        true = link.digest
        if link.event_text is None:
            yield Fault(
                f"Event {link.event_id} (position {link.position}) has been deleted.",
                link.position,
                link.event_id,
            )
        else:
            true = compute_digest(
                _get_base_digest(last, last_true, link) if follows else link.previous, link.event_text
            )
        if follows and link.previous not in (last.digest, last_true) and true == link.digest:
            yield _make_altered_seal_fault(link)
        last, last_true = link, true
    if last.digest != last_true:
        yield _make_mismatch_fault(last, last_true, None)


def _get_base_digest(last: Link, last_true: str, link: Link) -> str:
    """The digest that this link was made on: the one before it, as it is or as it must have been."""
    return last_true if link.previous == last_true else last.digest


def _make_gap_fault(before: int, link: Link) -> Fault:
    if link.position > before + 1:
        return Fault(f"The seals after position {before} and before {link.position} are missing.", before + 1)
    return Fault(f"The seal at position {link.position} is out of place.", link.position, link.event_id)


def _make_mismatch_fault(link: Link, true: str, next_previous: str | None) -> Fault:
    """Event and seal don't agree; the seal after it tells which of the two has been altered."""
    if next_previous == true:
        return _make_altered_seal_fault(link)
    if next_previous == link.digest:
        text = (
            f"Event {link.event_id} is not what was sealed at position {link.position}: it has been altered."
        )
    else:
        text = f"Event {link.event_id}, or its seal at position {link.position}, has been altered."
    return Fault(text, link.position, link.event_id)


def _make_altered_seal_fault(link: Link) -> Fault:
    text = f"The seal at position {link.position}, of event {link.event_id}, has been altered."
    return Fault(text, link.position, link.event_id)


def find_missed_heads(
    expected: Iterable[Head], digests_by_position: dict[int, str], end: Head
) -> Iterator[Fault]:
    """Which noted heads a chain does not go through. ``digests_by_position`` has those of the chain."""
    for head in expected:
        if head.position > end.position:
            text = (
                f"The chain ends at position {end.position}, but had reached {head.position}: "
                "the last events are gone."
            )
            yield Fault(text, head.position)
        elif digests_by_position.get(head.position) != head.digest:
            text = (
                f"The digest at position {head.position} is not the one noted: the chain has been rewritten."
            )
            yield Fault(text, head.position)
