"""Computes the network by numpy: the language of each text, and for each word the probability of each class.

Layers: the rows of a table that a word's features name, summed, and its vector; a dense layer that also sees
the mean of the text; five convolutions over three words, the middle ones with gaps between them, so that a
word is judged by some nine words on each side. The language is told by the mean alone. Texts share one
matrix; at the ends of each stand empty rows, as in training.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.pii.network.features import EXACT, VECTOR, FeatureReader
from datasets_app.domain.pii.network.learned import NAMES
from datasets_app.domain.pii.network.vectors import load_vectors
from datasets_app.domain.pii.network.words import (
    Word,
    has_lone_characters,
    list_gaps,
    list_words,
    split_words,
)

WEIGHTS_PATH = Path(__file__).parent / "weights.npz"
CLASSES = (
    "ORDINARY",
    "NAME",
    "HANDLE",
    "PHONE",
    "ADDRESS",
    "DATE_OF_BIRTH",
    "ID_NUMBER",
    "ACCOUNT",
    "ORGANIZATION",
    "PLACE",
    "PRODUCT",
)
LANGUAGES = tuple(NAMES)
_BATCH_WORDS, _BATCH_CHARACTERS = 4096, 20_000
_WORDS_AT_ONCE = 768  # of matrices that stay in the cache of the processor
# Words of a text that are judged at once; what the convolutions see beside them is read as well.
_PART_WORDS = 2048
_MAX_CACHED = 60_000
_EPSILON = 1e-6


class Weights(NamedTuple):
    """``table`` [rows, width] of bytes with ``scale`` [rows]; dense layers [in, out]."""

    table: Any
    scale: Any
    layers: dict[str, Any]
    dilations: tuple[int, ...]


class Reading(NamedTuple):
    """What the network makes of a text of ``size`` words. ``languages`` [languages] are a guess if no word
    tells the language (``is_told``); ``is_plain`` says that all are frequent ordinary words, signs and short
    numbers. ``probabilities`` [words, classes] are there only where they were wanted."""

    text: str
    languages: Any
    is_told: bool
    is_plain: bool
    size: int
    probabilities: Any = np.zeros((0, len(CLASSES)), np.float32)

    @property
    def words(self) -> list[Word]:
        """Those that have probabilities."""
        return split_words(self.text) if len(self.probabilities) else []

    @property
    def likeliest_name(self) -> float:
        """The highest probability that a word is part of a name."""
        return float(self.probabilities[:, _NAME].max(initial=0))

    @property
    def language(self) -> str:
        return LANGUAGES[int(self.languages.argmax())]

    @property
    def english(self) -> float:
        """How likely the text is English."""
        return float(self.languages[_ENGLISH])


_ENGLISH, _NAME = LANGUAGES.index("en"), CLASSES.index("NAME")
IsWanted = Callable[[Reading], bool]


def read_weights(path: Path = WEIGHTS_PATH) -> Weights:
    with np.load(path) as file:
        layers = {
            name: file[name].astype(np.float32)
            for name in file.files
            if name not in ("table", "scale", "dilations", "languages")
        }
        if tuple(file["languages"].tolist()) != LANGUAGES:
            raise ValueError(f"{path}: trained for other languages: train again (docs/network.md)")
        return Weights(
            file["table"], file["scale"].astype(np.float32), layers, tuple(file["dilations"].tolist())
        )


class Network:
    """The network with a cache of the words it met."""

    def __init__(self, weights: Weights) -> None:
        self._layers, self._dilations = weights.layers, weights.dilations
        self._embedding = _Embedding(weights)
        self._reach = sum(weights.dilations)

    def read_many(self, texts: Sequence[str], is_wanted: IsWanted = lambda reading: True) -> list[Reading]:
        """What the network makes of each text; of those that aren't wanted only the language."""
        readings: list[Reading] = []
        for batch in _list_batches(texts):
            readings += self._read_batch(batch, is_wanted)
        return readings

    def _read_batch(self, texts: Sequence[str], is_wanted: IsWanted) -> list[Reading]:
        self._embedding.forget()
        placed = [self._embedding.place(text) for text in texts]
        sums = self._embedding.sum_languages([place.words for place in placed])
        languages = _soften(sums + self._layers["language_bias"])
        readings = [
            Reading(text, spoken, place.is_told, place.is_plain, len(place.words))
            for text, spoken, place in zip(texts, languages, placed, strict=True)
        ]
        wanted = [n for n, reading in enumerate(readings) if reading.size and is_wanted(reading)]
        judged = self._judge(
            [
                (self._embedding.get_words(placed[number].words), np.array(list_gaps(texts[number])))
                for number in wanted
            ]
        )
        for number, probabilities in zip(wanted, judged, strict=True):
            readings[number] = readings[number]._replace(probabilities=probabilities)
        return readings

    def _judge(self, texts: list[tuple[Any, Any]]) -> list[Any]:
        """The probabilities of the words of each text: words as they are seen, and the gaps before them."""
        results = [np.zeros((len(seen), len(CLASSES)), np.float32) for seen, _gaps in texts]
        means = [seen.mean(axis=0) for seen, _gaps in texts]
        parts = [
            (number, *part) for number, (seen, _) in enumerate(texts) for part in self._list_parts(len(seen))
        ]
        start = 0
        while start < len(parts):
            end, size = start, 0
            while end < len(parts) and size < _WORDS_AT_ONCE:
                size += parts[end][4] - parts[end][3]
                end += 1
            some = parts[start:end]
            judged = self._compute(
                [texts[number][0][low:high] for number, _, _, low, high in some],
                [texts[number][1][low:high] for number, _, _, low, high in some],
                [means[number] for number, *_ in some],
            )
            place = 0
            for number, first, last, low, high in some:
                results[number][first:last] = judged[place + first - low : place + last - low]
                place += high - low
            start = end
        return results

    def _list_parts(self, count: int) -> Iterator[tuple[int, int, int, int]]:
        """Parts of a text: first and last word, and those that must be read with them."""
        for first in range(0, count, _PART_WORDS):
            last = min(first + _PART_WORDS, count)
            yield first, last, max(0, first - self._reach), min(count, last + self._reach)

    def _compute(self, seen: list[Any], gaps: list[Any], means: list[Any]) -> Any:
        layers, sizes = self._layers, [len(part) for part in seen]
        hidden = np.concatenate(seen) @ layers["in"]
        hidden += (layers["gap"] + layers["in_bias"])[np.concatenate(gaps)]
        hidden += np.repeat(np.stack(means) @ layers["text"], sizes, axis=0)
        _normalize(np.maximum(hidden, 0, out=hidden))
        # The last row stands for all beyond the ends of a text.
        hidden = np.concatenate([hidden, np.zeros_like(hidden[:1])])
        words, beside = hidden[:-1], _list_neighbors(sizes, self._dilations)
        window = np.empty((len(words), 3, hidden.shape[1]), np.float32)
        change = np.empty_like(words)
        for number, step in enumerate(self._dilations):
            np.take(hidden, beside[step], axis=0, out=window, mode="clip")
            np.matmul(window.reshape(len(words), -1), layers[f"conv{number}"], out=change)
            change += layers[f"conv{number}_bias"]
            words += np.maximum(change, 0, out=change)
            _normalize(words)
        return _soften(words @ layers["out"] + layers["out_bias"])


