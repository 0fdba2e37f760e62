"""Names in English texts: what the name model and the network of all languages say of each word, joined.

Each knows what the other doesn't: the name model was trained on English alone, the network tells people from
firms, places and products. A small layer over both, what lists know of the word, and how it is written, gives
the probability of a name. ``scripts/train_joined_names.py`` trains it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.name_spans import starts_sentence
from datasets_app.domain.pii.names.name_words import LABELS, NAME_COLUMNS, place_words, split_pieces
from datasets_app.domain.pii.names.things import is_software
from datasets_app.domain.pii.network.runtime import CLASSES, Reading, load_network

WEIGHTS_PATH = Path(__file__).parent / "joined.npz"
# A word that neither thinks this likely to be of a name is of none.
MIN_LIKELY = 0.02
# Nor is any word of a text in which the network thinks none this likely.
LEAST_OF_TEXT = 0.001
_NAME = CLASSES.index("NAME")
_LEAST = 1e-4  # a probability lower than this is as good as none
_REACH = 2  # words on each side that count
_CLASSES_BESIDE = ("ORDINARY", "NAME", "HANDLE", "ORGANIZATION", "PLACE", "PRODUCT")
_TAGS = len(LABELS)
_HIGHEST = [*NAME_COLUMNS, _TAGS + _NAME]  # of a text
# Of the words beside one: what the model says, these classes of the network, and whether they are software.
_SAID_BESIDE = [*range(_TAGS), *(_TAGS + CLASSES.index(name) for name in _CLASSES_BESIDE)]
_FORMS = 15  # what is said of a word and its text besides
_FEW_WORDS, _MANY_PRODUCTS = 4, 3
_DOTTED_BEFORE, _DOTTED_BEHIND = re.compile(r"\w\.\Z"), re.compile(r"\.[a-z_]")


class JoinedWeights(NamedTuple):
    """Features are shifted by ``mean`` and divided by ``spread``; dense layers [in, out] with their bias."""

    mean: Any
    spread: Any
    hidden: Any
    hidden_bias: Any
    out: Any
    out_bias: Any


@cache
def load_weights() -> JoinedWeights:
    with np.load(WEIGHTS_PATH) as file:
        return JoinedWeights(*(file[name].astype(np.float32) for name in JoinedWeights._fields))


class TaggedText(NamedTuple):
    """A text with the probabilities [words, labels] that the name model gives its words."""

    text: str
    scores: Any

    @property
    def likely(self) -> float:
        """The highest probability of a name."""
        return float(self.scores[:, NAME_COLUMNS].sum(axis=1).max(initial=0))


class DescribedText(NamedTuple):
    """The features [places, features] of those of the ``size`` words of a text that may be of a name."""

    size: int
    places: Any
    features: Any


def join_scores(tagged: Sequence[TaggedText], read: Mapping[str, Reading]) -> dict[str, list[float]]:
    """The probability of each word to be part of a name, for the texts that may have one. ``tagged`` are
    those of which :func:`may_name` says so; ``read`` is what the network makes of each, whose words it judges
    now if it hasn't."""
    wanted = [item for item in tagged if max(item.likely, read[item.text].likeliest_name) >= MIN_LIKELY]
    missing = [item.text for item in wanted if not len(read[item.text].probabilities)]
    readings = {**read, **dict(zip(missing, load_network().read_many(missing), strict=True))}
    described = [describe_words(item, readings[item.text]) for item in wanted]
    return dict(zip((item.text for item in wanted), _compute(described), strict=True))


def may_name(reading: Reading) -> bool:
    """Whether the name model is asked as well: not where the network is sure that the words name nobody, nor
    where all are too frequent to be judged and none is a frequent first name or unknown to the lists."""
    if len(reading.probabilities):
        return reading.likeliest_name >= LEAST_OF_TEXT
    return any(map(_may_be_of_name, split_pieces(reading.text)))


@lru_cache(maxsize=1 << 14)
def _may_be_of_name(piece: str) -> bool:
    fact = look_up_word(piece)
    return piece[0].isalpha() and (fact.common < 2 or fact.first == 2)


