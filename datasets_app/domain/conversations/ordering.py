"""Lines in any order → sessions in one piece, turns counted upwards; in constant memory.

A file in order, as nearly all are, is only looked over. One that is not is sorted on disk.
"""

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from operator import itemgetter
from typing import IO

import msgspec

SORT_BUFFER_BYTES = 64 << 20

SortableLine = tuple[str, int, int, bytes]  # session id, turn index, line number, line


class _LinePosition(msgspec.Struct):
    session_id: str
    turn_index: int


_decode_position = msgspec.json.Decoder(_LinePosition).decode


def read_position(raw: bytes) -> tuple[str, int] | None:
    """(session id, turn index) of a line, or None if it has none that can be read."""
    try:
        place = _decode_position(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return place.session_id, place.turn_index


class OrderCheck:
    """Fed the lines of a file one by one, tells where the first stands out of order.

    Remembers 8 bytes' worth for each session (the hash of its id). Two ids of one hash would
    only cause a needless sort.
    """

    def __init__(self) -> None:
        self.first_out_of_order = 0
        self._seen: set[int] = set()
        self._session: str | None = None
        self._turn_index = 0

    def check_line(self, line: int, raw: bytes) -> None:
        try:
            place = _decode_position(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return
        session_id = place.session_id
        if session_id == self._session:
            if place.turn_index < self._turn_index:
                self.first_out_of_order = self.first_out_of_order or line
        else:
            key = hash(session_id)
            if key in self._seen:
                self.first_out_of_order = self.first_out_of_order or line
            self._seen.add(key)
            self._session = session_id
        self._turn_index = place.turn_index


def sort_on_disk(lines: Iterable[SortableLine]) -> Iterator[tuple[int, bytes]]:
    """``(line number, line)`` by session id, turn index and line number.

    Sorted runs are kept in temporary files, which are gone when the iterator is.
    """
    with ExitStack() as files:
        runs: list[IO[bytes]] = []
        held: list[SortableLine] = []
        size = 0
        for line in lines:
            held.append(line)
            size += len(line[3]) + 200
            if size >= SORT_BUFFER_BYTES:
                runs.append(_write_run(held, files))
                held, size = [], 0
        held.sort(key=itemgetter(0, 1, 2))
        merged = heapq.merge(*map(_read_run, runs), held, key=itemgetter(0, 1, 2))
        for _, _, number, raw in merged:
            yield number, raw


def _write_run(lines: list[SortableLine], files: ExitStack) -> IO[bytes]:
    lines.sort(key=itemgetter(0, 1, 2))
    run = files.enter_context(
        tempfile.TemporaryFile(prefix="alignmenter-sort-")  # noqa: SIM115  (closed by the stack)
    )
    for _, _, number, raw in lines:
        run.write(b"%d\t%s\n" % (number, raw))
    return run


def _read_run(run: IO[bytes]) -> Iterator[SortableLine]:
    run.seek(0)
    for stored in run:
        number, _, raw = stored[:-1].partition(b"\t")
        place = _decode_position(raw)
        yield place.session_id, place.turn_index, int(number), raw
