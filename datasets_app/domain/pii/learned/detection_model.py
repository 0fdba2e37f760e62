"""The packaged detection model: what looks like a number, a date or a user name, judged by its context.

Rules know phrases; this knows which words speak for a value, in which place and how much, and so judges
wording that nobody wrote down. It is linear: the weights of a candidate's features add up to the logarithm of
its odds. See docs/detection-model.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.pii.detector import ACCOUNT, DATE_OF_BIRTH, HANDLE, ID_NUMBER, PHONE, Match
from datasets_app.domain.pii.learned import parts
from datasets_app.domain.pii.learned.candidates import (
    DATE,
    NUMBER,
    WORD,
    Candidate,
    find_dates,
    find_numbers,
)
from datasets_app.domain.pii.learned.features import (
    BUCKETS,
    CLASSIFY,
    DESCRIBE,
    hash_feature,
    list_features,
    split_question,
)
from datasets_app.domain.pii.learned.scoring import Context, Scorer, Weights
from datasets_app.domain.pii.names.product_list import is_software
from datasets_app.domain.pii.rules.birth_words import OTHER_EVENT
from datasets_app.domain.pii.rules.handle_context_words import COUNTERS, THINGS
from datasets_app.domain.pii.rules.handle_names import WORDS
from datasets_app.domain.pii.rules.handle_words import CODE_WORDS, GROUP_WORDS
from datasets_app.domain.pii.rules.other_words import OTHER_WORDS

WEIGHTS_PATH = Path(__file__).parent / "weights.npz"
KINDS = frozenset((PHONE, ID_NUMBER, ACCOUNT, DATE_OF_BIRTH, HANDLE))
NUMBER_KINDS = (PHONE, ID_NUMBER, ACCOUNT)
KIND_BUCKETS = 1 << 18
_MAX_CACHED_WORDS, _MAX_CACHED_VALUES = 50_000, 30_000
# A user name is looked for near words that speak for one by as much; elsewhere nothing could.
MIN_CUE_WEIGHT = 2.4
# What is more like one by itself is always looked at, and what is written like one.
MIN_ODD_WEIGHT = -1.5
_ODD_LOOKS, _PLAIN_LOOKS = frozenset(("signed", "run", "inner", "joined")), frozenset(("ordinary", "foreign"))
# How much more must speak for what is also software or a thing: rocket22, support24.
_FURTHER_ODDS_OF_THINGS = 3.0
# How much more must speak for a user name that is written like other words.
FURTHER_ODDS = {
    "signed": 0.0,
    "run": 0.5,
    "inner": 0.0,
    "joined": 0.0,
    "unknown": 0.0,
    "ordinary": 1.0,
    "name": 1.5,
    "foreign": 2.5,
}
FURTHER_ODDS_OF_DATES = {"year": 1.5, "short": 0.5}
# v1.14.13-rc1, enable_seqscan, created_at, _grokparsefailure, HEALTH_WARN, debian-12.7.0-amd64.iso
_VERSION_OR_CODE = re.compile(
    r"[vV]?\d{1,4}(?:\.\d{1,6})*(?:[.-]?(?:rc|alpha|beta|dev|pre|post)[.-]?\d*)?"
    r"|_[a-z]+(?:_[a-z]+)*|[A-Z0-9]+(?:_[A-Z0-9]+)+|(?:is|has|get|set|enable|disable)_\w+"
    r"|\w+_(?:at|id|by|key|secret|token|count|url|path|type|size)"
    r"|[\w.-]+\.(?:py|js|ts|json|ya?ml|toml|ini|cfg|conf|sh|sql|html?|css|xml|csv|txt|md|log|iso|img|exe|dmg|zip|gz"
    r"|tar|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg|gif|mp[34]|go|rs|java|cpp|rb|php|lock|env|pem|deb|rpm|service|socket|timer|sock|local|lan)"
)
# print(42150373126)
_CALL = re.compile(r"\w\(\Z")
# "product_id": "9832717871": what a key says is for rules, here as in metadata.
_JSON_KEY = re.compile(r"\"\s?:\s?\"?\Z")
# "submitted 12/03/2024", "order placed on 12/03/2024"
_OTHER_EVENT = re.compile(
    rf"(?<![^\W_])(?:{OTHER_EVENT}|placed)[^\W\d_]{{0,9}}\W{{1,3}}(?:on )?\Z", re.IGNORECASE
)
NO_NAMES = GROUP_WORDS | CODE_WORDS | WORDS
# As checks and scrubs put it for metadata. What a key says is for rules: the model knows sentences.
_KEY_AND_VALUE = re.compile(r"[^:\n]{1,80}: \S+")
_MAX_WORDS_FROM_CUE = 6
_MAX_NEAR_CHARACTERS = 200
_MAX_CHARACTERS, MAX_QUESTION_CHARACTERS = 20_000, 300


class _Cues(dict[str, bool]):
    """Whether a token, as :func:`features.split_tokens` gives it, speaks for a user name somewhere near."""

    def __init__(self, scorer: Scorer, min_weight: float) -> None:
        super().__init__()
        self._scorer, self._min_weight = scorer, min_weight

    def __missing__(self, token: str) -> bool:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        found = self[token] = token.isalpha() and self._scorer.find_highest(token) >= self._min_weight
        return found


class _Value(NamedTuple):
    """How a candidate is written. ``weight`` is what that adds to its score, wherever it stands; ``further``
    how much more must speak for it."""

    looks: str
    weight: int
    further: float


class _Values(dict[str, _Value]):
    """Of one sort."""

    def __init__(self, scorer: Scorer) -> None:
        super().__init__()
        self._scorer, self._classify, self._describe = scorer, CLASSIFY[scorer.sort], DESCRIBE[scorer.sort]

    def __missing__(self, value: str) -> _Value:
        if len(self) >= _MAX_CACHED_VALUES:
            self.clear()
        sort, looks = self._scorer.sort, self._classify(value)
        further = get_further_odds(sort, looks)
        if sort == WORD and _is_numbered_thing(value):
            further += _FURTHER_ODDS_OF_THINGS
        found = self[value] = _Value(looks, self._scorer.weigh_value(self._describe(value)), further)
        return found


class DetectionModel:
    """``weights`` are for the odds of being personal; ``kinds`` [kinds, buckets] tell numbers apart."""

    def __init__(self, weights: Weights, kinds: Any, thresholds: Mapping[str, float]) -> None:
        self._kinds, self._thresholds, self._scale = kinds, thresholds, weights.scale
        self._scorers = {sort: Scorer(weights, sort) for sort in (NUMBER, DATE, WORD)}
        self._values = {sort: _Values(scorer) for sort, scorer in self._scorers.items()}
        self._cues = _Cues(self._scorers[WORD], MIN_CUE_WEIGHT / weights.scale)
        self._min_odd_weight = MIN_ODD_WEIGHT / weights.scale
        self._parts = parts.Parts(self._cues.__getitem__, self._is_odd)

    def find(self, text: str, question: str = "", known: Sequence[Match] = ()) -> list[Match]:
        """The values in ``text`` that ``known`` ones don't touch; those of different classes may overlap.

        The text may answer ``question``.
        """
        words = text.split()
        asked = split_question(question) if question else None
        asks = asked is not None and any(map(self._cues.__getitem__, asked))
        if not asks and self._parts.plain.issuperset(words):
            return []
        flags = [part.flags for part in map(self._parts.__getitem__, words)]
        united = parts.unite(flags)
        candidates: list[Candidate] = []
        if united & parts.DIGITS and parts.count_digits_in_row(flags) >= parts.MIN_NUMBER_DIGITS:
            candidates += (found for found in find_numbers(text) if question or not _is_of_thing(text, found))
        if united & parts.DATES and parts.may_hold_date(flags):
            candidates += (found for found in find_dates(text) if not _is_of_other_event(text, found))
        candidates = _leave_out(candidates, known)
        # A key or a tag has nothing around it, nor a question before it.
        looks_at_words = asks or (united & (parts.CUE | parts.ODD) and (len(flags) > 1 or question))
        if not candidates and not looks_at_words:
            return []
        split = self._parts.split(text)
        if looks_at_words:
            chosen = split.words if asks else self._choose_words(split)
            candidates += _leave_out((Candidate(WORD, start, end) for start, end, _, _ in chosen), known)
        return [
            Match(self._choose_kind(text, candidate, question), candidate.start, candidate.end)
            for candidate in candidates
            if self._is_personal(split.context, candidate, asked)
        ]

    def _is_personal(self, context: Context, candidate: Candidate, asked: tuple[str, ...] | None) -> bool:
        sort, start, end = candidate
        value = context.text[start:end]
        looks, weight, further = self._values[sort][value]
        score = self._scorers[sort].score(context, start, end, looks, weight, asked) * self._scale
        if score < self._thresholds[sort] + further:
            return False
        if sort != WORD:
            return True
        # McDonald's: a brand, or a person that the name model is for.
        is_possessive = looks == "name" and context.text[end : end + 1] in ("'", "’")
        return not is_possessive and not _is_no_name(value)

    def _choose_kind(self, text: str, candidate: Candidate, question: str) -> str:
        if candidate.sort != NUMBER:
            return DATE_OF_BIRTH if candidate.sort == DATE else HANDLE
        buckets = [
            bucket % KIND_BUCKETS
            for feature in set(list_features(text, candidate, question))
            for bucket in hash_feature(NUMBER, feature)
        ]
        return NUMBER_KINDS[int(self._kinds[:, buckets].sum(axis=1).argmax())]

    def _is_odd(self, word: str) -> bool:
        looks, weight, _ = self._values[WORD][word]
        return looks in _ODD_LOOKS or (looks not in _PLAIN_LOOKS and weight >= self._min_odd_weight)

    def _choose_words(self, split: parts.SplitText) -> Iterator[parts.Word]:
        """Words that are like a user name by themselves, or near one that speaks for a user name."""
        text = split.context.text
        for word in split.words:
            start, end, first, last = word
            is_near = _is_near(split.cues, first, last)
            if (is_near or self._is_odd(text[start:end])) and not _is_of_text(text, start, end):
                yield word


def _is_near(cues: Sequence[int], first: int, last: int) -> bool:
    """Whether a cue is close. A word's own parts are none: "github_login" is no name because of them."""
    for cue in cues:
        if -_MAX_WORDS_FROM_CUE <= cue - first <= _MAX_WORDS_FROM_CUE and not first <= cue < last:
            return True
    return False


