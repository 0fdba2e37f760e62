"""Sessions that say nearly the same: found by MinHash, confirmed by comparing what they say.

How alike two sessions are is the Jaccard similarity of their shingles (A. Broder, "On the resemblance and
containment of documents", 1997): of the pairs of neighboring words in either, the share that is in both.
Signatures cut into bands propose pairs (P. Indyk and R. Motwani, "Approximate nearest neighbors", 1998); what
is reported has been compared shingle by shingle, so nobody is taken for a twin by chance.
"""

import hashlib
import os
import re
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from rensa import RMinHash  # type: ignore[import-untyped]  # compiled, without types

from datasets_app.domain import lazy_re
from datasets_app.domain.splits.splits import DEFAULT_SIMILARITY

# What is kept of a session to find others that say nearly the same: its shingles, and their signature.
#
# All of it depends on the texts alone, so that batches can be signed in any process.

# Of a signature's hashes as many rows make a band as still find, of pairs just as alike as was asked
# for, 995 of 1000.
_SIGNATURE_HASHES, _MIN_RECALL, _SEED = 256, 0.995, 42
SKETCH_BYTES = 128
_BATCH_SESSIONS, _BATCH_CHARACTERS = 512, 1 << 22
_MAX_CACHED_WORDS = 1 << 20

# [NAME], [EMAIL_2], padded [NAME:x]: what a scrub leaves isn't a word of anybody.
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z0-9_]*(?::x)*\]")
_DIGITS = re.compile(r"\d+")
# Thai, Lao, Burmese, Khmer, kana and Han have no space between words: there a word is a character.
_UNSPACED_SCRIPTS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = lazy_re.compile(rf"[{_UNSPACED_SCRIPTS}]|[^\W_{_UNSPACED_SCRIPTS}]+")
_OTHER_SIGNS = lazy_re.compile(rf"[^\w\x00-\x7f{_UNSPACED_SCRIPTS}]")
_ASCII_SIGNS = {code: "0" if chr(code).isdigit() else " " for code in range(128) if not chr(code).isalpha()}

Texts = Sequence[str]


class SignedBatch(NamedTuple):
    """Sessions in their order. ``sizes``: how many shingles each has; ``shingles``: those of one after the
    other, each sorted, eight bytes a shingle; ``digests``: 16 bytes of what a session says. For the
    sessions that say anything: ``bands``, sessions × bands, two that share one are candidates; and
    ``sketches``, sessions × bytes, of which the share of equal ones tells how alike two are."""

    sizes: list[int]
    shingles: bytes
    digests: list[bytes]
    bands: Any
    sketches: Any


SignBatches = Callable[[Iterable[list[Texts]]], Iterator[SignedBatch]]


