"""From the probability of each word to names: thresholds, whole names, what rules add.

One module decides for every path (text by text through spaCy, or many texts at once), so that
the findings cannot differ.
"""

import re
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii import name_rules
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.gazetteer import facts
from datasets_app.domain.pii.name_rules import TITLES

# A word is a name from this probability on, in thousandths. The lower, the fewer names are missed
# and the more other words are taken. Ordinary words in lower case need more, known names less.
# Whole steps, as sums differ in their last digits with the batch they were computed in.
STEPS = 1000
USUAL, ORDINARY, KNOWN = 350, 650, 250
BESIDE = 120  # enough for a word that could belong to the name beside it
_SHORTEST_REPEATED = 3

# The model has learnt nothing about other scripts.
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff\uff21-\uff5a]")

Hits = dict[int, float]


def name_spans(
    text: str, words: Sequence[str], starts: Sequence[int], scores: Sequence[float]
) -> list[Match]:
    """The names of people in ``text``, in order, without overlaps.

    ``starts`` and ``scores`` (probability of being part of a name) belong to ``words`` one by one.
    """
    hits = _likely(words, scores)
    for first, last in name_rules.find(text, words, starts):
        for number in range(first, last + 1):
            hits[number] = max(hits.get(number, 0.0), name_rules.SCORE)
    if not hits:
        return []
    _add_repeated(words, hits)
    return [
        match
        for run in _runs(text, words, starts, sorted(hits))
        if (match := _match(words, starts, run, hits))
    ]


def _likely(words: Sequence[str], scores: Sequence[float]) -> Hits:
    if not scores or max(scores) * STEPS < KNOWN - 1:
        return {}
    steps = [round(score * STEPS) for score in scores]
    hits = {
        number: scores[number]
        for number, step in enumerate(steps)
        if step >= KNOWN and step >= _needed(words[number])
    }
    for number in list(hits):
        for step in (-1, 1):  # the rest of a name, outward from what is sure of it
            beside = number + step
            while 0 <= beside < len(steps) and steps[beside] >= BESIDE and beside not in hits:
                if words[beside].isspace() or (words[beside][0].isalpha() and _is_ordinary(words[beside])):
                    break
                hits[beside] = scores[beside]
                beside += step
    return hits


def _needed(word: str) -> int:
    fact = facts(word)
    if _is_ordinary(word) or not _LATIN.search(word):
        return ORDINARY
    return KNOWN if (fact.first or fact.last) and not fact.common else USUAL


def _is_ordinary(word: str) -> bool:
    fact = facts(word)
    return fact.common == 2 and fact.first < 2 and not word[0].isupper()


def _add_repeated(words: Sequence[str], hits: Hits) -> None:
    """A word that is part of a name is one wherever it stands in the text."""
    if len(words) < len(hits) + 2:
        return
    known: dict[str, float] = {}
    for number, score in hits.items():
        plain = words[number].lower()
        if len(plain) >= _SHORTEST_REPEATED and plain.isalpha() and not facts(plain).common:
            known[plain] = max(score, known.get(plain, 0.0))
    if known:
        for number, word in enumerate(words):
            if number not in hits and word.lower() in known:
                hits[number] = known[word.lower()]


def _runs(text: str, words: Sequence[str], starts: Sequence[int], numbers: list[int]) -> Iterator[list[int]]:
    """Neighbouring words as one name; what joins two parts of one (O'Brien, J. Roe) is let in."""
    run: list[int] = []
    for number in numbers:
        if words[number].isspace():
            continue
        if run and not _joined(text, words, starts, run[-1], number):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _joined(text: str, words: Sequence[str], starts: Sequence[int], left: int, right: int) -> bool:
    between = text[starts[left] + len(words[left]) : starts[right]]
    if between in ("", " "):
        return True
    if between in (".", ". "):
        return len(words[left]) == 1 or words[left].lower() in TITLES
    return between in ("'", "’", "-", "‐", "‑")


def _match(words: Sequence[str], starts: Sequence[int], run: list[int], hits: Hits) -> Match | None:
    """Without titles and marks around; nothing if no letter is left."""
    score = max(hits[number] for number in run)
    while run and (not _is_letters(words[run[0]]) or words[run[0]].lower() in TITLES):
        run = run[1:]
    while run and not _is_letters(words[run[-1]]):
        run = run[:-1]
    if not run:
        return None
    last = run[-1]
    return Match(NAME, starts[run[0]], starts[last] + len(words[last]), round(min(score, 1.0), 3))


def _is_letters(word: str) -> bool:
    return word[0].isalpha() and "@" not in word and "://" not in word
