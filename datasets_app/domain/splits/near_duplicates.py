"""Sessions that say nearly the same: found by MinHash, confirmed by comparing what they say.

How alike two sessions are is the Jaccard similarity of their shingles (A. Broder, "On the resemblance and
containment of documents", 1997): of the pairs of neighbouring words in either, the share that is in both.
Signatures cut into bands propose pairs (P. Indyk and R. Motwani, "Approximate nearest neighbors", 1998); what
is reported has been compared shingle by shingle, so nobody is taken for a twin by chance.
"""

import hashlib
import os
import re
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from rensa import RMinHash  # type: ignore[import-untyped]  # compiled, without types

# What this tells apart was measured: docs/splits.md. Less than the least would be found too seldom.
DEFAULT_SIMILARITY, LEAST_SIMILARITY = 0.65, 0.5
# Of a signature's hashes as many rows make a band as still find, of pairs just as alike as was asked
# for, 995 of 1000.
_HASHES, _FOUND, _SEED = 256, 0.995, 42
# The last byte of so many hashes tells how alike two sessions are, give or take 0.045 (one standard
# deviation at most): who is three of them below what was asked for need not be compared.
_SKETCH, _SLACK = 128, 0.13
_BATCH, _WORDS_IN_BATCH = 512, 1 << 20
# In a bucket of more sessions than this not every pair is compared: their number grows with its square. Nor
# are two that both have so many partners already.
_WHOLE_BUCKET, _NEIGHBOURS = 40, 8
_PAIRS_AT_ONCE = 1 << 16
_WORDS_KEPT = 1 << 20
_PROGRESS_EVERY = 2_000

# [NAME], [EMAIL_2]: what a scrub leaves is no word of anybody.
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z0-9_]*\]")
_DIGITS = re.compile(r"\d+")
# Thai, Lao, Burmese, Khmer, kana and Han have no space between words: there a word is a character.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


class Pair(NamedTuple):
    """Two sessions, by their numbers, the smaller first."""

    first: int
    second: int
    similarity: float


def words(texts: Sequence[str]) -> list[str]:
    """The words of a session, with what differs between copies of one conversation folded: letter case,
    punctuation, numbers, placeholders. A session without any (emoji only) is taken as it stands."""
    found: list[str] = []
    for text in texts:
        if "[" in text:
            text = _PLACEHOLDER.sub(" ", text)
        found += _WORD.findall(_DIGITS.sub("0", text.casefold()))
    return found or list(chain.from_iterable(text.split() for text in texts))


def bands_for(similarity: float) -> tuple[int, int]:
    """(bands, rows of each): as many rows, and so as few false candidates, as pairs are still found with."""
    for rows in range(_HASHES, 1, -1):
        bands = _HASHES // rows
        if 1 - (1 - similarity**rows) ** bands >= _FOUND:
            return bands, rows
    return _HASHES // 2, 2


