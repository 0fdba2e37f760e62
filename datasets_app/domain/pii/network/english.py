"""Names in English texts, of which a second network knows more: what both think of a word, joined."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.names.name_network import ScoredWords, load_english_tagger
from datasets_app.domain.pii.network.runtime import CLASSES, Reading, load_network

# The log-odds of a name in English: a constant, and the shares of the English network and of ours.
_CONSTANT, _ENGLISH_WEIGHT, _NETWORK_WEIGHT = 0.6, 0.55, 0.45
# Below this likelihood of a text to be English, the English network isn't asked.
_MIN_ENGLISH = 0.1
# So few words of plain letters are English with this likelihood where none of them tells the language, or
# English is possible at all.
_MAX_UNCERTAIN_WORDS, _UNCERTAIN_ENGLISH, _MIN_IF_UNCERTAIN = 3, 0.2, 0.85
# Where neither network finds a word more likely a name than this, no name can be.
_MIN_PROBABILITY = 0.02
_EPSILON = 1e-6
_NAME = CLASSES.index(NAME)


def join_english(readings: Sequence[Reading]) -> list[Reading]:
    """The readings with the probabilities of names that both networks give together, the more English a text
    is. English texts of nothing but frequent words are read here if one of them may be a name."""
    joined = list(readings)
    likely = [number for number, reading in enumerate(joined) if _weigh_english(reading) >= _MIN_ENGLISH]
    scored = dict(
        zip(likely, load_english_tagger().score_many([joined[number].text for number in likely]), strict=True)
    )
    skipped = [
        number
        for number, words in scored.items()
        if not len(joined[number].probabilities) and max(words.scores, default=0) >= _MIN_PROBABILITY
    ]
    read = load_network().read_many([joined[number].text for number in skipped])
    for number, reading in zip(skipped, read, strict=True):
        joined[number] = reading
    for number, words in scored.items():
        _join(joined[number], words)
    return joined


def _weigh_english(reading: Reading) -> float:
    """How likely a text is English; a few words that tell no language may be: "rajesh kumar"."""
    is_uncertain = not reading.is_told or reading.english > _UNCERTAIN_ENGLISH
    if is_uncertain and reading.text.isascii() and _has_few_words(reading):
        return max(reading.english, _MIN_IF_UNCERTAIN)
    return reading.english


def _has_few_words(reading: Reading) -> bool:
    return sum(word.text[0].isalpha() for word in reading.words) <= _MAX_UNCERTAIN_WORDS


def _join(reading: Reading, words: ScoredWords) -> None:
    names = reading.probabilities[:, _NAME]
    if max(max(words.scores, default=0), names.max(initial=0)) < _MIN_PROBABILITY or not len(names):
        return
    ours, english = _compute_odds(names), _compute_odds(_align(reading, words))
    change = _CONSTANT + _ENGLISH_WEIGHT * english + (_NETWORK_WEIGHT - 1) * ours
    names[:] = 1 / (1 + np.exp(-(ours + _weigh_english(reading) * change)))


def _align(reading: Reading, scored: ScoredWords) -> Any:
    """The scores of the English network's words by those of ours; of several, the highest."""
    result = np.zeros(len(reading.probabilities), np.float32)
    first = 0
    for number, word in enumerate(reading.words):
        while first < len(scored.ends) and scored.ends[first] <= word.start:
            first += 1
        at = first
        while at < len(scored.starts) and scored.starts[at] < word.end:
            result[number] = max(result[number], scored.scores[at])
            at += 1
    return result


def _compute_odds(probabilities: Any) -> Any:
    likely = np.clip(probabilities, _EPSILON, 1 - _EPSILON)
    return np.log(likely / (1 - likely))
