"""Tells whether a text was seen before, in constant memory."""

import hashlib

# Four megabytes: with a million texts, about one false positive in a thousand.
_BIT_COUNT = 1 << 25
_HASH_COUNT = 3


class BloomFilter:
    """A Bloom filter (Bloom, 1970): no false negatives, few false positives, the same on every machine."""

    def __init__(self) -> None:
        self._bits = bytearray(_BIT_COUNT // 8)

    def may_contain(self, text: str) -> bool:
        return all(self._bits[place >> 3] >> (place & 7) & 1 for place in _compute_positions(text))

    def add(self, text: str) -> None:
        for place in _compute_positions(text):
            self._bits[place >> 3] |= 1 << (place & 7)


def _compute_positions(text: str) -> list[int]:
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[8 * at : 8 * at + 8], "big") % _BIT_COUNT for at in range(_HASH_COUNT)]
