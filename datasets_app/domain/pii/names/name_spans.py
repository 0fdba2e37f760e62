"""From the probability of each word to names: thresholds, whole names, what rules add.

One module decides for every path (text by text through spaCy, or many texts at once), so that
the findings cannot differ.
"""

import re
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names import name_rules
from datasets_app.domain.pii.names.gazetteer import WordFacts, facts
from datasets_app.domain.pii.names.name_refusals import refused
from datasets_app.domain.pii.names.name_rules import NEVER, TITLES

# A word is a name from this probability on, in thousandths. The lower, the fewer names are missed
# and the more other words are taken. Words known as names need less than others, ordinary ones
# more; and where a text has capitals, a word without one needs more, as people write names with them.
# Whole steps, as sums differ in their last digits with the batch they were computed in.
STEPS = 1000
KNOWN, USUAL, UNKNOWN, DOUBTFUL, ORDINARY = 150, 200, 430, 400, 650
BESIDE_CAPITALS = 700
# With a capital within a sentence: known as a name, known to no list, a name that is a rare ordinary
# word (Trump); and anywhere a frequent first name that is an ordinary word as well (Bill).
KNOWN_CAPITAL, CAPITAL, RARE_CAPITAL, CAPITAL_FIRST = 60, 80, 100, 100
OPENING = 180  # known to no list, at the beginning of a sentence
# A reply of a word or two is more often a name than the model thinks, more so with a number.
SHORT_REPLY, NUMBERED_REPLY = 300, 100
BESIDE = 130  # enough for a word that could belong to the name beside it
LOWEST = min(KNOWN_CAPITAL, CAPITAL, NUMBERED_REPLY)
_MOST_IN_SHORT_REPLY = 8  # words and marks
_ALONE, _NUMBERED = 1, 2  # kinds of short replies
_SHORTEST_REPEATED = 3
_WITHIN = frozenset(",'’&-/#@(")  # a sentence goes on behind them
_STAGE = frozenset({"dj", "lil"})  # go with the name behind them

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
    shouted = not any(word.islower() for word in words)
    hits = _likely(words, scores)
    for number in [number for number in hits if refused(words, starts, number, shouted)]:
        del hits[number]
    for first, last in name_rules.find(text, words, starts):
        for number in range(first, last + 1):
            if _is_letters(words[number]):
                hits[number] = max(hits.get(number, 0.0), name_rules.SCORE)
    if not hits:
        return []
    _add_repeated(words, starts, hits, shouted)
    _add_halves(words, starts, hits)
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
    short = _short_reply(words)
    hits = {
        number: scores[number]
        for number, step in enumerate(steps)
        if step >= LOWEST
        and _is_letters(words[number])
        and step >= _needed(words[number], capitals, short, _opens(words, number))
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


def _opens(words: Sequence[str], number: int) -> bool:
    """Whether a sentence begins with the word: its capital says nothing."""
    return number == 0 or not (words[number - 1][0].isalnum() or words[number - 1] in _WITHIN)


def _needed(word: str, capitals: bool, short: int, opens: bool) -> int:
    """From which probability on a word is a name; ``capitals``: the text has some; ``short``: the
    kind of short reply that it is."""
    if _is_ordinary(word) or not _LATIN.search(word):
        return ORDINARY
    fact, lowered = facts(word), not word[0].isupper()
    if fact.common:
        needed = _needed_if_ordinary(fact, lowered, opens)
    elif fact.first or fact.last == 2:
        needed = KNOWN if lowered or opens else KNOWN_CAPITAL
    elif fact.last:
        needed = USUAL
    elif lowered:
        needed = UNKNOWN
    else:
        needed = OPENING if opens else CAPITAL
    if short and not fact.common:
        return min(needed, SHORT_REPLY if short == _ALONE else NUMBERED_REPLY)
    return max(needed, BESIDE_CAPITALS) if lowered and capitals else needed


def _needed_if_ordinary(fact: WordFacts, lowered: bool, opens: bool) -> int:
    if lowered:
        return DOUBTFUL
    if fact.common == 1 and (fact.first or fact.last) and not opens:
        return RARE_CAPITAL
    return CAPITAL_FIRST if fact.first == 2 else DOUBTFUL


def _short_reply(words: Sequence[str]) -> int:
    """Whether a text is no more than a word or two, and whether a number stands beside them."""
    if len(words) > _MOST_IN_SHORT_REPLY:
        return 0
    said = [word for word in words if word[0].isalpha() and word.lower() not in name_rules.BEFORE_CODES]
    if len(said) > 2 or any(_CODE.search(word) and not word.isdigit() for word in said):
        return 0
    numbered = words[0] in said and sum(word.isdigit() for word in words) == 1
    return _NUMBERED if numbered else _ALONE


def _is_ordinary(word: str) -> bool:
    fact = facts(word)
    return fact.common == 2 and fact.first < 2 and not word[0].isupper()


def _add_halves(words: Sequence[str], starts: Sequence[int], hits: Hits) -> None:
    """The ordinary word that is the rest of a name: Cook behind Tim, Lil before Wayne."""
    for number in sorted(hits):
        behind, before = number + 1, number - 1
        if (
            behind < len(words)
            and behind not in hits
            and before not in hits
            and _is_apart(words, starts, behind)
            and _is_surname(words, number)
        ):
            hits[behind] = hits[number]
        if before >= 0 and words[before].lower() in _STAGE and _is_apart(words, starts, number):
            hits[before] = hits[number]


def _is_surname(words: Sequence[str], number: int) -> bool:
    """Whether the word behind a single first name with a capital has one too, and is borne as a last
    name; in a headline every word has a capital."""
    word, behind = words[number], words[number + 1]
    if not (word.istitle() and behind.istitle() and facts(word).first and facts(behind).last):
        return False
    after = words[number + 2 : number + 3]
    return behind.lower() not in NEVER and not (after and after[0].istitle())


def _is_apart(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """Whether only a space parts the word from the one before it."""
    return starts[number] == starts[number - 1] + len(words[number - 1]) + 1


def _add_repeated(words: Sequence[str], starts: Sequence[int], hits: Hits, shouted: bool) -> None:
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
            if number not in hits and word.lower() in known and not refused(words, starts, number, shouted):
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