def _is_of_text(text: str, start: int, end: int) -> bool:
    """Whether it is ":rotating_light:", or begins a list of anything; lists of people are told by rules."""
    if text[start - 1 : start] == ":" == text[end : end + 1]:
        return True
    return text[start - 2 : start] in ("- ", "* ") and (start == 2 or text[start - 3] == "\n")


def get_further_odds(sort: str, looks: str) -> float:
    """How much more than usual must speak for a value that is written like this."""
    if sort == WORD:
        return FURTHER_ODDS[looks]
    return FURTHER_ODDS_OF_DATES.get(looks, 0.0) if sort == DATE else 0.0


def _is_numbered_thing(word: str) -> bool:
    stem = word.rstrip("0123456789.-_")
    return is_software(stem) or stem.lower() in THINGS or stem.lower() in COUNTERS


def _is_no_name(word: str) -> bool:
    if word[-1].isdigit() and is_software(word[:-1]):
        return True  # python3
    return word.lower() in NO_NAMES or _VERSION_OR_CODE.fullmatch(word) is not None


def _is_of_thing(text: str, number: Candidate) -> bool:
    """Without any word, in code, JSON or an address of the web, or right behind a word such as "order"."""
    start = number.start
    if text[number.end : number.end + 1] == ")" and _CALL.search(text, max(0, start - 2), start):
        return True
    before = text[max(0, start - _MAX_NEAR_CHARACTERS) : start]
    if _JSON_KEY.search(before[-4:]):
        return True
    after = text[number.end : number.end + _MAX_NEAR_CHARACTERS]
    if not any(map(str.isalpha, before + after)):
        return True
    if not OTHER_WORDS.isdisjoint(text[max(0, start - 24) : start].lower().replace(":", " ").split()[-2:]):
        return True
    return "://" in before and "://" in before.split()[-1]


