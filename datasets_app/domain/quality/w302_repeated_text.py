from array import array
from bisect import bisect_right
from collections.abc import Iterator

from datasets_app.domain.conversations.records import Finding, TurnRecord
from datasets_app.domain.quality.base import Check, Findings, format_place

# Shorter texts ("Sure, one moment!") repeat in every honest conversation.
MIN_CHARACTERS = 20


class RepeatedText(Check):
    """Assistant texts that repeat word for word: one finding for each, at its second occurrence.

    No text is kept, only numbers: 20 bytes for each assistant text, and the session ids as one
    row of bytes. Two texts with one 64-bit hash are as good as impossible (3 in a million for ten
    million texts).
    """

    code = "W302"
    title = "assistant text repeats"

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lines = array("Q")
        self._turn_indexes = array("i")
        self._session_starts = array("Q")  # the first text of each session, as an index of _hashes
        self._id_starts = array("Q")
        self._ids = bytearray()
        self._session: str | None = None

    def turn(self, turn: TurnRecord) -> Findings:
        if turn.role != "assistant":
            return None
        text = turn.text.strip()
        if len(text) < MIN_CHARACTERS:
            return None
        if turn.session_id != self._session:
            self._begin_session(turn.session_id)
        self._hashes.append(hash(text))
        self._lines.append(turn.line)
        self._turn_indexes.append(turn.turn_index)
        return None

    def _begin_session(self, session_id: str) -> None:
        self._session = session_id
        self._session_starts.append(len(self._hashes))
        self._id_starts.append(len(self._ids))
        self._ids += session_id.encode("utf-8", "surrogatepass")

    def end(self) -> Iterator[Finding]:
        import numpy

        if len(self._hashes) < 2:
            return
        hashes = numpy.frombuffer(self._hashes, dtype=numpy.int64)
        order = numpy.argsort(hashes, kind="stable")
        ranked = hashes[order]
        # Where a run of equal hashes begins; stable order puts the first occurrence first in it.
        begins = numpy.flatnonzero(numpy.concatenate(([True], ranked[1:] != ranked[:-1])))
        lengths = numpy.diff(numpy.append(begins, len(ranked)))
        repeated = lengths > 1
        seconds = order[begins[repeated] + 1]
        by_place = numpy.argsort(seconds)
        firsts = order[begins[repeated]][by_place]
        for second, first, times in zip(seconds[by_place], firsts, lengths[repeated][by_place], strict=True):
            yield self._make_finding(int(first), int(second), int(times))

    def _make_finding(self, first: int, second: int, times: int) -> Finding:
        where = format_place(self._lines[first], self._get_session_id(first), self._turn_indexes[first])
        return Finding(
            self.code,
            f"repeats the assistant text of {where} word for word ({times} times in all)",
            self._lines[second],
            self._get_session_id(second),
            self._turn_indexes[second],
            "text",
        )

    def _get_session_id(self, text: int) -> str:
        session = bisect_right(self._session_starts, text) - 1
        start = self._id_starts[session]
        end = self._id_starts[session + 1] if session + 1 < len(self._id_starts) else len(self._ids)
        return self._ids[start:end].decode("utf-8", "surrogatepass")
