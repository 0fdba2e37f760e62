"""Every detector of a policy over many strings at once, each distinct string looked at once."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from datasets_app.domain.pii.ages import find_ages
from datasets_app.domain.pii.custom_patterns import CustomPatterns
from datasets_app.domain.pii.detector import (
    ACCOUNT,
    ADDRESS,
    DATE_OF_BIRTH,
    HANDLE,
    ID_NUMBER,
    NAME,
    NETWORK_KINDS,
    ORDER_NUMBER,
    PATTERN_KINDS,
    PHONE,
    Detector,
    Match,
    merge_matches,
)
from datasets_app.domain.pii.entropy import is_digest, is_hexadecimal
from datasets_app.domain.pii.marks import MissedValueDetector
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.names import (
    JudgedTexts,
    NameFinder,
    load_name_finder,
    read_replies,
    read_texts,
)
from datasets_app.domain.pii.pieces import PROSE_KEYS, Place, is_prose
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.recognizer_files import RecognizerDetector
from datasets_app.domain.pii.rules.finder import RuleDetector, find_all
from datasets_app.domain.pii.rules.numbers.dates import is_of_range
from datasets_app.domain.pii.rules.numbers.order_numbers import OrderNumbers
from datasets_app.domain.pii.rules.numbers.other_words import is_of_thing
from datasets_app.domain.pii.rules.short_codes import is_thing
from datasets_app.domain.pii.rules.technical import drop_protected, find_protected
from datasets_app.domain.pii.rules.users.user_names import is_numbered_thing, may_be_user_name

if TYPE_CHECKING:
    from datasets_app.domain.pii.network.judged import JudgedText, ReplyHint

# Greetings, tags, metadata: what repeats is short. The memory this takes is bounded by both.
MAX_CACHED_CHARACTERS = MAX_QUESTION_CHARACTERS = 300
MAX_CACHED_TEXTS = 10_000
# High enough to replace the answer to a question, and below the score of values that have a shape.
ANSWER_SCORE = 0.8
MAX_KEYED_VALUE_CHARACTERS = 100
MIN_CODE_CHARACTERS = 16
MD5_CHARACTERS = 32
_NUMBER_KINDS = frozenset((PHONE, ID_NUMBER, ACCOUNT))

# Signs that join words in tags and ids: jane_fonseca, agent:maria.
_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")
_WORD = re.compile(r"[^\W\d_]+")
_DECIMAL = re.compile(r"\d*[.,]\d+")
# Between a date and its time of day stand no more than the rest of the date and a short word: at, um, à.
_TIME_BEHIND = re.compile(
    r"[\d./年月日년월일-]{0,8},?(?: {1,2}[^\W\d_]{1,4}\.?){0,2}[T ]{1,2}\d{1,2}[:h]\d\d(?!\d)"
)
_TIME_BEFORE = re.compile(r"\d:(?:\d\d[ ,]{1,2}[\d./-]{0,5})?\Z")
_ISO_DATE = re.compile(r"(?:19|20)\d\d-[01]\d-[0-3]\d")
_IN_JSON = re.compile(r"\" ?: ?\"\Z")
_JOINERS_TO_SPACES = str.maketrans("_-.:/=+", "       ")


_Key = TypeVar("_Key")


class DetectionInput(NamedTuple):
    """A string to look at. ``key`` is the one it stands under; ``is_text`` tells what people wrote."""

    text: str
    key: str = ""
    is_text: bool = True


class Detection:
    """The detectors of a policy. ``rules_only`` leaves out the models, for verification."""

    def __init__(self, policy: Policy, key: bytes, *, rules_only: bool = False) -> None:
        kinds = frozenset(policy.kinds)
        by_rules = kinds & frozenset(PATTERN_KINDS)
        self._rules: list[Detector] = [RuleDetector(by_rules)] if by_rules else []
        if ORDER_NUMBER in kinds:
            self._rules.append(OrderNumbers())
        self._told_by_keys = tuple(self._rules)
        if policy.patterns:
            self._rules.append(CustomPatterns(policy.patterns))
        if policy.recognizers:
            self._rules.append(RecognizerDetector(policy.recognizers))
        if policy.missed:
            self._rules.append(MissedValueDetector(policy.missed, key))
        self._finds_ages, self._prefer = DATE_OF_BIRTH in kinds, policy.prefer
        # Classes of which the network finds more. Names are apart.
        self._judged = kinds & NETWORK_KINDS - {NAME}
        self._names: NameFinder | None = None
        if NAME in kinds and not rules_only:
            self._names = load_name_finder(policy.name_models, policy.prefer)
        self._cache: dict[DetectionInput, list[Match]] = {}
        self._answers: dict[tuple[str, str], list[Match]] = {}
        self._hints: dict[str, ReplyHint] = {}

    def find_many(self, inputs: Sequence[DetectionInput]) -> list[list[Match]]:
        """What is found in each of ``inputs``; the lists are shared, and not to be changed."""
        return _look_up(
            self._cache, inputs, self._detect, lambda item: len(item.text) <= MAX_CACHED_CHARACTERS
        )

    def find_answers(self, pairs: Sequence[tuple[str, str]]) -> list[list[Match]]:
        """What the network finds in replies when it knows the questions before them (question, reply)."""
        kinds = self._judged | ({NAME} if self._names else set())
        if not kinds or not pairs:
            return [[] for _ in pairs]

        def find(new: Sequence[tuple[str, str]]) -> list[list[Match]]:
            judged = read_replies([(_join(*pair), pair[1]) for pair in new], self._hints)
            return [_find_in_reply(_join(*pair), pair[1], judged, kinds, self._prefer) for pair in new]

        return _look_up(self._answers, pairs, find)

    def _detect(self, inputs: Sequence[DetectionInput]) -> list[list[Match]]:
        is_judging = self._judged or self._names is not None
        judged = read_texts([item.text for item in inputs if item.is_text]) if is_judging else {}
        self._keep_hints(judged)
        by_rules = [self._judge(self._find_by_rules(item), item, judged) for item in inputs]
        if self._names is None:
            return by_rules
        names = self._names.find_many(
            [item.text if item.is_text else _split_identifier(item.text) for item in inputs], judged
        )
        return [
            rules
            + self._complete_names(found if item.is_text else _keep_full_names(found, item.text), item.text)
            for item, rules, found in zip(inputs, by_rules, names, strict=True)
        ]

    def _keep_hints(self, judged: JudgedTexts) -> None:
        """What texts may hold behind a question, for :meth:`find_answers`."""
        if len(self._hints) > MAX_CACHED_TEXTS:
            self._hints.clear()
        short = ((text, read) for text, read in judged.items() if len(text) <= MAX_CACHED_CHARACTERS)
        self._hints.update((text, hint) for text, read in short if (hint := read.hint))

    def _judge(self, found: list[Match], item: DetectionInput, judged: JudgedTexts) -> list[Match]:
        text = judged.get(item.text) if item.is_text else None
        return found if text is None else add_judged(found, item.text, text, self._judged)

    def _complete_names(self, found: list[Match], text: str) -> list[Match]:
        """The names that are people, and the ages beside them."""
        found = drop_protected(found, find_protected(text)) if found else found
        names = [match for match in drop_matches_in_codes(found, text) if not is_thing(text, match)]
        return [*names, *find_ages(text, names)] if names and self._finds_ages else names

    def _find_by_rules(self, item: DetectionInput) -> list[Match]:
        found = list(chain.from_iterable(detector.find(item.text) for detector in self._rules))
        return found or self._find_with_key(item)

    def _find_with_key(self, item: DetectionInput) -> list[Match]:
        """{"phone": "5551234567"}: the key says what the bare number is."""
        if (
            not (self._told_by_keys and _PLAIN_KEY.fullmatch(item.key))
            or len(item.text) > MAX_KEYED_VALUE_CHARACTERS
        ):
            return []
        prefix = f"{item.key.replace('_', ' ')}: "
        shift = len(prefix)
        return [
            match._replace(start=match.start - shift, end=match.end - shift)
            for detector in self._told_by_keys
            for match in detector.find(prefix + item.text)
            if match.start >= shift
        ]


def _look_up(
    known: dict[_Key, list[Match]],
    wanted: Sequence[_Key],
    find: Callable[[Sequence[_Key]], list[list[Match]]],
    is_kept: Callable[[_Key], bool] = lambda key: True,
) -> list[list[Match]]:
    """What is known of each, and what ``find`` finds of the others, which is remembered if it ``is_kept``."""
    new = [key for key in dict.fromkeys(wanted) if key not in known]
    found = dict(zip(new, find(new), strict=True))
    answer = [found[key] if key in found else known[key] for key in wanted]
    if len(known) > MAX_CACHED_TEXTS:
        known.clear()
    known.update((key, found[key]) for key in new if is_kept(key))
    return answer


def make_input(place: Place, text: str, is_text: bool | None = None) -> DetectionInput:
    """A string as every door sees it. A key such as "text" says nothing of what stands under it."""
    key = "" if place.key in PROSE_KEYS else place.key
    return DetectionInput(text, key, is_prose(place, text) if is_text is None else is_text)


def merge_values(found: Iterable[Match]) -> list[Match]:
    """Overlapping matches as one value, of the class by which a scrub replaces it. A name that touches
    another value is a part of it, so that all else is the same with names and without."""
    found = list(found)
    if len(found) < 2:
        return found
    values = merge_matches(match for match in found if match.kind != NAME)
    names = [
        match
        for match in found
        if match.kind == NAME
        and not any(match.start < value.end and value.start < match.end for value in values)
    ]
    return sorted(values + names, key=lambda match: match.start)


def find_values(text: str) -> list[Match]:
    """The values of all classes but names in what people wrote, as a scrub and its verification find them."""
    found = add_judged(find_all(text), text, read_texts([text])[text], NETWORK_KINDS - {NAME})
    return sorted(found, key=lambda match: (match.start, -match.end))


def add_judged(found: list[Match], text: str, judged: "JudgedText", kinds: frozenset[str]) -> list[Match]:
    """What rules found in a text, and the values of ``kinds`` that only the words around tell."""
    more = [
        match
        for match in judged.find(kinds)
        if not (_is_decided(match, found) or _is_of_thing(text, match) or is_thing(text, match))
    ]
    return found + (drop_protected(more, find_protected(text)) if more else more)


def _join(question: str, reply: str) -> str:
    return f"{question[-MAX_QUESTION_CHARACTERS:]}\n{reply}"


def _find_in_reply(
    text: str, reply: str, judged: JudgedTexts, kinds: frozenset[str], prefer: str
) -> list[Match]:
    """The values of ``kinds`` in the reply that ends the text. English names are for another model."""
    if text not in judged:
        return []
    start = len(text) - len(reply)
    found = judged[text].find(kinds - {NAME} if judged[text].is_english else kinds, prefer)
    found = [
        match
        for match in found
        if match.start >= start and not (_is_of_thing(text, match) or is_thing(text, match))
    ]
    found = drop_protected(found, find_protected(text)) if found else found
    return [
        match._replace(start=match.start - start, end=match.end - start, score=ANSWER_SCORE)
        for match in found
    ]


def _is_of_event(text: str, match: Match) -> bool:
    """Whether the date has a time of day, is an end of a range, or the text has no word at all:
    "2026-03-01 09:12"."""
    return (
        is_of_range(text, match.start, match.end)
        or _TIME_BEHIND.match(text, match.end) is not None
        or _TIME_BEFORE.search(text, max(0, match.start - 12), match.start) is not None
        or not any(map(str.isalpha, text[: match.start] + text[match.end :]))
    )


def _is_of_thing(text: str, match: Match) -> bool:
    """Whether form or words before it say that it is a thing's: gcc13, 0.63202, order number 63202."""
    value = text[match.start : match.end]
    if match.kind == HANDLE:
        return is_numbered_thing(value) or not may_be_user_name(value) or _is_identifier(text, match)
    if match.kind == DATE_OF_BIRTH:
        return _is_of_event(text, match)
    if match.kind not in _NUMBER_KINDS:
        return False
    if _TIME_BEFORE.search(text, max(0, match.start - 8), match.start) or _ISO_DATE.fullmatch(value):
        return True
    is_decimal = _DECIMAL.fullmatch(text, max(0, match.start - 2), match.end) is not None
    return is_decimal or is_of_thing(text, match.start, match.end)


