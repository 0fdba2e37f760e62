"""Personal data in texts of any language but English, by the network: what only the words around decide."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.pii.detector import (
    ACCOUNT,
    ADDRESS,
    DATE_OF_BIRTH,
    HANDLE,
    ID_NUMBER,
    NAME,
    PHONE,
    Match,
)
from datasets_app.domain.pii.network.runtime import CLASSES, Reading, load_network
from datasets_app.domain.pii.network.words import Word

# Up to this probability of being English a text is read by the network.
MAX_ENGLISH = 0.8
# So few words may be English where none of them tells the language, or English is as likely as this.
MAX_UNCERTAIN_WORDS, UNCERTAIN_ENGLISH = 3, 0.2
# A rule's user name is one only if the network finds it as likely as this that its words are personal.
MIN_SUPPORT = 0.1


class _Class(NamedTuple):
    """A word is of the class from ``threshold`` on, and beside such a word from ``beside`` on. ``digits`` are
    the fewest that a value has; ``joiners`` may stand between its words."""

    kind: str
    threshold: float
    beside: float
    digits: int
    joiners: str


_CLASSES = (
    _Class(NAME, 0.3, 0.2, 0, "-‐‑.'’·・"),
    _Class(HANDLE, 0.5, 0.3, 0, "@_.-#"),
    _Class(PHONE, 0.5, 0.3, 5, "+-–./()"),
    _Class(ADDRESS, 0.5, 0.3, 1, ",.-–/ºª'’"),
    _Class(DATE_OF_BIRTH, 0.5, 0.3, 2, ".-–/,年月日년월일"),
    _Class(ID_NUMBER, 0.5, 0.3, 3, ".-–/"),
    _Class(ACCOUNT, 0.5, 0.3, 3, ".-–/"),
)
_PERSONAL = [CLASSES.index(item.kind) for item in _CLASSES]


class ForeignText(NamedTuple):
    """What the network makes of a text that isn't English."""

    reading: Reading

    def find(self, kinds: frozenset[str]) -> list[Match]:
        """The values of these classes, each class in order and without overlaps."""
        return [
            match for item in _CLASSES if item.kind in kinds for match in _list_values(self.reading, item)
        ]

    @property
    def highest(self) -> float:
        """The highest probability that a word is part of a name."""
        return float(self.reading.probabilities[:, CLASSES.index(NAME)].max(initial=0))

    def supports(self, match: Match) -> bool:
        """Whether what a rule found may be personal."""
        words = [
            number
            for number, word in enumerate(self.reading.words)
            if word.start < match.end and match.start < word.end
        ]
        likely = self.reading.probabilities[words][:, _PERSONAL].sum(axis=1)
        return not words or float(likely.max()) >= MIN_SUPPORT


def read_foreign(texts: Sequence[str]) -> list[ForeignText | None]:
    """What the network makes of each text; None for one that is English, or is taken for it, as its few words
    tell no language: "rajesh kumar"."""
    return [
        None if reading.probabilities is None or _may_be_english(reading) else ForeignText(reading)
        for reading in load_network().read_many(texts, max_english=MAX_ENGLISH)
    ]


def _may_be_english(reading: Reading) -> bool:
    is_uncertain = not reading.is_told or reading.english > UNCERTAIN_ENGLISH
    return is_uncertain and sum(word.text[0].isalpha() for word in reading.words) <= MAX_UNCERTAIN_WORDS


def _list_values(reading: Reading, item: _Class) -> Iterator[Match]:
    words, scores = reading.words, reading.probabilities[:, CLASSES.index(item.kind)]
    if not len(words) or scores.max() < item.threshold:
        return
    likely = [
        score >= item.beside and _may_be_part(word, item) for word, score in zip(words, scores, strict=True)
    ]
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and (likely[end] or (end > start and _joins(words, likely, end, item))):
            if end > start and words[end].start > words[end - 1].end + 1:
                break
            end += 1
        yield from _make_match(words[start:end], scores[start:end], item)
        start = max(end, start + 1)


def _make_match(words: Sequence[Word], scores: Any, item: _Class) -> Iterator[Match]:
    if not words or scores.max() < item.threshold:
        return
    if sum(sign.isdigit() for word in words for sign in word.text) < item.digits:
        return
    inner = [word for word in words if word.text[0].isalnum() or word.text in "+@("]
    while inner and not inner[-1].text[0].isalnum():
        inner.pop()
    if inner:
        yield Match(item.kind, inner[0].start, inner[-1].end, float(scores.max()))


def _may_be_part(word: Word, item: _Class) -> bool:
    return item.kind != NAME or not any(sign.isdigit() or sign in "@_/" for sign in word.text)


def _joins(words: Sequence[Word], likely: Sequence[bool], number: int, item: _Class) -> bool:
    """Whether a sign stands between two parts of a value."""
    if words[number].text not in item.joiners or number + 1 == len(words) or not likely[number + 1]:
        return False
    gap = words[number + 1].start - words[number].end + words[number].start - words[number - 1].end
    return gap <= (item.kind != NAME or words[number].text == ".")
