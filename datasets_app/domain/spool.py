"""Records sorted by a key, on disk where memory does not suffice."""

import heapq
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from typing import IO, Any, Generic, TypeVar

import msgspec

BUFFER_BYTES = 24 << 20

T = TypeVar("T")
_Entry = tuple[str, float, int, bytes]
_decode_entry = msgspec.msgpack.Decoder(tuple[str, float, int, bytes]).decode
# MessagePack has no integers of more than 64 bits.
_encode_json = msgspec.json.Encoder().encode
_encode_entry = msgspec.msgpack.Encoder().encode


class Spool(Generic[T]):
    """``add()`` everything, then read it once: sorted by key, then by order, then as added."""

    def __init__(self, type: type[T], buffer_bytes: int = BUFFER_BYTES) -> None:
        as_is = type is bytes
        self._encode: Callable[[Any], bytes] = bytes if as_is else _encode_json
        self._decode: Callable[[bytes], T] = type if as_is else msgspec.json.Decoder(type).decode
        self._buffer_bytes = buffer_bytes
        self._held: list[_Entry] = []
        self._size = self._count = 0
        self._runs: list[IO[bytes]] = []
        self._files = ExitStack()

    def add(self, key: str, order: float, value: T) -> None:
        raw = self._encode(value)
        self._count += 1
        self._held.append((key, order, self._count, raw))
        self._size += len(raw) + 250
        if self._size >= self._buffer_bytes:
            self._write_run()

    def values(self) -> Iterator[T]:
        """Everything, sorted; read once."""
        with self._files:
            for entry in self._entries():
                yield self._decode(entry[3])

    def groups(self) -> Iterator[list[T]]:
        """Everything of one key at a time; read once."""
        with self._files:
            for _, group in groupby(self._entries(), key=itemgetter(0)):
                yield [self._decode(entry[3]) for entry in group]

    def _entries(self) -> Iterator[_Entry]:
        self._held.sort(key=itemgetter(0, 1, 2))
        return heapq.merge(*map(_read_run, self._runs), self._held, key=itemgetter(0, 1, 2))

    def _write_run(self) -> None:
        self._held.sort(key=itemgetter(0, 1, 2))
        run = self._files.enter_context(
            tempfile.TemporaryFile(prefix="alignmenter-sort-")  # noqa: SIM115  (closed by the stack)
        )
        for entry in self._held:
            raw = _encode_entry(entry)
            run.write(len(raw).to_bytes(4, "little") + raw)
        self._runs.append(run)
        self._held, self._size = [], 0


def _read_run(run: IO[bytes]) -> Iterator[Any]:
    run.seek(0)
    while head := run.read(4):
        yield _decode_entry(run.read(int.from_bytes(head, "little")))
