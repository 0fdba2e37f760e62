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

from datasets_app.domain.splits.splits import DEFAULT_SIMILARITY

# Of a signature's hashes as many rows make a band as still find, of pairs just as alike as was asked
# for, 995 of 1000.
_SIGNATURE_HASHES, _MIN_RECALL, _SEED = 256, 0.995, 42
# The last byte of so many hashes tells how alike two sessions are, give or take 0.045 (one standard
# deviation at most): pairs three of them below the threshold need no comparison.
_SKETCH_BYTES, _SKETCH_TOLERANCE = 128, 0.13
_BATCH_SESSIONS, _BATCH_WORDS = 512, 1 << 20
# In a bucket of more sessions than this not every pair is compared: their number grows with its square. Nor
# are two that both have so many partners already.
_MAX_FULL_BUCKET, _MAX_NEIGHBORS = 40, 8
_BATCH_PAIRS = 1 << 16
_MAX_CACHED_WORDS = 1 << 20
_PROGRESS_INTERVAL = 2_000

# [NAME], [EMAIL_2]: what a scrub leaves is no word of anybody.
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z0-9_]*\]")
_DIGITS = re.compile(r"\d+")
# Thai, Lao, Burmese, Khmer, kana and Han have no space between words: there a word is a character.
_UNSPACED_SCRIPTS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED_SCRIPTS}]|[^\W_{_UNSPACED_SCRIPTS}]+")


class Pair(NamedTuple):
    """Two sessions, by their numbers, the smaller first."""

    first: int
    second: int
    similarity: float


def split_words(texts: Sequence[str]) -> list[str]:
    """The words of a session, with what differs between copies of one conversation folded: letter case,
    punctuation, numbers, placeholders. A session without any (emoji only) is taken as it stands."""
    found: list[str] = []
    for text in texts:
        if "[" in text:
            text = _PLACEHOLDER.sub(" ", text)
        found += _WORD.findall(_DIGITS.sub("0", text.casefold()))
    return found or list(chain.from_iterable(text.split() for text in texts))


def choose_bands(similarity: float) -> tuple[int, int]:
    """(bands, rows of each): as many rows, and so as few false candidates, as pairs are still found with."""
    for rows in range(_SIGNATURE_HASHES, 1, -1):
        bands = _SIGNATURE_HASHES // rows
        if 1 - (1 - similarity**rows) ** bands >= _MIN_RECALL:
            return bands, rows
    return _SIGNATURE_HASHES // 2, 2


