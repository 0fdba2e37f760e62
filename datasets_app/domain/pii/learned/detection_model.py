"""The packaged detection model: what looks like a number or a date, judged by its context.

Rules know phrases; this knows which words speak for a value, in which place and how much, and so judges
wording that nobody wrote down. It is linear: the weights of a candidate's features add up to the logarithm of
its odds. See docs/detection-model.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.pii.detector import ACCOUNT, DATE_OF_BIRTH, ID_NUMBER, PHONE, Match
from datasets_app.domain.pii.learned import parts
from datasets_app.domain.pii.learned.candidates import (
    DATE,
    NUMBER,
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
from datasets_app.domain.pii.rules.birth_words import OTHER_EVENT
from datasets_app.domain.pii.rules.other_words import OTHER_WORDS

WEIGHTS_PATH = Path(__file__).parent / "weights.npz"
KINDS = frozenset((PHONE, ID_NUMBER, ACCOUNT, DATE_OF_BIRTH))
NUMBER_KINDS = (PHONE, ID_NUMBER, ACCOUNT)
KIND_BUCKETS = 1 << 18
_MAX_CACHED_VALUES = 30_000
FURTHER_ODDS_OF_DATES = {"year": 1.5, "short": 0.5}
# print(42150373126)
_CALL = re.compile(r"\w\(\Z")
# "product_id": "9832717871": what a key says is for rules, here as in metadata.
_JSON_KEY = re.compile(r"\"\s?:\s?\"?\Z")
# "submitted 12/03/2024", "order placed on 12/03/2024"
_OTHER_EVENT = re.compile(
    rf"(?<![^\W_])(?:{OTHER_EVENT}|placed)[^\W\d_]{{0,9}}\W{{1,3}}(?:on )?\Z", re.IGNORECASE
)
# As checks and scrubs put it for metadata. What a key says is for rules: the model knows sentences.
_KEY_AND_VALUE = re.compile(r"[^:\n]{1,80}: \S+")
_MAX_NEAR_CHARACTERS = 200
_MAX_CHARACTERS, MAX_QUESTION_CHARACTERS = 20_000, 300


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
        found = self[value] = _Value(looks, self._scorer.weigh_value(self._describe(value)), further)
        return found


class DetectionModel:
    """``weights`` are for the odds of being personal; ``kinds`` [kinds, buckets] tell numbers apart."""

    def __init__(self, weights: Weights, kinds: Any, thresholds: Mapping[str, float]) -> None:
        self._kinds, self._thresholds, self._scale = kinds, thresholds, weights.scale
        self._scorers = {sort: Scorer(weights, sort) for sort in (NUMBER, DATE)}
        self._values = {sort: _Values(scorer) for sort, scorer in self._scorers.items()}
        self._parts = parts.Parts()

    def find(self, text: str, question: str = "", known: Sequence[Match] = ()) -> list[Match]:
        """The values in ``text`` that ``known`` ones don't touch; those of different classes may overlap.

        The text may answer ``question``.
        """
        words = text.split()
        if self._parts.plain.issuperset(words):
            return []
        flags = [part.flags for part in map(self._parts.__getitem__, words)]
        united = parts.unite(flags)
        candidates: list[Candidate] = []
        if united & parts.DIGITS and parts.count_digits_in_row(flags) >= parts.MIN_NUMBER_DIGITS:
            candidates += (
                found
                for found in find_numbers(text)
                if question or not is_of_thing(text, found.start, found.end)
            )
        if united & parts.DATES and parts.may_hold_date(flags):
            candidates += (found for found in find_dates(text) if not _is_of_other_event(text, found))
        candidates = _leave_out(candidates, known)
        if not candidates:
            return []
        context = self._parts.split(text)
        asked = split_question(question) if question else None
        return [
            Match(self._choose_kind(text, candidate, question), candidate.start, candidate.end)
            for candidate in candidates
            if self._is_personal(context, candidate, asked)
        ]

    def _is_personal(self, context: Context, candidate: Candidate, asked: tuple[str, ...] | None) -> bool:
        sort, start, end = candidate
        value = context.text[start:end]
        looks, weight, further = self._values[sort][value]
        score = self._scorers[sort].score(context, start, end, looks, weight, asked) * self._scale
        return score >= self._thresholds[sort] + further

    def _choose_kind(self, text: str, candidate: Candidate, question: str) -> str:
        if candidate.sort != NUMBER:
            return DATE_OF_BIRTH
        buckets = [
            bucket % KIND_BUCKETS
            for feature in set(list_features(text, candidate, question))
            for bucket in hash_feature(NUMBER, feature)
        ]
        return NUMBER_KINDS[int(self._kinds[:, buckets].sum(axis=1).argmax())]


def get_further_odds(sort: str, looks: str) -> float:
    """How much more than usual must speak for a value that is written like this."""
    return FURTHER_ODDS_OF_DATES.get(looks, 0.0) if sort == DATE else 0.0


def is_of_thing(text: str, start: int, end: int, reach: int = 2) -> bool:
    """Without any word, in code, JSON or an address of the web, or up to ``reach`` words behind one such as
    "order"."""
    if text[end : end + 1] == ")" and _CALL.search(text, max(0, start - 2), start):
        return True
    before = text[max(0, start - _MAX_NEAR_CHARACTERS) : start]
    if _JSON_KEY.search(before[-4:]):
        return True
    after = text[end : end + _MAX_NEAR_CHARACTERS]
    if not any(map(str.isalpha, before + after)):
        return True
    if not OTHER_WORDS.isdisjoint(
        text[max(0, start - 24) : start].lower().replace(":", " ").split()[-reach:]
    ):
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
        thresholds = dict(zip((NUMBER, DATE), stored["thresholds"].tolist(), strict=False))
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
