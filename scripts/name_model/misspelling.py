"""Ordinary words as they are mistyped, so that no misspelling is taken for somebody's name."""

import random
import re

from scripts.name_model.corpora import Span, Text

_MISSPELLED_SHARE = 0.15  # of the texts get one slip
_ORDINARY_WORD = re.compile(r"(?<![\w@#/.])[a-z]{4,}(?![\w@/])")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def misspell(text: Text, generator: random.Random) -> Text:
    """``text``, now and then with one slip in a word that nobody marked."""
    if generator.random() >= _MISSPELLED_SHARE:
        return text
    words = [
        word
        for word in _ORDINARY_WORD.finditer(text.text)
        if not any(span.start < word.end() and word.start() < span.end for span in text.spans)
    ]
    if not words:
        return text
    word = generator.choice(words)
    slip = _mistype(word[0], generator)
    shift = len(slip) - len(word[0])
    spans = tuple(
        Span(span.start + shift, span.end + shift, span.label) if span.start >= word.end() else span
        for span in text.spans
    )
    return text._replace(text=text.text[: word.start()] + slip + text.text[word.end() :], spans=spans)


def _mistype(word: str, generator: random.Random) -> str:
    place = generator.randrange(len(word) - 1)
    kind = generator.randrange(4)
    if kind == 0:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if kind == 1:
        return word[:place] + word[place + 1 :]
    if kind == 2:
        return word[:place] + word[place] + word[place:]
    return word[:place] + generator.choice(_LETTERS) + word[place + 1 :]
