"""Turns the probabilities of words into names: which words belong together, and where names begin and end."""

import re
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.detector import NAME, PRECISION, RECALL, Match
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.person_cues import TITLES
from datasets_app.domain.pii.names.things import is_listed_thing

# A word is part of a name from this probability on, by what is preferred where nobody can be sure.
_THRESHOLDS = {RECALL: 0.05, PRECISION: 0.3}
_MIN_REPEATED_CHARACTERS = 3
_MID_SENTENCE_SIGNS = frozenset(",'’&-/#@(")  # a sentence goes on behind them

# Words in lower case are parts of code where these touch them: first_name, call(max=3).
_CODE_SIGNS_BEFORE, _CODE_SIGNS_BEHIND = ("_",), ("_", "=", "(")
# Numbers, codes and addresses are never names.
_CODE_OR_ADDRESS = re.compile(r"\d|@|://")

ScoresByWord = dict[int, float]


def find_name_spans(
    text: str,
    words: Sequence[str],
    starts: Sequence[int],
    scores: Sequence[float],
    prefer: str = RECALL,
) -> list[Match]:
    """The names of people in ``text``, in order, without overlaps.

    ``starts`` and ``scores`` (probability of being part of a name) belong to ``words`` one by one; without
    scores there are no names.
    """
    threshold = _THRESHOLDS[prefer]
    if max(scores, default=0) < threshold:
        return []
    hits = {
        number: score
        for number, score in enumerate(scores)
        if score >= threshold
        and is_plain_word(words[number])
        and not _is_code(text, words[number], starts[number])
    }
    for number in [number for number in hits if is_listed_thing(words[number])]:
        if not {number - 1, number + 1} & hits.keys():  # kirin, but not kirin engelhart
            del hits[number]
    _add_repeated(words, hits)
    return [
        match
        for run in _group_runs(text, words, starts, sorted(hits))
        if (match := _make_match(words, starts, run, hits))
    ]


def _is_code(text: str, word: str, start: int) -> bool:
    return word.islower() and (
        text.endswith(_CODE_SIGNS_BEFORE, 0, start) or text.startswith(_CODE_SIGNS_BEHIND, start + len(word))
    )


def starts_sentence(words: Sequence[str], number: int) -> bool:
    """Whether the word begins a sentence, so that its capital means nothing."""
    return number == 0 or not (words[number - 1][0].isalnum() or words[number - 1] in _MID_SENTENCE_SIGNS)


def _add_repeated(words: Sequence[str], hits: ScoresByWord) -> None:
    """A word that is part of a name once is one everywhere in the text."""
    if len(words) < len(hits) + 2:
        return
    known: dict[str, float] = {}
    for number, score in hits.items():
        plain = words[number].lower()
        if len(plain) >= _MIN_REPEATED_CHARACTERS and plain.isalpha() and not look_up_word(plain).common:
            known[plain] = max(score, known.get(plain, 0.0))
    if known:
        for number, word in enumerate(words):
            if number not in hits and word.lower() in known:
                hits[number] = known[word.lower()]


def _group_runs(
    text: str, words: Sequence[str], starts: Sequence[int], numbers: list[int]
) -> Iterator[list[int]]:
    """Join adjacent words to one name, including marks between its parts (O'Brien, J. Roe)."""
    run: list[int] = []
    for number in numbers:
        if run and not _are_joined(text, words, starts, run[-1], number):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _are_joined(text: str, words: Sequence[str], starts: Sequence[int], left: int, right: int) -> bool:
    between = text[starts[left] + len(words[left]) : starts[right]]
    if between in ("", " "):
        return True
    if between in (".", ". "):
        return len(words[left]) == 1 or words[left].lower() in TITLES
    return between in ("'", "’", "-", "‐", "‑")


def _make_match(
    words: Sequence[str], starts: Sequence[int], run: list[int], hits: ScoresByWord
) -> Match | None:
    """Without titles before it; nothing if no more than letters is left."""
    score = max(hits[number] for number in run)
    first, last = 0, run[-1]
    while first < len(run) and words[run[first]].lower() in TITLES:
        first += 1
    if all(len(words[number]) == 1 for number in run[first:]):
        return None
    return Match(NAME, starts[run[first]], starts[last] + len(words[last]), round(min(score, 1.0), 3))


def is_plain_word(word: str) -> bool:
    """Whether a word can be part of a name at all."""
    return word[0].isalpha() and not _CODE_OR_ADDRESS.search(word)