class NearDuplicates:
    """Add sessions, then ask for the pairs that are alike. Used as a context: shingles wait in a temporary
    file, in memory are only their places and the hashes of the bands (some 600 bytes a session)."""

    def __init__(self, similarity: float = DEFAULT_SIMILARITY) -> None:
        self.similarity = similarity
        self._bands, self._rows = bands_for(similarity)
        self._count = 0
        self._waiting: list[list[str]] = []
        self._waiting_words = 0
        self._hashes = _Hashes()
        self._file = tempfile.TemporaryFile(prefix="alignmenter-shingles-")  # noqa: SIM115
        self._places, self._sizes = array("q"), array("q")
        # Of those that say the very same, only the first is looked at further.
        self._known: dict[bytes, int] = {}
        self._members, self._digests = array("q"), array("Q")
        self._same: list[Pair] = []
        self._band_hashes: list[Any] = []
        self._sketches: list[Any] = []

    def __enter__(self) -> "NearDuplicates":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, texts: Sequence[str]) -> None:
        """The next session; the first has number 0."""
        self._waiting.append(words(texts))
        self._waiting_words += len(self._waiting[-1])
        if len(self._waiting) >= _BATCH or self._waiting_words >= _WORDS_IN_BATCH:
            self._flush()

    def pairs(self, on_progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator[Pair]:
        """The pairs found that are at least as alike as was asked for; of sessions that say the very same,
        the others are paired with the first of them, and it stands for all. To be asked once."""
        self._flush()
        yield from self._same
        first, second = self._candidates()
        on_progress(0, max(1, len(first)))
        partners = array("l", bytes(array("l").itemsize * self._count))
        for position in range(len(first)):
            if position % _PROGRESS_EVERY == 0:
                on_progress(position, len(first))
            one, other = self._members[first[position]], self._members[second[position]]
            if min(partners[one], partners[other]) >= _NEIGHBOURS:
                continue
            alike = self._jaccard(one, other)
            if alike >= self.similarity:
                partners[one] += 1
                partners[other] += 1
                yield Pair(min(one, other), max(one, other), alike)

    # --- what is kept of a session ---------------------------------------------------------------

    def _flush(self) -> None:
        kept = []
        for shingles in self._hashes.shingles(self._waiting):
            number, self._count = self._count, self._count + 1
            self._sizes.append(len(shingles))
            self._places.append(self._file.tell())
            if not len(shingles):
                continue
            raw = shingles.tobytes()
            digest = hashlib.blake2b(raw, digest_size=16).digest()
            standing = self._known.setdefault(digest, number)
            if standing != number:
                self._same.append(Pair(standing, number, 1.0))
                continue
            self._file.write(raw)
            self._members.append(number)
            self._digests.append(int.from_bytes(digest[:8], "little"))
            kept.append(shingles)
        self._waiting, self._waiting_words = [], 0
        if kept:
            signatures = _signatures(kept)
            self._band_hashes.append(_band_hashes(signatures, self._bands, self._rows))
            self._sketches.append(signatures[:, :_SKETCH].astype(np.uint8))

    def _jaccard(self, one: int, other: int) -> float:
        both = np.sort(np.concatenate([self._shingles(one), self._shingles(other)]))
        shared = int(np.count_nonzero(both[1:] == both[:-1]))
        return shared / (len(both) - shared)

    def _shingles(self, number: int) -> Any:
        raw = os.pread(self._file.fileno(), 8 * self._sizes[number], self._places[number])
        return np.frombuffer(raw, np.uint64)

    # --- who may be alike ------------------------------------------------------------------------

    def _candidates(self) -> tuple[Any, Any]:
        """Places in ``_members`` of the pairs that share a band and look as alike as was asked for."""
        self._file.flush()
        if not self._band_hashes:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        # In the order of what they say, so that nothing depends on the order they came in.
        order = np.argsort(np.frombuffer(self._digests, np.uint64), kind="stable")
        sketches = np.concatenate(self._sketches)[order]
        members = np.frombuffer(self._members, np.int64)[order]
        sizes = np.frombuffer(self._sizes, np.int64)[members]
        found = np.empty(0, np.uint64)
        for band in range(self._bands):
            column = np.concatenate([hashes[:, band] for hashes in self._band_hashes])[order]
            pairs = _pairs_of_equals(column, sketches[:, band % _SKETCH])
            found = np.union1d(found, self._promising(pairs, sizes, sketches))
        return order[found >> np.uint64(32)], order[found & np.uint64(0xFFFFFFFF)]

    def _promising(self, pairs: Any, sizes: Any, sketches: Any) -> Any:
        """Those of sizes that can be so alike, and of sketches that are not too far apart."""
        first, second = pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)
        smaller = np.minimum(sizes[first], sizes[second])
        pairs = pairs[smaller >= self.similarity * np.maximum(sizes[first], sizes[second])]
        kept = [np.empty(0, np.uint64)]
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            equal = sketches[some >> np.uint64(32)] == sketches[some & np.uint64(0xFFFFFFFF)]
            kept.append(some[equal.mean(axis=1) >= self.similarity - _SLACK])
        return np.concatenate(kept)


def _pairs_of_equals(column: Any, nearer: Any) -> Any:
    """The pairs of places with equal values, each as one number: the smaller place in its upper half.

    Of very many with one value, those are paired that stand next to each other, ordered by ``nearer``: a
    value that copies are likely to share too."""
    order = np.lexsort((nearer, column))
    ends = np.flatnonzero(np.diff(column[order])) + 1
    starts = np.concatenate([[0], ends])
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    found = [np.empty(0, np.uint64)]
    largest = int(sizes.max(initial=0))
    # Each with the one at this distance behind it, in all buckets at once.
    for distance in range(1, min(largest, _WHOLE_BUCKET)):
        near = (sizes > distance) & ((sizes <= _WHOLE_BUCKET) | (distance <= _NEIGHBOURS))
        counts = sizes[near] - distance
        begins = np.repeat(starts[near], counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        one, other = order[begins + within], order[begins + within + distance]
        low, high = np.minimum(one, other), np.maximum(one, other)
        found.append(low.astype(np.uint64) << np.uint64(32) | high.astype(np.uint64))
    return np.concatenate(found)


def _signatures(shingles: list[Any]) -> Any:
    """Sessions × hashes."""
    places = np.concatenate([[0], np.cumsum([len(found) for found in shingles])]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(np.concatenate(shingles), places, _HASHES, _SEED)
    return np.array(matrix.to_rows(), dtype=np.uint64)


def _band_hashes(signatures: Any, bands: int, rows: int) -> Any:
    """Sessions × bands: a number for the rows of each band. Two that share it are candidates."""
    banded = signatures[:, : bands * rows].reshape(-1, bands, rows)
    mixed = np.zeros(banded.shape[:2], np.uint64)
    for row in range(rows):
        mixed = (mixed ^ banded[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(32)).astype(np.uint32)


class _Hashes:
    """Words and pairs of words as numbers: the same ones on every machine, in every run."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}

    def shingles(self, sessions: list[list[str]]) -> Iterator[Any]:
        """Of each session the hashes of its pairs of neighbouring words, once each, in order; of a single
        word its own."""
        known = self._words
        if len(known) > _WORDS_KEPT:
            known.clear()
        for session in sessions:
            for word in set(session).difference(known):
                digest = hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
                known[word] = int.from_bytes(digest, "little")
            numbers = np.fromiter(map(known.__getitem__, session), np.uint64, len(session))
            pairs = numbers
            if len(numbers) > 1:
                pairs = (numbers[:-1] * np.uint64(0xD6E8FEB86659FD93)) ^ (numbers[1:] >> np.uint64(7))
                pairs = (pairs ^ (pairs >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
            yield np.unique(pairs)
