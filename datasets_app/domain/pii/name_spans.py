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
# and the more other words are taken. Words known as names need less than others, ordinary ones
# more; and where a text has capitals, a word without one needs more, as people write names with them.
# Whole steps, as sums differ in their last digits with the batch they were computed in.
STEPS = 1000
KNOWN, USUAL, UNKNOWN, DOUBTFUL, ORDINARY = 150, 200, 400, 500, 650
BESIDE_CAPITALS = 750
# A reply of a word or two, perhaps with a number, is more often a name than the model thinks.
SHORT_REPLY = 300
BESIDE = 100  # enough for a word that could belong to the name beside it
LOWEST = 150
_MOST_IN_SHORT_REPLY = 8  # words and marks
_SHORTEST_REPEATED = 3

# Numbers, codes and addresses are nobody's name.
_CODE = re.compile(r"\d|@|://")
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
            if _is_letters(words[number]):
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
    if not scores or round(max(scores) * STEPS) < LOWEST:
        return {}
    steps = [round(score * STEPS) for score in scores]
    capitals = any(word[0].isupper() and len(word) > 1 for word in words[1:])
    short = len(words) <= _MOST_IN_SHORT_REPLY and _is_short_reply(words)
    hits = {
        number: scores[number]
        for number, step in enumerate(steps)
        if step >= LOWEST and _is_letters(words[number]) and step >= _needed(words[number], capitals, short)
    }
    for number in list(hits):
        for direction in (-1, 1):  # the rest of a name, outward from what is sure of it
            beside = number + direction
            while 0 <= beside < len(steps) and steps[beside] >= BESIDE and beside not in hits:
                if not _is_letters(words[beside]) or _is_ordinary(words[beside]):
                    break
                hits[beside] = scores[beside]
                beside += direction
    return hits


def _needed(word: str, capitals: bool, short: bool) -> int:
    """From which probability on a word is a name; ``capitals``: the text has some; ``short``: it is
    a short reply."""
    if _is_ordinary(word) or not _LATIN.search(word):
        return ORDINARY
    fact, lowered = facts(word), not word[0].isupper()
    if fact.common:
        needed = DOUBTFUL
    elif fact.first or fact.last == 2:
        needed = KNOWN
    else:
        needed = UNKNOWN if lowered and not fact.last else USUAL
    if short and not fact.common:
        return min(needed, SHORT_REPLY)
    return max(needed, BESIDE_CAPITALS) if lowered and capitals else needed


def _is_short_reply(words: Sequence[str]) -> bool:
    said = [word for word in words if word[0].isalpha() and word.lower() not in name_rules.BEFORE_CODES]
    return len(said) <= 2 and not any(_CODE.search(word) and not word.isdigit() for word in said)


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
    """Without titles before it; nothing if no more than letters is left."""
    score = max(hits[number] for number in run)
    first, last = 0, run[-1]
    while first < len(run) and words[run[first]].lower() in TITLES:
        first += 1
    if all(len(words[number]) == 1 for number in run[first:]):
        return None
    return Match(NAME, starts[run[first]], starts[last] + len(words[last]), round(min(score, 1.0), 3))


def _is_letters(word: str) -> bool:
    return word[0].isalpha() and not _CODE.search(word)
