"""The packaged detection model: what looks like a number, a date or a user name, judged by its context.

Rules know phrases; this knows which words speak for a value, in which place and how much, and so judges
wording that nobody wrote down. It is linear: the weights of a candidate's features add up to the logarithm of
its odds. See docs/detection-model.md.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from datasets_app.domain.pii.detector import ACCOUNT, DATE_OF_BIRTH, HANDLE, ID_NUMBER, PHONE, Match
from datasets_app.domain.pii.learned.candidates import (
    DATE,
    NUMBER,
    WORD,
    Candidate,
    classify_date,
    classify_word,
    describe_word,
    find_dates,
    find_numbers,
    find_words,
    is_date_word,
)
from datasets_app.domain.pii.learned.features import (
    BUCKETS,
    Feature,
    hash_feature,
    list_features,
    split_tokens,
)
from datasets_app.domain.pii.names.product_list import is_software
from datasets_app.domain.pii.rules.handle_words import CODE_WORDS, GROUP_WORDS
from datasets_app.domain.pii.rules.other_words import OTHER_WORDS

WEIGHTS_PATH = Path(__file__).parent / "weights.npz"
KINDS = frozenset((PHONE, ID_NUMBER, ACCOUNT, DATE_OF_BIRTH, HANDLE))
NUMBER_KINDS = (PHONE, ID_NUMBER, ACCOUNT)
KIND_BUCKETS = 1 << 18
_MAX_CACHED_FEATURES = 200_000
_MAX_CACHED_WORDS = 50_000
# A user name is looked for near words that speak for one by as much; elsewhere nothing could.
MIN_CUE_WEIGHT = 1.2
# What is more like one by itself is always looked at.
MIN_ODD_WEIGHT = -1.5
# How much more must speak for a user name that is written like other words.
FURTHER_ODDS = {"signed": 0.0, "inner": 0.5, "joined": 2.0, "unknown": 1.0, "name": 2.0, "ordinary": 2.0}
FURTHER_ODDS_OF_DATES = {"year": 1.0, "short": 0.5}
_VERSION_OR_CODE = re.compile(r"[vV]\d{1,3}|(?:is|has|get|set)_\w+")
NO_NAMES = GROUP_WORDS | CODE_WORDS
# Lists of anything; those of people are told by rules.
_BULLET = re.compile(r"(?:^|\n)[-*] \Z")
# As checks and scrubs put it for metadata. What a key says is for rules: the model knows sentences.
_KEY_AND_VALUE = re.compile(r"[^:\n]{1,80}: \S+")
_DIGITS, _DATE_WORD, _CUE, _ODD = 1, 2, 4, 8
_CUE_BINS = ("b0", "b1", "b2", "a0", "a1", "B", "Q", "L")
_MAX_WORDS_FROM_CUE = 6
_MAX_NEAR_CHARACTERS = 200
_MAX_CHARACTERS, MAX_QUESTION_CHARACTERS = 20_000, 300


class DetectionModel:
    """``weights`` [buckets] for the odds of being personal; ``kinds`` [kinds, buckets] tell numbers apart."""

    def __init__(self, weights: Any, kinds: Any, thresholds: dict[str, float]) -> None:
        # An array of Python gives single numbers faster than one of numpy.
        self._weights = array("f", weights.astype(np.float32).tobytes())
        self._kinds, self.thresholds = kinds, thresholds
        self._known: dict[str, dict[Feature, float]] = {sort: {} for sort in (NUMBER, DATE, WORD)}
        self._cues: dict[str, bool] = {}
        self._flags: dict[str, int] = {}
        self._odd: dict[str, float] = {}

    def find(self, text: str, question: str = "") -> Iterator[Match]:
        """The values in ``text``; those of different classes may overlap. It may answer ``question``."""
        for candidate in self._list_candidates(text, question):
            value = text[candidate.start : candidate.end]
            if candidate.sort == WORD and _is_no_name(value):
                continue
            threshold = self.thresholds[candidate.sort] + get_further_odds(candidate.sort, value)
            if self.score(text, candidate, question) >= threshold:
                yield Match(self._choose_kind(text, candidate, question), candidate.start, candidate.end)

    def score(self, text: str, candidate: Candidate, question: str = "") -> float:
        """The logarithm of the odds that ``candidate`` is personal."""
        sort = candidate.sort
        known = self._known[sort]
        if len(known) > _MAX_CACHED_FEATURES:
            known.clear()
        total = 0.0
        for feature in set(list_features(text, candidate, question)):
            weight = known.get(feature)
            if weight is None:
                weight = known[feature] = self._weigh(sort, feature)
            total += weight
        return total

    def _weigh(self, sort: str, feature: Feature) -> float:
        total: float = sum(map(self._weights.__getitem__, hash_feature(sort, feature)))
        return total

    def _choose_kind(self, text: str, candidate: Candidate, question: str) -> str:
        if candidate.sort != NUMBER:
            return DATE_OF_BIRTH if candidate.sort == DATE else HANDLE
        buckets = [
            bucket % KIND_BUCKETS
            for feature in set(list_features(text, candidate, question))
            for bucket in hash_feature(NUMBER, feature)
        ]
        return NUMBER_KINDS[int(self._kinds[:, buckets].sum(axis=1).argmax())]

    def _list_candidates(self, text: str, question: str) -> Iterator[Candidate]:
        flags, parts = 0, text.split()
        for part in parts:
            known = self._flags.get(part)
            flags |= self._read_flags(part) if known is None else known
        if flags & _DIGITS:
            yield from (number for number in find_numbers(text) if question or not _is_of_thing(text, number))
        if flags & (_DIGITS | _DATE_WORD):
            yield from find_dates(text)
        if question and any(map(self.is_cue, question.lower().split())):
            yield from find_words(text)
        elif flags & (_CUE | _ODD) and len(parts) > 1:  # a key or a tag has nothing around it
            yield from self._list_words(text)

    def _read_flags(self, part: str) -> int:
        """What is in a part of a text between spaces, kept for the next text that has it."""
        tokens = [token for token, _, _ in split_tokens(part)]
        flags = _DIGITS if any(map(str.isdigit, part)) else 0
        if any(map(is_date_word, tokens)):
            flags |= _DATE_WORD
        if any(map(self.is_cue, tokens)):
            flags |= _CUE
        if any(self._is_odd(part[start:end]) for _, start, end in find_words(part)):
            flags |= _ODD
        if len(self._flags) > _MAX_CACHED_WORDS:
            self._flags.clear()
        self._flags[part] = flags
        return flags

    def _is_odd(self, word: str) -> bool:
        return classify_word(word) != "ordinary" and self._weigh_word(word) >= MIN_ODD_WEIGHT

    def _weigh_word(self, word: str) -> float:
        """How far a word is like a user name by itself."""
        known = self._odd.get(word)
        if known is None:
            if len(self._odd) > _MAX_CACHED_WORDS:
                self._odd.clear()
            features = set(describe_word(word))
            known = self._odd[word] = sum(self._weigh(WORD, ("v", feature)) for feature in features)
        return known

    def _list_words(self, text: str) -> Iterator[Candidate]:
        """Words that are like a user name by themselves, or near one that speaks for a user name."""
        tokens = split_tokens(text)
        # A word may be near itself: "github_login" is no name because of its own parts.
        near: dict[int, list[int]] = {}
        for cue, (token, cue_start, _) in enumerate(tokens):
            if self.is_cue(token):
                for _, start, _ in tokens[max(0, cue - _MAX_WORDS_FROM_CUE) : cue + _MAX_WORDS_FROM_CUE + 1]:
                    near.setdefault(start, []).append(cue_start)
        for candidate in find_words(text):
            start, end = candidate.start, candidate.end
            if _BULLET.search(text, max(0, start - 3), start):
                continue
            if any(not start <= place < end for place in near.get(start, ())) or (
                self._weigh_word(text[start:end]) >= MIN_ODD_WEIGHT
            ):
                yield candidate

    def is_cue(self, token: str) -> bool:
        """Whether a word, as :func:`split_tokens` gives it, speaks for a user name somewhere near."""
        cues = self._cues
        known = cues.get(token)
        if known is None:
            if len(cues) > _MAX_CACHED_WORDS:
                cues.clear()
            known = cues[token] = token.isalpha() and (
                max(self._weigh(WORD, (where, token)) for where in _CUE_BINS) >= MIN_CUE_WEIGHT
            )
        return known


def get_further_odds(sort: str, value: str) -> float:
    """How much more than usual must speak for a value that is written like this."""
    if sort == WORD:
        return FURTHER_ODDS[classify_word(value)]
    return FURTHER_ODDS_OF_DATES.get(classify_date(value), 0.0) if sort == DATE else 0.0


def _is_no_name(word: str) -> bool:
    return (
        word.lower() in NO_NAMES
        or _VERSION_OR_CODE.fullmatch(word) is not None
        or is_software(word.rstrip("0123456789.-"))
    )


def _is_of_thing(text: str, number: Candidate) -> bool:
    """Without any word, in an address of the web, or right behind a word such as "order"."""
    start = number.start
    before = text[max(0, start - _MAX_NEAR_CHARACTERS) : start]
    after = text[number.end : number.end + _MAX_NEAR_CHARACTERS]
    if not any(map(str.isalpha, before + after)):
        return True
    if not OTHER_WORDS.isdisjoint(text[max(0, start - 24) : start].lower().replace(":", " ").split()[-2:]):
        return True
    return "://" in before and "://" in before.split()[-1]


@cache
def load_detection_model() -> DetectionModel:
    with np.load(WEIGHTS_PATH) as stored:
        weights = stored["weights"].astype(np.float32) * float(stored["scale"])
        kinds = stored["kinds"].astype(np.float32)
        thresholds = dict(zip((NUMBER, DATE, WORD), stored["thresholds"].tolist(), strict=True))
    assert len(weights) == BUCKETS
    return DetectionModel(weights, kinds, thresholds)


def search_folded(text: str, known: Sequence[Match] = ()) -> list[Match]:
    """What the model finds in a folded text without placeholders, beside what rules ``known`` have."""
    if len(text) > _MAX_CHARACTERS or _KEY_AND_VALUE.fullmatch(text):
        return []
    found = load_detection_model().find(text)
    return [match for match in found if not overlaps_any(match, known)]


def overlaps_any(match: Match, others: Sequence[Match]) -> bool:
    return any(match.start < other.end and other.start < match.end for other in others)


def find_answers(question: str, reply: str) -> list[Match]:
    """What it finds in a reply, knowing the end of the question before it."""
    return list(load_detection_model().find(reply, question[-MAX_QUESTION_CHARACTERS:]))
