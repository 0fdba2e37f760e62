"""Sessions that say nearly the same: found by MinHash, confirmed by comparing what they say.

How alike two sessions are is the Jaccard similarity of their shingles (A. Broder, "On the resemblance and
containment of documents", 1997): of the pairs of neighboring words in either, the share that is in both.
Signatures cut into bands propose pairs (P. Indyk and R. Motwani, "Approximate nearest neighbors", 1998); what
is reported has been compared shingle by shingle, so nobody is taken for a twin by chance.
"""

import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.splits.signatures import (
    SKETCH_BYTES,
    SignBatches,
    SignedBatch,
    Signer,
    Texts,
    batch_sessions,
)
from datasets_app.domain.splits.splits import DEFAULT_SIMILARITY

# Sketches tell how alike two sessions are, give or take 0.045 (one standard deviation at most): pairs
# three of them below the threshold need no comparison.
_SKETCH_TOLERANCE = 0.13
# In a bucket of more sessions than this not every pair is compared: their number grows with its square. Nor
# are two that both have so many partners already.
_MAX_FULL_BUCKET, _MAX_NEIGHBORS = 40, 8
_BATCH_PAIRS = 1 << 16
_PROGRESS_INTERVAL = 2_000


class Pair(NamedTuple):
    """Two sessions, by their numbers, the smaller first."""

    first: int
    second: int
    similarity: float


class NearDuplicateFinder:
    """Add sessions, then ask for the pairs that are alike. Used as a context: shingles wait in a temporary
    file, in memory are only their places and the hashes of the bands (some 600 bytes a session)."""

    def __init__(self, similarity: float = DEFAULT_SIMILARITY) -> None:
        self.similarity = similarity
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

    def add(self, sessions: Iterable[Texts], sign_batches: SignBatches | None = None) -> None:
        """Sessions by their texts; the first of all has number 0. ``sign_batches`` may sign them in other
        processes, in their order."""
        sign_batches = sign_batches or (lambda batches: map(Signer(self.similarity).sign, batches))
        for batch in sign_batches(batch_sessions(sessions)):
            self._add_batch(batch)

    def find_pairs(
        self, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> Iterator[Pair]:
        """Yield the pairs that reach the similarity threshold. Identical sessions are each paired with the
        first of them, which represents them all. Call once."""
        yield from self._exact_pairs
        first, second = self._find_candidates()
        on_progress(0, max(1, len(first)))
        partners = array("l", bytes(array("l").itemsize * len(self._sizes)))
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

    def _add_batch(self, batch: SignedBatch) -> None:
        written = self._file.tell()
        self._file.write(batch.shingles)
        self._offsets.extend(written + 8 * before for before in accumulate(batch.sizes[:-1], initial=0))
        kept, row = [], 0
        for size, digest in zip(batch.sizes, batch.digests, strict=True):
            number = len(self._sizes)
            self._sizes.append(size)
            if not size:
                continue
            standing = self._first_by_digest.setdefault(digest, number)
            if standing != number:
                self._exact_pairs.append(Pair(standing, number, 1.0))
            else:
                self._members.append(number)
                self._digests.append(int.from_bytes(digest[:8], "little"))
                kept.append(row)
            row += 1
        self._band_hashes.append(batch.bands[kept])
        self._sketches.append(batch.sketches[kept])

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
        if not self._members:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        # In the order of what they say, so that nothing depends on the order they came in.
        order = np.argsort(np.frombuffer(self._digests, np.uint64), kind="stable")
        sketches = np.concatenate(self._sketches)[order]
        members = np.frombuffer(self._members, np.int64)[order]
        sizes = np.frombuffer(self._sizes, np.int64)[members]
        found = np.empty(0, np.uint64)
        for band in range(self._band_hashes[0].shape[1]):
            column = np.concatenate([hashes[:, band] for hashes in self._band_hashes])[order]
            pairs = _pair_equal_values(column, sketches[:, band % SKETCH_BYTES])
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
