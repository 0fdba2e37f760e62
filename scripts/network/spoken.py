"""Which language a training row may teach: what somebody writes in German may be a line of code."""

from functools import cache
from typing import Any

from datasets_app.domain.pii.network.lexicon import fold_word
from datasets_app.domain.pii.network.runtime import CLASSES
from scripts.network.rows import Row, is_counted, is_latin

_ORDINARY = 1 << CLASSES.index("ORDINARY")
_FEWEST_ENGLISH = 2


def read_language(row: Row) -> str:
    """The language of the row, by its own words: none (empty) if most are likelier in English than in the
    author's language, and English if all are, unless another script is spelled in Latin letters."""
    own, english = _load(row.language), _load("en")
    if row.language == "en" or not own:
        return row.language
    counts = [0, 0]
    for word, allowed in zip(row.words, row.allowed, strict=True):
        if allowed & _ORDINARY and word.text[0].isalpha():
            plain = fold_word(word.text)
            counts[own.get(plain, 0) < english.get(plain, 0)] += 1
    if not counts[0]:
        return "en" if counts[1] >= _FEWEST_ENGLISH and is_latin(row.language) else ""
    return row.language if counts[0] >= counts[1] else ""


@cache
def _load(language: str) -> Any:
    """The frequencies of its words; empty if there are none."""
    from wordfreq import get_frequency_dict

    return get_frequency_dict(language) if is_counted(language) else {}