class NearDuplicateFinder:
    """Add sessions, then ask for the pairs that are alike. Used as a context: shingles wait in a temporary
    file, in memory are only their places and the hashes of the bands (some 600 bytes a session)."""

    def __init__(self, similarity: float = DEFAULT_SIMILARITY) -> None:
        self.similarity = similarity
        self._bands, self._rows = choose_bands(similarity)
        self._count = 0
        self._pending: list[list[str]] = []
        self._pending_words = 0
        self._hasher = _ShingleHasher()
        self._file = tempfile.TemporaryFile(prefix="alignmenter-shingles-")  # noqa: SIM115
        self._offsets, self._sizes = array("q"), array("q")
        # Of those that say the very same, only the first is looked at further.
        self._first_by_digest: dict[bytes, int] = {}
        self._members, self._digests = array("q"), array("Q")
        self._exact_pairs: list[Pair] = []
        self._band_hashes: list[Any] = []
        self._sketches: list[Any] = []

    def __enter__(self) -> "NearDuplicateFinder":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, texts: Sequence[str]) -> None:
        """The next session; the first has number 0."""
        self._pending.append(split_words(texts))
        self._pending_words += len(self._pending[-1])
        if len(self._pending) >= _BATCH_SESSIONS or self._pending_words >= _BATCH_WORDS:
            self._flush()

    def find_pairs(
        self, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> Iterator[Pair]:
        """Yield the pairs that reach the similarity threshold. Identical sessions are each paired with the
        first of them, which represents them all. Call once."""
        self._flush()
        yield from self._exact_pairs
        first, second = self._find_candidates()
        on_progress(0, max(1, len(first)))
        partners = array("l", bytes(array("l").itemsize * self._count))
        for position in range(len(first)):
            if position % _PROGRESS_INTERVAL == 0:
                on_progress(position, len(first))
            one, other = self._members[first[position]], self._members[second[position]]
            if min(partners[one], partners[other]) >= _MAX_NEIGHBORS:
                continue
            alike = self._compute_similarity(one, other)
            if alike >= self.similarity:
                partners[one] += 1
                partners[other] += 1
                yield Pair(min(one, other), max(one, other), alike)

    # --- what is kept of a session ---------------------------------------------------------------

    def _flush(self) -> None:
        kept = []
        for shingles in self._hasher.hash_shingles(self._pending):
            number, self._count = self._count, self._count + 1
            self._sizes.append(len(shingles))
            self._offsets.append(self._file.tell())
            if not len(shingles):
                continue
            raw = shingles.tobytes()
            digest = hashlib.blake2b(raw, digest_size=16).digest()
            standing = self._first_by_digest.setdefault(digest, number)
            if standing != number:
                self._exact_pairs.append(Pair(standing, number, 1.0))
                continue
            self._file.write(raw)
            self._members.append(number)
            self._digests.append(int.from_bytes(digest[:8], "little"))
            kept.append(shingles)
        self._pending, self._pending_words = [], 0
        if kept:
            signatures = _compute_signatures(kept)
            self._band_hashes.append(_hash_bands(signatures, self._bands, self._rows))
            self._sketches.append(signatures[:, :_SKETCH_BYTES].astype(np.uint8))

    def _compute_similarity(self, one: int, other: int) -> float:
        both = np.sort(np.concatenate([self._read_shingles(one), self._read_shingles(other)]))
        shared = int(np.count_nonzero(both[1:] == both[:-1]))
        return shared / (len(both) - shared)

    def _read_shingles(self, number: int) -> Any:
        raw = os.pread(self._file.fileno(), 8 * self._sizes[number], self._offsets[number])
        return np.frombuffer(raw, np.uint64)

    # --- who may be alike ------------------------------------------------------------------------

    def _find_candidates(self) -> tuple[Any, Any]:
        """Indexes in ``_members`` of the pairs that share a band and seem to reach the threshold."""
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
            pairs = _pair_equal_values(column, sketches[:, band % _SKETCH_BYTES])
            found = np.union1d(found, self._filter_pairs(pairs, sizes, sketches))
        return order[found >> np.uint64(32)], order[found & np.uint64(0xFFFFFFFF)]

    def _filter_pairs(self, pairs: Any, sizes: Any, sketches: Any) -> Any:
        """Those of sizes that can be so alike, and of sketches that are not too far apart."""
        first, second = pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)
        smaller = np.minimum(sizes[first], sizes[second])
        pairs = pairs[smaller >= self.similarity * np.maximum(sizes[first], sizes[second])]
        kept = [np.empty(0, np.uint64)]
        for start in range(0, len(pairs), _BATCH_PAIRS):
            some = pairs[start : start + _BATCH_PAIRS]
            equal = sketches[some >> np.uint64(32)] == sketches[some & np.uint64(0xFFFFFFFF)]
            kept.append(some[equal.mean(axis=1) >= self.similarity - _SKETCH_TOLERANCE])
        return np.concatenate(kept)


def _pair_equal_values(column: Any, nearer: Any) -> Any:
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
    for distance in range(1, min(largest, _MAX_FULL_BUCKET)):
        near = (sizes > distance) & ((sizes <= _MAX_FULL_BUCKET) | (distance <= _MAX_NEIGHBORS))
        counts = sizes[near] - distance
        begins = np.repeat(starts[near], counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        one, other = order[begins + within], order[begins + within + distance]
        low, high = np.minimum(one, other), np.maximum(one, other)
        found.append(low.astype(np.uint64) << np.uint64(32) | high.astype(np.uint64))
    return np.concatenate(found)


def _compute_signatures(shingles: list[Any]) -> Any:
    """Sessions × hashes."""
    places = np.concatenate([[0], np.cumsum([len(found) for found in shingles])]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        np.concatenate(shingles), places, _SIGNATURE_HASHES, _SEED
    )
    return np.array(matrix.to_rows(), dtype=np.uint64)


def _hash_bands(signatures: Any, bands: int, rows: int) -> Any:
    """Sessions × bands: a number for the rows of each band. Two that share it are candidates."""
    banded = signatures[:, : bands * rows].reshape(-1, bands, rows)
    mixed = np.zeros(banded.shape[:2], np.uint64)
    for row in range(rows):
        mixed = (mixed ^ banded[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(32)).astype(np.uint32)


class _ShingleHasher:
    """Words and pairs of words as numbers: the same ones on every machine, in every run."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}

    def hash_shingles(self, sessions: list[list[str]]) -> Iterator[Any]:
        """Of each session the hashes of its pairs of neighbouring words, once each, in order; of a single
        word its own."""
        known = self._words
        if len(known) > _MAX_CACHED_WORDS:
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
