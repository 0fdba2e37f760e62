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
from datasets_app.domain.pii.names.name_spans import is_plain_word, starts_sentence
from datasets_app.domain.pii.names.name_words import (
    LABELS,
    NAME_COLUMNS,
    compute_word_starts,
    select_words,
    split_pieces,
)
from datasets_app.domain.pii.names.things import is_software
from datasets_app.domain.pii.network.runtime import CLASSES, Reading, load_network

WEIGHTS_PATH = Path(__file__).parent / "joined.npz"
# A text in which neither finds a name this likely has none.
MIN_LIKELY = 0.02
_NAME = CLASSES.index("NAME")
_LEAST = 1e-4  # a probability lower than this is as good as none
_REACH = 2  # words on each side that count
_CLASSES_BESIDE = ("ORDINARY", "NAME", "HANDLE", "ORGANIZATION", "PLACE", "PRODUCT")
_TAGS = len(LABELS)
_LIKELY = _TAGS + len(CLASSES)
_HIGHEST = [*NAME_COLUMNS, _TAGS + _NAME]  # of a text
# Of the words beside one: what the model says, these classes of the network, and whether they are software.
_BESIDE = [*range(_TAGS), *(_TAGS + CLASSES.index(name) for name in _CLASSES_BESIDE), _LIKELY]
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


def join_scores(tagged: Sequence[TaggedText], read: Mapping[str, Reading]) -> list[list[float]]:
    """The probability of each word of each text to be part of a name; no words of a text that has none.
    ``read`` is what the network has read; what is missing there, it reads now."""
    wanted = [item for item in tagged if item.likely >= MIN_LIKELY or _is_likely(read.get(item.text))]
    missing = [item.text for item in wanted if not _is_judged(read.get(item.text))]
    readings = {**read, **dict(zip(missing, load_network().read_many(missing), strict=True))}
    features = [describe_words(item, readings[item.text]) for item in wanted]
    joined = dict(zip((item.text for item in wanted), _compute(features), strict=True))
    return [joined.get(item.text, []) for item in tagged]


def _is_likely(reading: Reading | None) -> bool:
    return reading is not None and float(reading.probabilities[:, _NAME].max(initial=0)) >= MIN_LIKELY


def _is_judged(reading: Reading | None) -> bool:
    return reading is not None and len(reading.probabilities) > 0


def _compute(features: Sequence[Any]) -> Iterator[list[float]]:
    if not features:
        return
    layer = load_weights()
    seen = (np.concatenate(features) - layer.mean) / layer.spread
    hidden = np.maximum(seen @ layer.hidden + layer.hidden_bias, 0)
    scores = (1 + np.tanh((hidden @ layer.out + layer.out_bias) / 2)) / 2  # the logistic function
    for part in np.split(scores[:, 0], np.cumsum([len(some) for some in features])[:-1]):
        yield part.tolist()


def describe_words(tagged: TaggedText, reading: Reading) -> Any:
    """The features of each word [words, features]."""
    pieces = split_pieces(tagged.text)
    words, starts = select_words(pieces), compute_word_starts(pieces)
    likely = np.concatenate([tagged.scores, _align(words, starts, reading)], axis=1)
    likely = np.log(np.maximum(likely, _LEAST))
    seen = np.concatenate([likely, _describe_forms(tagged.text, words, starts)], axis=1)
    padded = np.pad(seen[:, _BESIDE], ((_REACH, _REACH), (0, 0)))
    steps = [step for step in range(-_REACH, _REACH + 1) if step]
    beside = [padded[_REACH + step : _REACH + step + len(words)] for step in steps]
    highest = likely[:, _HIGHEST].max(axis=0, initial=np.log(_LEAST))
    whole = np.broadcast_to(highest, (len(words), len(highest)))
    return np.concatenate([seen, *beside, whole], axis=1, dtype=np.float32)


def _align(words: Sequence[str], starts: Sequence[int], reading: Reading) -> Any:
    """What the network says of words [words, classes]; of the parts of one, it is the likeliest name."""
    result = np.zeros((len(words), len(CLASSES)), np.float32)
    result[:, 0] = 1
    read = reading.words
    if not read:
        return result
    first = np.searchsorted([word.end for word in read], starts, side="right")
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    last = np.searchsorted([word.start for word in read], ends, side="left")
    for number, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if low < high:
            best = low + int(reading.probabilities[low:high, _NAME].argmax())
            result[number] = reading.probabilities[best]
    return result


def _describe_forms(text: str, words: Sequence[str], starts: Sequence[int]) -> Any:
    """What lists know of each word, and how it and its text are written [words, 16]."""
    known, products = [_describe_form(word) for word in words], _find_software(words)
    of_text = (
        any(word[0].isupper() and len(word) > 1 for word in words[1:]),
        not any(word.islower() for word in words),
        len(words) <= _FEW_WORDS,
        min(
            sum(number in products and not any(form[:6]) for number, form in enumerate(known)), _MANY_PRODUCTS
        ),
    )
    forms = [
        (
            number in products,
            *form,
            starts_sentence(words, number),
            _is_in_code(text, start, start + len(word)),
            *of_text,
        )
        for number, (form, word, start) in enumerate(zip(known, words, starts, strict=True))
    ]
    return np.array(forms, np.float32).reshape(len(words), -1)


def _find_software(words: Sequence[str]) -> set[int]:
    """The words that are software, alone or with the next one."""
    found = {number for number, word in enumerate(words) if is_software(word)}
    for number, pair in enumerate(pairwise(words)):
        if pair[0][0].isupper() and pair[1][0].isalnum() and is_software(" ".join(pair)):
            found |= {number, number + 1}
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
        is_plain_word(word),
    )
