"""Replies to label, as lines for Alignmenter's own labeling tool.

The keys are those that `alignmenter calibrate generate` writes and `alignmenter calibrate label` fills in;
``context`` is ours, and passes through it.
"""

import hashlib
import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.conversations.records import TurnRecord


class RepeatedReplies:
    """Counts replies whose text an earlier session has as well. Holds only digests."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, int] = {}
        self.total = 0

    def watch(self, replies: Iterable["CandidateReply"]) -> Iterator["CandidateReply"]:
        for reply in replies:
            session = hash(reply.turn.session_id)
            self.total += self._sessions.setdefault(_digest("text", reply.turn.text), session) != session
            yield reply


class CandidateReply(NamedTuple):
    """An assistant's turn, with the turns before it."""

    turn: TurnRecord
    context: Sequence[TurnRecord]


class LabeledReplies:
    """Replies with a label, by place, or by text if the label names no place. Holds only digests."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def add(self, text: str, session_id: object, turn_index: object) -> None:
        """``session_id`` and ``turn_index`` are a place if they are a text and a whole number."""
        is_placed = type(session_id) is str and type(turn_index) is int
        self._digests.add(_digest("place", session_id, turn_index) if is_placed else _digest("text", text))

    def __contains__(self, turn: TurnRecord) -> bool:
        return bool(
            {_digest("text", turn.text), _digest("place", turn.session_id, turn.turn_index)} & self._digests
        )


def find_candidates(
    turns: Iterable[TurnRecord], *, tag: str = "", labeled: LabeledReplies | None = None, context: int = 0
) -> Iterator[CandidateReply]:
    """Yield the assistant's turns with a text (and the tag) that aren't labeled yet.

    The turns of a session must be consecutive and in order; each reply comes with ``context`` turns.
    """
    before: deque[TurnRecord] = deque(maxlen=context)
    session: str | None = None
    for turn in turns:
        if turn.session_id != session:
            session = turn.session_id
            before.clear()
        wanted = turn.role == "assistant" and turn.text.strip() and (not tag or tag in turn.tags)
        if wanted and (labeled is None or turn not in labeled):
            yield CandidateReply(turn, tuple(before))
        before.append(turn)


def sample_candidates(replies: Iterable[CandidateReply], limit: int, seed: int) -> list[CandidateReply]:
    """Sample up to ``limit`` replies by the seed, in their original order.

    The sample is spread over sessions: no session gives a second reply before each has given one, and
    so on. Holds no more than ``limit`` replies and one session in memory.
    """
    kept: list[tuple[tuple[int, int], int, CandidateReply]] = []
    order = 0
    for _, of_session in groupby(replies, key=lambda reply: reply.turn.session_id):
        drawn = []
        for reply in of_session:
            order += 1
            drawn.append((_draw(seed, reply.turn.session_id, reply.turn.turn_index), order, reply))
        drawn.sort(key=lambda one: one[:2])
        for round_number, (chance, place, reply) in enumerate(drawn[:limit]):
            # A heap whose top is evicted first: the latest round, then the highest draw.
            item = ((-round_number, -chance), -place, reply)
            if len(kept) < limit:
                heapq.heappush(kept, item)
            elif item[:2] > kept[0][:2]:
                heapq.heapreplace(kept, item)
    return [reply for _, _, reply in sorted(kept, key=lambda item: -item[1])]


def encode_candidate(reply: CandidateReply, persona_id: str, *, with_context: bool) -> bytes:
    """The line to label: all fields of a label, not filled in yet."""
    turn = reply.turn
    value: dict[str, Any] = {
        "text": turn.text,
        "label": None,
        "persona_id": persona_id,
        "session_id": turn.session_id,
        "turn_index": turn.turn_index,
        "scenario_tags": turn.tags,
        "labeler": None,
        "timestamp": None,
        "confidence": None,
        "notes": "",
    }
    if with_context:
        value["context"] = [{"role": before.role, "text": before.text} for before in reply.context]
    return encode_line(value)


def _draw(seed: int, *parts: object) -> int:
    return int.from_bytes(_digest(seed, *parts)[:8], "big")


def _digest(*parts: object) -> bytes:
    whole = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(whole, digest_size=16).digest()
