"""Random numbers derived only from SHA-256: the same on every machine and Python version."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_ROUNDS = 4


class SeededRandom:
    """A stream of random numbers determined by ``key`` alone."""

    def __init__(self, key: str) -> None:
        self._start = hashlib.sha256(key.encode())
        self._block = 0
        self._words: Iterator[int] = iter(())

    def randbelow(self, bound: int) -> int:
        """An integer from 0 to ``bound`` - 1; ``bound`` is at most 2**32."""
        return (self._next_word() * bound) >> 32

    def draw_bool(self, share: float) -> bool:
        """True with probability ``share`` (0 to 1)."""
        return self._next_word() < share * 4294967296.0

    def choice(self, items: Sequence[T]) -> T:
        return items[self.randbelow(len(items))]

    def randint(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, inclusive."""
        return low + self.randbelow(high - low + 1)

    def shuffle_copy(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        for index in range(len(left) - 1, 0, -1):
            other = self.randbelow(index + 1)
            left[index], left[other] = left[other], left[index]
        return left

    def weighted_choice(self, items: Sequence[tuple[T, int]]) -> T:
        """One item of ``(item, weight)``; weights are integers of 0 or more, at least one positive."""
        ticket = self._randbelow_wide(sum(weight for _, weight in items))
        for item, weight in items:
            ticket -= weight
            if ticket < 0:
                return item
        raise ValueError("no item has a weight")

    def _randbelow_wide(self, bound: int) -> int:
        return (((self._next_word() << 32) | self._next_word()) * bound) >> 64

    def _next_word(self) -> int:
        word = next(self._words, None)
        if word is None:
            digest = self._start.copy()
            digest.update(self._block.to_bytes(8, "big"))
            block = digest.digest()
            self._block += 1
            self._words = iter([int.from_bytes(block[at : at + 4], "big") for at in range(0, 32, 4)])
            word = next(self._words)
        return word


class Permutation:
    """A random permutation of 0 … ``count`` - 1, computed without a list.

    A Feistel network on the next power of four, walked on until the number is below ``count`` (Black and
    Rogaway, "Ciphers with arbitrary finite domains", 2002). One to four steps on average.
    """

    def __init__(self, key: str, count: int) -> None:
        self._count = count
        self._half_bits = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
        self._mask = (1 << self._half_bits) - 1
        self._keys = [hashlib.sha256(f"{key}/{number}".encode()) for number in range(_ROUNDS)]

    def get_position(self, number: int) -> int:
        """The position of ``number``: below ``count``, and unique."""
        while True:
            number = self._permute_once(number)
            if number < self._count:
                return number

    def _permute_once(self, number: int) -> int:
        left, right = number >> self._half_bits, number & self._mask
        for key in self._keys:
            mixed = key.copy()
            mixed.update(right.to_bytes(8, "big"))
            left, right = right, left ^ (int.from_bytes(mixed.digest()[:8], "big") & self._mask)
        return (left << self._half_bits) | right