def _list_neighbors(sizes: Sequence[int], distances: Iterable[int]) -> dict[int, Any]:
    """By distance, the word before each word of these texts, itself and the word behind it [words, 3]; beyond
    the ends of its text, the number of words."""
    ends = np.cumsum(sizes)
    first, end, here = np.repeat(ends - sizes, sizes), np.repeat(ends, sizes), np.arange(ends[-1])
    return {
        distance: np.stack(
            [
                np.where(here - distance >= first, here - distance, len(here)),
                here,
                np.where(here + distance < end, here + distance, len(here)),
            ],
            axis=1,
        )
        for distance in set(distances)
    }


class _Placed(NamedTuple):
    """Where the words of a text are; see :class:`Reading`."""

    words: list[int]
    is_told: bool
    is_plain: bool


class _Embedding:
    """Words → [words, 2 × width + vector] and what each says of the language; those met are kept."""

    def __init__(self, weights: Weights) -> None:
        self._table, self._scale = weights.table, weights.scale
        self._vectors = load_vectors()
        self._language = weights.layers["language"]
        self._reader = FeatureReader(most=4 * _MAX_CACHED)
        self._rows: dict[Any, int] = {}
        self._telling: set[str] = set()
        self._unusual: set[str] = set()
        self._seen = np.zeros((1024, self._language.shape[0]), dtype=np.float32)
        self._spoken = np.zeros((1024, self._language.shape[1]), dtype=np.float32)

    def forget(self) -> None:
        """Make room, if there are too many; the places of words are others then."""
        if len(self._rows) > _MAX_CACHED:
            self._rows.clear()
            self._telling.clear()
            self._unusual.clear()

    def place(self, text: str) -> _Placed:
        """Look up the words of ``text``."""
        if has_lone_characters(text):
            features, _gaps = self._reader.read(text, split_words(text))
            new = [row for row in dict.fromkeys(features) if row not in self._rows]
            self._add(new, new)
            return _Placed([self._rows[row] for row in features], is_told=True, is_plain=False)
        words = list_words(text)
        new_words = [word for word in dict.fromkeys(words) if word not in self._rows]
        if new_words:
            self._add(new_words, self._reader.read_words(new_words))
            self._telling.update(filter(self._reader.tells_language, new_words))
            self._unusual.update(word for word in new_words if not self._reader.is_plain(word))
        return _Placed(
            list(map(self._rows.__getitem__, words)),
            is_told=not self._telling.isdisjoint(words),
            is_plain=self._unusual.isdisjoint(words),
        )

    def sum_languages(self, texts: Sequence[list[int]]) -> Any:
        """What the words of each text say of its language [texts, languages], as their mean."""
        sizes = np.array([len(places) for places in texts])
        sums = np.zeros((len(texts), self._spoken.shape[1]), np.float32)
        full = sizes > 0
        if full.any():
            every = np.fromiter(chain.from_iterable(texts), np.int64, int(sizes.sum()))
            starts = np.cumsum(sizes)[full] - sizes[full]
            sums[full] = np.add.reduceat(self._spoken[every], starts) / sizes[full, None]
        return sums

    def get_words(self, places: list[int]) -> Any:
        """Words as the network sees them."""
        return self._seen[places]

    def _add(self, keys: Sequence[Any], features: Sequence[tuple[int, ...]]) -> None:
        first = len(self._rows)
        while first + len(keys) > len(self._seen):
            self._seen = np.concatenate([self._seen, np.zeros_like(self._seen)])
            self._spoken = np.concatenate([self._spoken, np.zeros_like(self._spoken)])
        for start in range(0, len(keys), _BATCH_WORDS):
            some = features[start : start + _BATCH_WORDS]
            rows = slice(first + start, first + start + len(some))
            self._seen[rows] = self._sum_rows(np.array(some, dtype=np.int32))
            self._spoken[rows] = self._seen[rows] @ self._language
        self._rows.update(zip(keys, range(first, first + len(keys)), strict=True))

    def _sum_rows(self, numbers: Any) -> Any:
        features = numbers[:, :VECTOR]
        rows = self._table[features].astype(np.float32)
        rows *= (self._scale[features] * (features > 0))[..., None]
        grams = np.maximum((features[:, EXACT:] > 0).sum(axis=1), 1)[:, None]
        sums = [rows[:, :EXACT].sum(axis=1), rows[:, EXACT:].sum(axis=1) / grams]
        return np.concatenate([*sums, self._vectors.read(numbers[:, VECTOR])], axis=1)


@cache
def load_network() -> Network:
    return Network(read_weights())


def _list_batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _BATCH_CHARACTERS:
            yield texts[start : number + 1]
            start, size = number + 1, 0
    if start < len(texts):
        yield texts[start:]


def _normalize(hidden: Any) -> None:
    spread = np.einsum("ij,ij->i", hidden, hidden) / hidden.shape[1] + _EPSILON
    hidden *= np.divide(1, np.sqrt(spread, out=spread), out=spread)[:, None]


def _soften(logits: Any) -> Any:
    """Softmax over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