def _is_identifier(text: str, match: Match) -> bool:
    """Whether it is a digest, or of code: words without a name, as a constant (YOUR_NAME_HERE) or in JSON
    ("name": "get_weather")."""
    value = text[match.start : match.end]
    if is_digest(value) or (len(value) == MD5_CHARACTERS and is_hexadecimal(value)):
        return True
    words = [word for word in value.split("_") if word]
    if "_" not in value or not "".join(words).isalpha() or any(map(_is_name, words)):
        return False
    return value.isupper() or _IN_JSON.search(text, max(0, match.start - 4), match.start) is not None


def _is_name(word: str) -> bool:
    """Whether it is a first or a last name, and no word."""
    first, last, common = look_up_word(word)
    return (first > 0 and common < 2) or (last > 0 and not common)


def _is_decided(match: Match, by_rules: Sequence[Match]) -> bool:
    """Whether rules have found a value in the place of ``match``; of an address or a date, maybe a part."""
    return any(
        match.start < found.end and found.start < match.end and not _is_part(found, match)
        for found in by_rules
    )


def _is_part(found: Match, match: Match) -> bool:
    has_more = match.start < found.start or found.end < match.end
    return match.kind == found.kind and match.kind in (ADDRESS, DATE_OF_BIRTH) and has_more


