"""The chain over the audit log: each seal's digest is the SHA-256 of the digest before it and its event.

A fault is a change made outside the application. A chain that was rewritten from some position on is valid in
itself: only a :class:`Head` noted elsewhere before tells it from the true one.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from datasets_app.domain.wording import format_count

GENESIS_DIGEST = "0" * 64
# Events are dated when they are recorded and sealed at the commit, which no transaction puts off for so long.
MAX_DELAY = 24 * 60 * 60 * 1_000_000  # microseconds
_EVENT_TIME = re.compile(r"\[\d+, (-?\d+),")


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


class RecordedHead(NamedTuple):
    """A head as it was recorded elsewhere, with the last event's id and the time, if they are known."""

    position: int
    digest: str
    event: int | None = None
    at: str = ""


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


class _EventTimes:
    """Whether events follow each other in time. One that was added in SQL is sealed at the end of the chain,
    but could pretend to be old. Times are microseconds since 1970."""

    def __init__(self, now: int) -> None:
        self._latest, self._end = 0, now + MAX_DELAY

    def check(self, link: Link) -> Iterator[Fault]:
        match = _EVENT_TIME.match(link.event_text or "")
        at = int(match[1]) if match else self._latest
        if self._latest - MAX_DELAY <= at <= self._end:
            self._latest = max(self._latest, at)
            return
        yield Fault(
            f"The date of event {link.event_id} (position {link.position}) doesn't fit those around it: it "
            "was not recorded by this application, or the server's clock was wrong.",
            link.position,
            link.event_id,
        )


def find_faults(links: Iterable[Link], now: int = 0) -> Iterator[Fault]:
    """Check a chain from beginning to end; ``links`` are ordered by position. ``now`` is in microseconds
    since 1970."""
    times = _EventTimes(now)
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
        yield from times.check(link)
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
    expected: Iterable[RecordedHead], digests_by_position: dict[int, str], end: Head, last_event: int = 0
) -> Iterator[Fault]:
    """Which recorded heads a chain does not go through. ``digests_by_position`` has those of the chain.

    A head that fits proves all positions up to it; so the first one that doesn't, and the last one beyond the
    end, say everything.
    """
    fitting, furthest = 0, None
    for head in sorted(expected, key=lambda head: head.position):
        if head.position > end.position:
            furthest = head
        elif digests_by_position.get(head.position) == head.digest:
            fitting = head.position
        else:
            text = (
                f"The digest at position {head.position} is not the one recorded{_format_time(head)}: seals "
                f"or events from position {fitting + 1} to {head.position} were replaced."
            )
            yield Fault(text, head.position, head.event)
            break
    if furthest:
        ids = f" (ids after {last_event} up to {furthest.event})" if furthest.event else ""
        text = (
            f"The chain ends at position {end.position}, but had reached {furthest.position}"
            f"{_format_time(furthest)}. Missing at its end: "
            f"{format_count(furthest.position - end.position, 'event')}{ids}."
        )
        yield Fault(text, furthest.position, furthest.event)


def _format_time(head: RecordedHead) -> str:
    return f" at {head.at}" if head.at else ""