def _is_of_other_event(text: str, date: Candidate) -> bool:
    before = text[max(0, date.start - 30) : date.start]
    # "nato" is born in Italian.
    return "NATO" in before or _OTHER_EVENT.search(before) is not None


@cache
def load_detection_model() -> DetectionModel:
    with np.load(WEIGHTS_PATH) as stored:
        weights = Weights(stored["weights"], float(stored["scale"]))
        kinds = stored["kinds"].astype(np.float32)
        thresholds = dict(zip((NUMBER, DATE, WORD), stored["thresholds"].tolist(), strict=True))
        assert len(stored["weights"]) == BUCKETS
    return DetectionModel(weights, kinds, thresholds)


def search_folded(text: str, known: Sequence[Match] = ()) -> list[Match]:
    """What the model finds in a folded text without placeholders, beside what rules ``known`` have."""
    if len(text) > _MAX_CHARACTERS or (": " in text and _KEY_AND_VALUE.fullmatch(text)):
        return []
    return load_detection_model().find(text, known=known)


def _leave_out(candidates: Iterable[Candidate], known: Sequence[Match]) -> list[Candidate]:
    """Those that no known value touches."""
    return [candidate for candidate in candidates if not overlaps_any(candidate, known)]


def overlaps_any(match: Match | Candidate, others: Sequence[Match]) -> bool:
    return any(match.start < other.end and other.start < match.end for other in others)


def find_answers(question: str, reply: str) -> list[Match]:
    """What it finds in a reply, knowing the end of the question before it."""
    return load_detection_model().find(reply, question[-MAX_QUESTION_CHARACTERS:])