def _compute(described: Sequence[DescribedText]) -> Iterator[list[float]]:
    if not described:
        return
    layer = load_weights()
    seen = (np.concatenate([text.features for text in described]) - layer.mean) / layer.spread
    hidden = np.maximum(seen @ layer.hidden + layer.hidden_bias, 0)
    scores = (1 + np.tanh((hidden @ layer.out + layer.out_bias) / 2)) / 2  # the logistic function
    ends = np.cumsum([len(text.places) for text in described])[:-1]
    for text, part in zip(described, np.split(scores[:, 0], ends), strict=True):
        of_words = np.zeros(text.size, np.float32)
        of_words[text.places] = part
        yield of_words.tolist()


def describe_words(tagged: TaggedText, reading: Reading, least: float = MIN_LIKELY) -> DescribedText:
    """What is known of the words to which one of the two gives a probability of ``least`` to be of a name."""
    words, starts = place_words(tagged.text)
    likely = np.concatenate([tagged.scores, _align(words, starts, reading)], axis=1)
    said = np.maximum(likely[:, NAME_COLUMNS].sum(axis=1), likely[:, _TAGS + _NAME])
    places = np.flatnonzero(said >= least)
    likely = np.log(np.maximum(likely, _LEAST))
    software = _find_software(words)
    forms = _describe_forms(tagged.text, words, starts, places.tolist(), software)
    padded = np.zeros((len(words) + 2 * _REACH, len(_SAID_BESIDE) + 1), np.float32)
    padded[_REACH:-_REACH] = np.concatenate([likely[:, _SAID_BESIDE], software[:, None]], axis=1)
    beside = [padded[places + _REACH + step] for step in range(-_REACH, _REACH + 1) if step]
    highest = np.broadcast_to(
        likely[:, _HIGHEST].max(axis=0, initial=np.log(_LEAST)), (len(places), len(_HIGHEST))
    )
    features = np.concatenate([likely[places], forms, *beside, highest], axis=1, dtype=np.float32)
    return DescribedText(len(words), places, features)


def _align(words: Sequence[str], starts: Sequence[int], reading: Reading) -> Any:
    """What the network says of words [words, classes]; of the parts of one, it is the likeliest name."""
    result = np.zeros((len(words), len(CLASSES)), np.float32)
    result[:, 0] = 1
    read = reading.words
    names = reading.probabilities[:, _NAME]
    low = high = 0
    for number, (start, word) in enumerate(zip(starts, words, strict=True)):
        while low < len(read) and read[low].end <= start:
            low += 1
        high = max(low, high)
        while high < len(read) and read[high].start < start + len(word):
            high += 1
        if low < high:
            result[number] = reading.probabilities[low + int(names[low:high].argmax())]
    return result


def _describe_forms(
    text: str, words: Sequence[str], starts: Sequence[int], places: Sequence[int], software: Any
) -> Any:
    """What lists know of the words at these places, and how they and their text are written [places, 15]."""
    named = sum(not any(_describe_form(words[number])[:6]) for number in np.flatnonzero(software).tolist())
    of_text = (
        any(word[0].isupper() and len(word) > 1 for word in words[1:]),
        not any(word.islower() for word in words),
        len(words) <= _FEW_WORDS,
        min(named, _MANY_PRODUCTS),
    )
    forms = [
        (
            *_describe_form(words[number]),
            software[number],
            starts_sentence(words, number),
            _is_in_code(text, starts[number], starts[number] + len(words[number])),
            *of_text,
        )
        for number in places
    ]
    return np.array(forms, np.float32).reshape(len(places), _FORMS)


def _find_software(words: Sequence[str]) -> Any:
    """Which words are software, alone or with the next one [words]."""
    found = np.array([is_software(word) for word in words], bool)
    for number, (word, behind) in enumerate(pairwise(words)):
        if word[0].isupper() and behind[0].isalnum() and is_software(f"{word} {behind}"):
            found[number : number + 2] = True
    return found


def _is_in_code(text: str, start: int, end: int) -> bool:
    """Whether a word is joined to others as in code: robin_id, max=3, call(), max.poll."""
    if text[end : end + 1] in ("_", "=", "(") or text[max(0, start - 1) : start] in ("_", "="):
        return True
    return bool(_DOTTED_BEFORE.search(text, max(0, start - 2), start) or _DOTTED_BEHIND.match(text, end))


@lru_cache(maxsize=1 << 14)
def _describe_form(word: str) -> tuple[bool, ...]:
    fact = look_up_word(word)
    return (
        fact.first == 1,
        fact.first == 2,
        fact.last == 1,
        fact.last == 2,
        fact.common == 1,
        fact.common == 2,
        word[0].isupper(),
        len(word) > 1 and word.isupper(),
    )
