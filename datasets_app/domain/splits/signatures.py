"""What is kept of a session to find others that say nearly the same: its shingles, and their signature.

All of it depends on the texts alone, so that batches can be signed in any process.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
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
        self._hash_of_word: dict[str, int] = {}

    def sign(self, sessions: Sequence[Texts]) -> SignedBatch:
        if len(self._hash_of_word) > _MAX_CACHED_WORDS:
            self._hash_of_word.clear()
        shingles = [self._hash_shingles(split_words(texts)) for texts in sessions]
        raw = [found.tobytes() for found in shingles]
        signatures = _compute_signatures([found for found in shingles if len(found)])
        return SignedBatch(
            [len(found) for found in shingles],
            b"".join(raw),
            [hashlib.blake2b(each, digest_size=16).digest() for each in raw],
            _hash_bands(signatures, self._bands, self._rows),
            signatures[:, :SKETCH_BYTES].astype(np.uint8),
        )

    def _hash_shingles(self, words: list[str]) -> Any:
        """The hashes of a session's pairs of neighboring words, once each, in order; of a single word its
        own: the same ones on every machine, in every run."""
        known = self._hash_of_word
        for word in set(words).difference(known):
            digest = hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
            known[word] = int.from_bytes(digest, "little")
        numbers = np.fromiter(map(known.__getitem__, words), np.uint64, len(words))
        pairs = numbers
        if len(numbers) > 1:
            pairs = (numbers[:-1] * np.uint64(0xD6E8FEB86659FD93)) ^ (numbers[1:] >> np.uint64(7))
            pairs = (pairs ^ (pairs >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        return np.unique(pairs)


def split_words(texts: Texts) -> list[str]:
    """The words of a session, with what differs between copies of one conversation folded: letter case,
    punctuation, numbers, placeholders. A session without any (emoji only) is taken as it stands."""
    text = "\n".join(texts)
    if "[" in text:
        text = _PLACEHOLDER.sub(" ", text)
    return _WORD.findall(_DIGITS.sub("0", text.casefold())) or list(
        chain.from_iterable(text.split() for text in texts)
    )


def choose_bands(similarity: float) -> tuple[int, int]:
    """(bands, rows of each): as many rows, and so as few false candidates, as pairs are still found with."""
    for rows in range(_SIGNATURE_HASHES, 1, -1):
        bands = _SIGNATURE_HASHES // rows
        if 1 - (1 - similarity**rows) ** bands >= _MIN_RECALL:
            return bands, rows
    return _SIGNATURE_HASHES // 2, 2


def _compute_signatures(shingles: list[Any]) -> Any:
    """Sessions × hashes."""
    if not shingles:
        return np.empty((0, _SIGNATURE_HASHES), np.uint64)
    places = np.concatenate([[0], np.cumsum([len(found) for found in shingles])]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        np.concatenate(shingles), places, _SIGNATURE_HASHES, _SEED
    )
    return np.array(matrix.to_rows(), dtype=np.uint64)


def _hash_bands(signatures: Any, bands: int, rows: int) -> Any:
    """Sessions × bands: a number for the rows of each band."""
    banded = signatures[:, : bands * rows].reshape(-1, bands, rows)
    mixed = np.zeros(banded.shape[:2], np.uint64)
    for row in range(rows):
        mixed = (mixed ^ banded[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(32)).astype(np.uint32)
