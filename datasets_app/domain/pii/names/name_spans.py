"""Turns word probabilities into names: thresholds, whole names, additions by rules.

Both paths (spaCy text by text, and batches) decide here, so their findings cannot differ.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names import name_rules
from datasets_app.domain.pii.names.gazetteer import WordFacts, look_up_word
from datasets_app.domain.pii.names.name_refusals import is_refused
from datasets_app.domain.pii.names.name_rules import NON_NAMES, TITLES
from datasets_app.domain.pii.names.products import find_product_words
from datasets_app.domain.pii.names.technical_texts import find_code_words

# A word is a name from this probability on, in thousandths. The lower, the fewer names are missed
# and the more other words are taken. Words known as names need less than others, ordinary ones
# more; and where a text has capitals, a word without one needs more, as people write names with them.
# Integers, since the last digits of sums depend on the batch.
PROBABILITY_STEPS = 1000
KNOWN_THRESHOLD, LAST_NAME_THRESHOLD, UNKNOWN_THRESHOLD, DOUBTFUL_THRESHOLD, ORDINARY_THRESHOLD = (
    150,
    200,
    430,
    400,
    650,
)
LOWERCASE_THRESHOLD = 700
# With a capital within a sentence: known as a name, known to no list, a name that is a rare ordinary
# word (Trump); and anywhere a frequent first name that is an ordinary word as well (Bill).
KNOWN_CAPITAL_THRESHOLD, CAPITAL_THRESHOLD, RARE_CAPITAL_THRESHOLD, FIRST_NAME_THRESHOLD = 60, 80, 100, 100
SENTENCE_START_THRESHOLD = 180  # known to no list, at the beginning of a sentence
# Replies of a word or two are names more often than the model expects, even more with a number.
SHORT_REPLY_THRESHOLD, NUMBERED_REPLY_THRESHOLD = 300, 100
NEIGHBOR_THRESHOLD = 130  # enough for a word that may belong to an adjacent name
MIN_THRESHOLD = min(KNOWN_CAPITAL_THRESHOLD, CAPITAL_THRESHOLD, NUMBERED_REPLY_THRESHOLD)
_MAX_SHORT_REPLY_WORDS = 8  # words and marks
_SHORT_REPLY, _NUMBERED_REPLY = 1, 2  # kinds of short replies
_MIN_REPEATED_CHARACTERS = 3
_MID_SENTENCE_SIGNS = frozenset(",'’&-/#@(")  # a sentence goes on behind them
_STAGE_TITLES = frozenset({"dj", "lil"})  # go with the name behind them

# Numbers, codes and addresses are never names.
_CODE_OR_ADDRESS = re.compile(r"\d|@|://")
# The model wasn't trained on other scripts.
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff\uff21-\uff5a]")

ScoresByWord = dict[int, float]


def find_name_spans(
    text: str, words: Sequence[str], starts: Sequence[int], scores: Sequence[float]
) -> list[Match]:
    """The names of people in ``text``, in order, without overlaps.

    ``starts`` and ``scores`` (probability of being part of a name) belong to ``words`` one by one.
    """
    shouted = not any(word.islower() for word in words)
    hits = _find_likely_words(words, scores)
    for number in [number for number in hits if is_refused(words, starts, number, shouted)]:
        del hits[number]
    for first, last in name_rules.find_names(text, words, starts):
        for number in range(first, last + 1):
            if is_plain_word(words[number]):
                hits[number] = max(hits.get(number, 0.0), name_rules.RULE_SCORE)
    announced = partial(name_rules.find_announced, text, words, starts)
    for number in find_code_words(text, words, starts, list(hits)) if hits else ():
        del hits[number]
    if not hits:
        return []
    _add_repeated(words, starts, hits, shouted)
    _add_surnames_and_titles(words, starts, hits)
    for number in find_product_words(text, words, starts, hits, announced):
        del hits[number]
    return [
        match
        for run in _group_runs(text, words, starts, sorted(hits))
        if (match := _make_match(words, starts, run, hits))
    ]


def _find_likely_words(words: Sequence[str], scores: Sequence[float]) -> ScoresByWord:
    if not scores or round(max(scores) * PROBABILITY_STEPS) < MIN_THRESHOLD:
        return {}
    steps = [round(score * PROBABILITY_STEPS) for score in scores]
    capitals = any(word[0].isupper() and len(word) > 1 for word in words[1:])
    short = _classify_short_reply(words)
    hits = {
        number: scores[number]
        for number, step in enumerate(steps)
        if step >= MIN_THRESHOLD
        and is_plain_word(words[number])
        and step >= _get_threshold(words[number], capitals, short, _starts_sentence(words, number))
    }
    for number in list(hits):
        for direction in (-1, 1):  # the rest of a name, outward from its certain part
            beside = number + direction
            while 0 <= beside < len(steps) and steps[beside] >= NEIGHBOR_THRESHOLD and beside not in hits:
                if not is_plain_word(words[beside]) or _is_ordinary(words[beside]):
                    break
                hits[beside] = scores[beside]
                beside += direction
    return hits


def _starts_sentence(words: Sequence[str], number: int) -> bool:
    """Whether the word begins a sentence, so that its capital means nothing."""
    return number == 0 or not (words[number - 1][0].isalnum() or words[number - 1] in _MID_SENTENCE_SIGNS)


def _get_threshold(word: str, capitals: bool, short: int, opens: bool) -> int:
    """The minimum probability of a name; ``capitals``: the text has some; ``short``: the kind of
    short reply."""
    if _is_ordinary(word) or not _LATIN.search(word):
        return ORDINARY_THRESHOLD
    fact, lowered = look_up_word(word), not word[0].isupper()
    if fact.common:
        needed = _get_common_word_threshold(fact, lowered, opens)
    elif fact.first or fact.last == 2:
        needed = KNOWN_THRESHOLD if lowered or opens else KNOWN_CAPITAL_THRESHOLD
    elif fact.last:
        needed = LAST_NAME_THRESHOLD
    elif lowered:
        needed = UNKNOWN_THRESHOLD
    else:
        needed = SENTENCE_START_THRESHOLD if opens else CAPITAL_THRESHOLD
    if short and not fact.common:
        return min(needed, SHORT_REPLY_THRESHOLD if short == _SHORT_REPLY else NUMBERED_REPLY_THRESHOLD)
    return max(needed, LOWERCASE_THRESHOLD) if lowered and capitals else needed


def _get_common_word_threshold(fact: WordFacts, lowered: bool, opens: bool) -> int:
    if lowered:
        return DOUBTFUL_THRESHOLD
    if fact.common == 1 and (fact.first or fact.last) and not opens:
        return RARE_CAPITAL_THRESHOLD
    return FIRST_NAME_THRESHOLD if fact.first == 2 else DOUBTFUL_THRESHOLD


def _classify_short_reply(words: Sequence[str]) -> int:
    """Whether a text is only a word or two, and whether it has a number too."""
    if len(words) > _MAX_SHORT_REPLY_WORDS:
        return 0
    said = [word for word in words if word[0].isalpha() and word.lower() not in name_rules.CODE_INTRODUCERS]
    if len(said) > 2 or any(_CODE_OR_ADDRESS.search(word) and not word.isdigit() for word in said):
        return 0
    numbered = words[0] in said and sum(word.isdigit() for word in words) == 1
    return _NUMBERED_REPLY if numbered else _SHORT_REPLY


def _is_ordinary(word: str) -> bool:
    fact = look_up_word(word)
    return fact.common == 2 and fact.first < 2 and not word[0].isupper()


def _add_surnames_and_titles(words: Sequence[str], starts: Sequence[int], hits: ScoresByWord) -> None:
    """The ordinary word that completes a name: Cook after Tim, Lil before Wayne."""
    for number in sorted(hits):
        behind, before = number + 1, number - 1
        if (
            behind < len(words)
            and behind not in hits
            and before not in hits
            and _follows_one_space(words, starts, behind)
            and _is_surname(words, number)
        ):
            hits[behind] = hits[number]
        if (
            before >= 0
            and words[before].lower() in _STAGE_TITLES
            and _follows_one_space(words, starts, number)
        ):
            hits[before] = hits[number]


def _is_surname(words: Sequence[str], number: int) -> bool:
    """Whether the word after a single capitalized first name is capitalized too and a known last name;
    in a headline every word is capitalized."""
    word, behind = words[number], words[number + 1]
    if not (word.istitle() and behind.istitle() and look_up_word(word).first and look_up_word(behind).last):
        return False
    after = words[number + 2 : number + 3]
    return behind.lower() not in NON_NAMES and not (after and after[0].istitle())


def _follows_one_space(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """Whether only a space separates the word from the one before it."""
    return starts[number] == starts[number - 1] + len(words[number - 1]) + 1


def _add_repeated(words: Sequence[str], starts: Sequence[int], hits: ScoresByWord, shouted: bool) -> None:
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
            if (
                number not in hits
                and word.lower() in known
                and not is_refused(words, starts, number, shouted)
            ):
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
