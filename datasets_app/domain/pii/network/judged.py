"""Personal data that only the words around decide, by the network: in English all but names (joined.py)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.pii.detector import (
    ACCOUNT,
    ADDRESS,
    DATE_OF_BIRTH,
    HANDLE,
    ID_NUMBER,
    NAME,
    PHONE,
    PRECISION,
    RECALL,
    Match,
)
from datasets_app.domain.pii.network.learned import read_unknown_script
from datasets_app.domain.pii.network.runtime import CLASSES, IsWanted, Reading, load_network
from datasets_app.domain.pii.network.words import Word, is_placeholder

# Up to this probability of being English the network finds the names of a text, above it the English model.
MAX_ENGLISH = 0.9
# So few words may be English where none of them tells the language, or English is as likely as this.
MAX_UNCERTAIN_WORDS, UNCERTAIN_ENGLISH = 3, 0.2


class _Class(NamedTuple):
    """A word is of the class from ``threshold`` on, and beside such a word from ``beside`` on. ``digits`` are
    the fewest that a value has; ``joiners`` may stand between its words, ``openers`` before them."""

    kind: str
    threshold: float
    beside: float
    digits: int
    joiners: str
    openers: str = ""


_CLASSES = (
    _Class(NAME, 0.2, 0.15, 0, "-‐‑.'’·・"),
    _Class(HANDLE, 0.3, 0.2, 0, "@_.-#", "@"),
    _Class(PHONE, 0.12, 0.08, 5, "+-–./()", "+("),
    _Class(ADDRESS, 0.25, 0.12, 1, ",.-–/ºª'’"),
    _Class(DATE_OF_BIRTH, 0.15, 0.08, 2, ".-–/,年月日년월일"),
    _Class(ID_NUMBER, 0.12, 0.08, 3, ".-–/"),
    _Class(ACCOUNT, 0.12, 0.08, 3, ".-–/"),
)
_CLASSES_BY_PREFERENCE = {
    RECALL: _CLASSES,
    # No other word should be taken for a name: only what very likely is one.
    PRECISION: (_CLASSES[0]._replace(threshold=0.7, beside=0.4), *_CLASSES[1:]),
}
# What is written like any word must be this much more likely a user name.
_PLAIN_SHARE = 0.65
_MIN_HANDLE = 4
# The signs that join what belongs together, and what stands on both sides of one.
_WIDENED: dict[str, tuple[str, Callable[[str], bool]]] = {
    HANDLE: ("-_.", str.isalnum),
    DATE_OF_BIRTH: ("-/.", str.isdigit),
}
# So many words may be a date without a digit: "the third of May nineteen eighty".
_SPELLED_WORDS = 3
_PERSONAL = [CLASSES.index(item.kind) for item in _CLASSES]
_NAME, *_VALUES = _PERSONAL
# What is less likely than this where a reply is read alone is no value behind a question either, unless that
# has so few words that they say nothing of each other.
_LEAST_OF_REPLIES, _FEW_WORDS = 0.002, 4


class ReplyHint(NamedTuple):
    """What a reply may hold behind a question: a value of any class but names, a name."""

    value: bool
    name: bool


class JudgedText(NamedTuple):
    """What the network makes of a text. ``is_english``: the English model has a say in its names; so it has
    in a few words that may be of any language."""

    reading: Reading
    is_english: bool

    def find(self, kinds: frozenset[str], prefer: str = RECALL) -> list[Match]:
        """The values of these classes, each class in order and without overlaps. Of two classes for the same
        words the likelier is meant."""
        probabilities = self.reading.probabilities
        if not len(probabilities):
            return []
        highest = probabilities.max(axis=0)
        likely = [
            (item, column)
            for item, column in zip(_CLASSES_BY_PREFERENCE[prefer], _PERSONAL, strict=True)
            if highest[column] >= item.threshold and item.kind in kinds
        ]
        words = self.reading.words if likely else []
        found = [
            match for item, column in likely for match in _list_values(words, probabilities[:, column], item)
        ]
        outweighed = set(_list_outweighed(found))
        return [match for match in found if match not in outweighed]

    @property
    def hint(self) -> ReplyHint | None:
        """What it may hold behind a question; None if it was not read for that."""
        if not len(self.reading.probabilities) and _has_digit(self.reading):
            return None
        if 0 < len(self.reading.probabilities) <= _FEW_WORDS:
            return ReplyHint(True, True)
        may_be = self.reading.probabilities.max(axis=0, initial=0) >= _LEAST_OF_REPLIES
        return ReplyHint(bool(may_be[_VALUES].any()), bool(may_be[_NAME]))


def judge_replies(replies: Sequence[tuple[str, str]], hints: dict[str, ReplyHint]) -> dict[str, JudgedText]:
    """What the network makes of texts that end with a reply (text, reply), where values are of interest in
    the reply alone; without those that hold none. ``hints`` says what the network made of replies alone, and
    is completed. English names are not looked for."""
    new = list({reply: None for _, reply in replies if reply not in hints})
    alone = _judge(new, lambda reading: _may_hold_values(reading) or _has_digit(reading))
    hints.update((reply, hint) for reply, judged in zip(new, alone, strict=True) if (hint := judged.hint))
    told = {text: hints[reply] for text, reply in replies if any(hints[reply])}
    judged = _judge(list(told), lambda text: told[text.text].value or text.english <= MAX_ENGLISH)
    return dict(zip(told, judged, strict=True))


def judge_texts(texts: Sequence[str]) -> list[JudgedText]:
    """What the network makes of each text. English texts of nothing but frequent words have no values, but
    for names."""
    return _judge(texts, _may_hold_values)


def _judge(texts: Sequence[str], is_wanted: IsWanted) -> list[JudgedText]:
    return [
        JudgedText(reading, reading.english > MAX_ENGLISH or _may_be_english(reading))
        for reading in load_network().read_many(texts, is_wanted)
    ]


def _may_hold_values(reading: Reading) -> bool:
    return not reading.is_plain or reading.english <= MAX_ENGLISH or not reading.is_told


def _has_digit(reading: Reading) -> bool:
    return any(map(str.isdigit, reading.text))


def _may_be_english(reading: Reading) -> bool:
    """Few words that tell no language may be: "rajesh kumar"."""
    is_uncertain = not reading.is_told or UNCERTAIN_ENGLISH < reading.english <= MAX_ENGLISH
    return is_uncertain and sum(word.text[0].isalpha() for word in reading.words) <= MAX_UNCERTAIN_WORDS


def _list_outweighed(found: Sequence[Match]) -> Iterator[Match]:
    """Values that have nothing but what a likelier one of another class has, too. Those of a class don't
    overlap, so of each only the last that begins before a value can have all of it."""
    last: dict[str, Match] = {}
    for match in sorted(found, key=lambda match: (match.start, -match.end, -match.score)):
        if any(match.end <= other.end and match.score < other.score for other in last.values()):
            yield match
        last[match.kind] = match


def _list_values(words: Sequence[Word], scores: Any, item: _Class) -> Iterator[Match]:
    likely = [
        score >= item.beside and _may_be_part(word, item) for word, score in zip(words, scores, strict=True)
    ]
    if item.kind == HANDLE:
        scores = scores * [_weigh_handle(words, number) for number in range(len(words))]
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and (likely[end] or (end > start and _joins(words, likely, end, item))):
            if end > start and words[end].start > words[end - 1].end + (item.kind != HANDLE):
                break
            end += 1
        first, last = _widen(words, start, end, item) if end > start else (start, end)
        yield from _make_match(words[first:last], scores[first:last], item)
        start = max(end, start + 1)


def _widen(words: Sequence[Word], start: int, end: int, item: _Class) -> tuple[int, int]:
    """A user name and a date go whole, with what is joined to them: silver-otter, 03.11.2026."""
    if item.kind not in _WIDENED:
        return start, end
    signs, is_part = _WIDENED[item.kind]
    while start + 1 < end and words[start].text in signs:
        start += 1
    while end - 1 > start and words[end - 1].text in signs:
        end -= 1
    while start > 1 and words[start - 1].text in signs and _touch(words[start - 2 : start + 1], is_part):
        start -= 2
    while end + 1 < len(words) and words[end].text in signs and _touch(words[end - 1 : end + 2], is_part):
        end += 2
    return start, end


def _touch(words: Sequence[Word], is_part: Callable[[str], bool]) -> bool:
    """Whether nothing stands between these words, and the first and the last are parts."""
    ends = is_part(words[0].text[-1:]) and is_part(words[-1].text[:1])
    return ends and all(one.end == other.start for one, other in zip(words, words[1:], strict=False))


def _weigh_handle(words: Sequence[Word], number: int) -> float:
    """Less for words without the digits, signs and capitals by which user names differ from others; nothing
    for the rest of an identifier whose name was replaced: report_[NAME]."""
    word = words[number].text
    if "_" in (word[0], word[-1]) and word.replace("_", "").isalpha():
        beside = words[number - 1 : number] if word[0] == "_" else words[number + 1 : number + 2]
        if any(is_placeholder(other.text) for other in beside):
            return 0.0
    return _PLAIN_SHARE if word.isalpha() and (word.islower() or word.istitle()) else 1.0


def _make_match(words: Sequence[Word], scores: Any, item: _Class) -> Iterator[Match]:
    if not words or scores.max() < item.threshold:
        return
    is_spelled = item.kind == DATE_OF_BIRTH and len(words) >= _SPELLED_WORDS
    if not is_spelled and sum(sign.isdigit() for word in words for sign in word.text) < item.digits:
        return
    inner = [word for word in words if _has_letter_or_digit(word) or word.text in item.openers]
    while inner and not _has_letter_or_digit(inner[-1]):
        inner.pop()
    if inner and (item.kind != HANDLE or inner[-1].end - inner[0].start >= _MIN_HANDLE):
        yield Match(item.kind, inner[0].start, inner[-1].end, float(scores.max()))


def _has_letter_or_digit(word: Word) -> bool:
    return any(map(str.isalnum, word.text))


def _may_be_part(word: Word, item: _Class) -> bool:
    """Whether the network can know it: of letters that it never learned its probabilities say nothing."""
    if word.text[0].isalpha() and read_unknown_script(word.text[0]):
        return False
    if item.kind != NAME:
        return "://" not in word.text
    return not any(sign.isdigit() or sign in "@_/" for sign in word.text)


def _joins(words: Sequence[Word], likely: Sequence[bool], number: int, item: _Class) -> bool:
    """Whether a sign stands between two parts of a value."""
    if words[number].text not in item.joiners or number + 1 == len(words) or not likely[number + 1]:
        return False
    gap = words[number + 1].start - words[number].end + words[number].start - words[number - 1].end
    return gap <= (item.kind != NAME or words[number].text == ".")
