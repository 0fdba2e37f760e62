"""What is kept of a session to find others that say nearly the same: its shingles, and their signature.

All of it depends on the texts alone, so that batches can be signed in any process.
"""

import hashlib
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from rensa import RMinHash  # type: ignore[import-untyped]  # compiled, without types

# Of a signature's hashes as many rows make a band as still find, of pairs just as alike as was asked
# for, 995 of 1000.
_SIGNATURE_HASHES, _MIN_RECALL, _SEED = 256, 0.995, 42
SKETCH_BYTES = 128
_BATCH_SESSIONS, _BATCH_CHARACTERS = 512, 1 << 22
_MAX_CACHED_WORDS = 1 << 20

# [NAME], [EMAIL_2]: what a scrub leaves is no word of anybody.
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z0-9_]*\]")
_DIGITS = re.compile(r"\d+")
# Thai, Lao, Burmese, Khmer, kana and Han have no space between words: there a word is a character.
_UNSPACED_SCRIPTS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED_SCRIPTS}]|[^\W_{_UNSPACED_SCRIPTS}]+")
_OTHER_SIGNS = re.compile(rf"[^\w\x00-\x7f{_UNSPACED_SCRIPTS}]")
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