def _split_identifier(text: str) -> str:
    """An identifier as words, for the models; of the same length."""
    return text if " " in text else text.translate(_JOINERS_TO_SPACES)


def _keep_full_names(matches: list[Match], text: str) -> list[Match]:
    """In a tag or an id one word may be a product (claude-3); a known first and last name are a person."""
    return [match for match in matches if _is_full_name(text[match.start : match.end])]


def _is_full_name(value: str) -> bool:
    known = [look_up_word(word) for word in _WORD.findall(value)]
    return (
        len(known) > 1
        and all(word.first + word.last and word.common < 2 for word in known)
        and any(word.common == 0 for word in known)
    )


def drop_matches_in_codes(matches: list[Match], text: str) -> list[Match]:
    """Drop names within digests, serial numbers and file extensions."""
    return [match for match in matches if not (_is_in_code(text, match) or _is_file_extension(text, match))]


def _is_in_code(text: str, match: Match) -> bool:
    start, end = match.start, match.end
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    run = text[start:end]
    return (
        len(run) >= MIN_CODE_CHARACTERS and len(run) > match.end - match.start and any(map(str.isdigit, run))
    )


def _is_file_extension(text: str, match: Match) -> bool:
    """settings.py, logs.jsonl; but the doe of jane.doe is known."""
    start = match.start
    if start < 2 or text[start - 1] != "." or not text[start - 2].isalnum():
        return False
    word = text[start : match.end]
    known = look_up_word(word)
    return word.islower() and not known.first and not known.last