def batch_sessions(sessions: Iterable[Texts]) -> Iterator[list[Texts]]:
    """The same sessions in lists that are worth a task and fit in memory."""
    batch: list[Texts] = []
    characters = 0
    for texts in sessions:
        batch.append(texts)
        characters += sum(map(len, texts))
        if len(batch) >= _BATCH_SESSIONS or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class Signer:
    """Signs batches for one threshold of similarity."""

    def __init__(self, similarity: float) -> None:
        self._bands, self._rows = choose_bands(similarity)
        self._hash_of_word = _WordHashes()

    def sign(self, sessions: Sequence[Texts]) -> SignedBatch:
        if len(self._hash_of_word) > _MAX_CACHED_WORDS:
            self._hash_of_word.clear()
        shingles, sizes = self._hash_shingles([split_words(texts) for texts in sessions])
        raw = shingles.tobytes()
        bounds = [0, *accumulate(8 * size for size in sizes)]
        signatures = _compute_signatures(shingles, [size for size in sizes if size])
        return SignedBatch(
            sizes,
            raw,
            [hashlib.blake2b(raw[start:end], digest_size=16).digest() for start, end in pairwise(bounds)],
            _hash_bands(signatures, self._bands, self._rows),
            signatures[:, :SKETCH_BYTES].astype(np.uint8),
        )

    def _hash_shingles(self, sessions: list[list[str]]) -> tuple[Any, list[int]]:
        """The hashes of the pairs of neighboring words, of one session after the other, once each, in order;
        of a single word its own: the same ones on every machine, in every run. And how many each has."""
        lengths = np.fromiter(map(len, sessions), np.int64, len(sessions))
        words = chain.from_iterable(sessions)
        numbers = np.fromiter(map(self._hash_of_word.__getitem__, words), np.uint64, int(lengths.sum()))
        pairs = (numbers * np.uint64(0xD6E8FEB86659FD93)) ^ (np.roll(numbers, -1) >> np.uint64(7))
        pairs = (pairs ^ (pairs >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        ends = np.cumsum(lengths)
        single = ends[lengths == 1] - 1
        pairs[single] = numbers[single]
        # With the last word of a session begins no pair.
        return _sort_and_drop_repeated(
            np.delete(pairs, ends[lengths > 1] - 1), np.where(lengths > 1, lengths - 1, lengths)
        )


class _WordHashes(dict[str, int]):
    """Of each word a number of 64 bits, the same on every machine."""

    def __missing__(self, word: str) -> int:
        digest = hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
        number = self[word] = int.from_bytes(digest, "little")
        return number


def _sort_and_drop_repeated(numbers: Any, lengths: Any) -> tuple[Any, list[int]]:
    """Rows of so many numbers: each sorted and without repetitions, and their new lengths."""
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    for start, end in pairwise(bounds.tolist()):
        numbers[start:end].sort()
    is_first = np.ones(len(numbers), bool)
    is_first[1:] = numbers[1:] != numbers[:-1]
    is_first[bounds[:-1][lengths > 0]] = True
    counts = np.concatenate([[0], np.cumsum(is_first)])
    return numbers[is_first], np.diff(counts[bounds]).tolist()


def split_words(texts: Texts) -> list[str]:
    """The words of a session, with what differs between copies of one conversation folded: letter case,
    punctuation, numbers, placeholders. A session without any (emoji only) is taken as it stands."""
    text = "\n".join(texts)
    if "[" in text:
        text = _PLACEHOLDER.sub(" ", text)
    text = text.casefold()
    if not text.isascii():
        text = _OTHER_SIGNS.sub(" ", text)
    words = _split_ascii(text) if text.isascii() else _WORD.findall(_DIGITS.sub("0", text))
    return words or list(chain.from_iterable(text.split() for text in texts))


def _split_ascii(text: str) -> list[str]:
    """What _WORD finds, in a tenth of the time."""
    text = text.translate(_ASCII_SIGNS)
    while "00" in text:
        text = text.replace("00", "0")
    return text.split()


def choose_bands(similarity: float) -> tuple[int, int]:
    """(bands, rows of each): as many rows, and so as few false candidates, as pairs are still found with."""
    for rows in range(_SIGNATURE_HASHES, 1, -1):
        bands = _SIGNATURE_HASHES // rows
        if 1 - (1 - similarity**rows) ** bands >= _MIN_RECALL:
            return bands, rows
    return _SIGNATURE_HASHES // 2, 2


def _compute_signatures(shingles: Any, sizes: list[int]) -> Any:
    """Sessions × hashes."""
    if not sizes:
        return np.empty((0, _SIGNATURE_HASHES), np.uint64)
    places = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(shingles, places, _SIGNATURE_HASHES, _SEED)
    hashes = array("I")
    for row in matrix.to_rows():
        hashes.fromlist(row)
    return np.frombuffer(hashes, np.uint32).astype(np.uint64).reshape(len(sizes), -1)


def _hash_bands(signatures: Any, bands: int, rows: int) -> Any:
    """Sessions × bands: a number for the rows of each band."""
    banded = signatures[:, : bands * rows].reshape(-1, bands, rows)
    mixed = np.zeros(banded.shape[:2], np.uint64)
    for row in range(rows):
        mixed = (mixed ^ banded[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(32)).astype(np.uint32)


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
