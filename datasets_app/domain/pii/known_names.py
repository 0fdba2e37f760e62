"""Finds the names of a session's people again: joined as in file names, without accents, in any letter case.

In identifiers and names of files, their case forms are found as well: ``zpráva_Novákové.pdf``.

A name that is an ordinary word as well (Will, May, Stone) is found only where its place or a capital says
that a person is meant: "Thanks Will!", "I spoke with Will", not "I will". Two such words that follow each
other as in an identifier are the name: ``will_power.pdf``, ``WillPower``.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.inflections import find_ending, is_common, list_stems
from datasets_app.domain.pii.names.gazetteer import WordFacts, look_up_word
from datasets_app.domain.pii.names.person_cues import PARTICLES, TITLES, has_cue_before, has_cue_behind
from datasets_app.domain.pii.names.said_of import is_signature
from datasets_app.domain.pii.network.words import has_lone_characters, is_read_alone, split_words
from datasets_app.domain.pii.word_lists import read_word_lists

PROPAGATED_SCORE = 0.9
_MONTHS = read_word_lists(__file__)["months"]
MIN_WORD_CHARACTERS = 3  # two in Chinese, Japanese and Korean
# In an identifier of several words in camel case, a shorter one may be a word of the code: markDone.
MIN_CAMEL_CHARACTERS = 6
MIN_INITIALED_CHARACTERS = 5  # of the last name in jmueller
_FIRST_HAN, _FIRST_HANGUL = "\u3400", "\uac00"
_APOSTROPHE = re.compile("['’ʼ]")
_COMBINING = re.compile("[\u0300-\u036f]")
_JOINERS = r"(?:%20|[\s_.,+-]{0,2})"
_GLUE_BEFORE, _GLUE_BEHIND = re.compile(r"[\w/\\@#=+.-]\Z"), re.compile(r"[\w/\\@=+-]|\.\w")
_NOT_SHOWN = str.maketrans("łøđıħ", "lodih")
# How a letter with a sign is written where there is none: müller, mueller.
_SPELLINGS = (("ä", "ae"), ("ö", "oe"), ("ø", "oe"), ("ü", "ue"), ("å", "aa"), ("ß", "ss"), ("æ", "ae"))
# "Hi Will, …", but not "hi will you …": after a greeting, what goes on isn't a name.
_GOES_ON = re.compile(
    r"\s(?:i|you|u|we|he|she|it|they|this|that|there|these|the|a|an|my|your|our|do|be|try|have|not|also)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s?(?:[,.!?;:)\n]|\Z)")
# "Thanks Will!", and a word that comes between them.
_THANKED = re.compile(r"\b(?:thx|thanx|ty|tks|cheers|thanks|thank you|hi|hey|hello|dear)\s\Z", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“”(*•…-])\s*\Z")
_DETERMINER = re.compile(
    r"\b(?:the|an?|this|that|these|my|your|our|his|her|their|no|any|each|every|de[rsmn]|die|das|eine?[rnms]?"
    r"|keine?[rnms]?|dieser?|le|la|les|une?|el|los|las|una|il|lo|gli|het|een|uma?)\s\Z",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"\s([^\W\d_]+)")
# "Will, can you …"; a list goes on otherwise: "Power, water and gas", "May, June".
_CALLED = re.compile(r",\s(?![^\W\d_]+(?:,|\s(?:and|or|und|oder|et|ou|y|o|e)\b))[^\W\d_]*[a-zà-ÿ]")


class _Letters(dict[int, str]):
    """Letters in lower case without accents, one for one; those of East Asian scripts as they are."""

    def __missing__(self, point: int) -> str:
        letter = chr(point)
        if point < ord(_FIRST_HAN):
            small = letter.lower().translate(_NOT_SHOWN)
            base = "".join(p for p in unicodedata.normalize("NFKD", small) if unicodedata.category(p) != "Mn")
            letter = base if len(base) == 1 else small if len(small) == 1 else letter
        self[point] = letter
        return letter


_LETTERS = _Letters()


class _Name(NamedTuple):
    """A first and a last name. ``is_ordinary``: both are ordinary words."""

    pattern: re.Pattern[str]
    is_ordinary: bool


class _Word(NamedTuple):
    """A word of a name. ``exact`` is its own form in lower case, others are without its accents."""

    exact: str
    is_first: bool
    facts: WordFacts


class KnownNames:
    """The names found in one session so far."""

    def __init__(self) -> None:
        self._words: dict[str, _Word] = {}
        self._stems: set[str] = set()
        self._names: dict[tuple[str, ...], _Name] = {}
        self.words: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._words)

    def add(self, name: str) -> None:
        words = list_name_words(name)
        for place, word in enumerate(words):
            plain = word.lower()
            if plain in self.words:
                continue
            self.words.add(plain)
            facts = look_up_word(word)
            is_used = facts.first or facts.last or not facts.common
            if is_used and plain not in PARTICLES and plain not in TITLES:
                known = _Word(plain, place == 0, facts)
                for written in _list_spellings(plain):
                    self._words.setdefault(written, known)
                    self._stems.update(() if facts.common else list_stems(written))
        key = tuple(word.lower() for word in words)
        if len(words) > 1 and key not in self._names and not has_lone_characters(name):
            self._names[key] = _Name(
                _compile_name(key), all(look_up_word(word).common == 2 for word in words)
            )

    def find_occurrences(self, text: str) -> Iterator[Match]:
        folded, places = _fold(text)
        for start, end in self._find_spans(text, folded, places):
            yield Match(NAME, start, end, PROPAGATED_SCORE)

    def _find_spans(self, text: str, folded: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        is_mentioned = False
        for written, word in self._words.items():
            at = folded.find(written)
            while at >= 0:
                is_mentioned = True
                start, end = places[at], places[at + len(written) - 1] + 1
                end = _extend(text, end)
                if self._is_person(text, start, end, word):
                    yield start, end
                at = folded.find(written, at + 1)
        for stem in self._stems:
            at = folded.find(stem)
            while at >= 0:
                end = find_ending(folded, at, stem)
                start, end = places[at], _extend(text, places[end - 1] + 1)
                if _is_form_in_identifier(text, start, end):
                    yield start, end
                at = folded.find(stem, at + 1)
        # All forms of a whole name have a word of it.
        for name in self._names.values() if is_mentioned else ():
            for found in name.pattern.finditer(folded):
                start, end = places[found.start()], _extend(text, places[found.end() - 1] + 1)
                if _is_written_as_name(text, start, end, name):
                    yield start, end

    def _is_person(self, text: str, start: int, end: int, word: _Word) -> bool:
        said = text[start:end]
        if not stands_alone(text, start, end):
            end += _count_genitive(text, start, end, word)
            if not (stands_alone(text, start, end) or _is_camel_part(text, start, end)):
                return False
        if not word.facts.common:
            is_same = said.lower() == word.exact
            if is_same or said[0].isupper() or is_glued(text, start, end):
                return True
        elif is_glued(text, start, end):
            return False
        return self._speaks_of_person(text, start, end, word)

    def _speaks_of_person(self, text: str, start: int, end: int, word: _Word) -> bool:
        """Whether place or capital says that an ordinary word is a person's name."""
        before = text[max(0, start - 60) : start]
        is_greeted = has_cue_before(text, start) or _THANKED.search(before)
        said = text[start:end]
        if not said[0].isupper() or said.isupper():
            return bool(is_greeted and _ENDS.match(text, end))
        if is_greeted or (start and is_signature(text, start, end)):
            return not _GOES_ON.match(text, end)
        if word.exact in _MONTHS:
            return bool(word.is_first and _SENTENCE_START.search(before) and _CALLED.match(text, end))
        if _SENTENCE_START.search(before):
            is_said = has_cue_behind(text, start, end) or _CALLED.match(text, end)
            return bool(word.is_first and is_said)
        following = _NEXT_WORD.match(text, end)
        is_phrase = following and following[1][0].isupper() and following[1].lower() not in self.words
        return not (is_phrase or _DETERMINER.search(before))


def list_name_words(name: str) -> list[str]:
    """The words of a name that are long enough to be known again; one in a script without spaces is whole."""
    if has_lone_characters(name):
        return [
            part
            for part in name.split()
            if len(part) >= (2 if part[0] >= _FIRST_HAN else MIN_WORD_CHARACTERS)
        ]
    parts = (part for word in split_words(name) for part in _APOSTROPHE.split(word.text))
    return [part for part in parts if len(part) >= MIN_WORD_CHARACTERS and part[0].isalpha()]


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """The text in lower case without accents, and where each of its letters stands."""
    if text.isascii():
        return text.lower(), range(len(text))
    folded = text.translate(_LETTERS)
    if not _COMBINING.search(folded):
        return folded, range(len(folded))
    places = [place for place, letter in enumerate(folded) if not _COMBINING.match(letter)]
    return "".join(folded[place] for place in places), places


def _extend(text: str, end: int) -> int:
    """Behind the accents that belong to the last letter."""
    while end < len(text) and _COMBINING.match(text, end):
        end += 1
    return end


def _list_spellings(word: str) -> list[str]:
    """A word without accents, and as it is written where there are none."""
    spelled = word
    for letter, spelling in _SPELLINGS:
        spelled = spelled.replace(letter, spelling)
    shortened = word
    for spelling in ("ae", "oe", "ue"):
        shortened = shortened.replace(spelling, spelling[0])
    return list(dict.fromkeys(_fold(form)[0] for form in (word, spelled, shortened)))


def _compile_name(words: tuple[str, ...]) -> re.Pattern[str]:
    """All words of a name, and its first and last word in either order."""
    forms = ["|".join(map(re.escape, _list_spellings(word))) for word in words]
    first, last = forms[0], forms[-1]
    orders = [forms, [first, last], [last, first]] if len(forms) > 2 else [forms, [last, first]]
    patterns = [_JOINERS.join(f"(?:{form})" for form in order) for order in orders]
    if len(words[-1]) >= MIN_INITIALED_CHARACTERS and not look_up_word(words[-1]).common:
        initial = _fold(words[0][0])[0]
        if not look_up_word(initial + words[-1]).common:
            patterns.append(f"{initial}(?:{last})")
    return re.compile("|".join(patterns))


def _is_written_as_name(text: str, start: int, end: int, name: _Name) -> bool:
    if not (stands_alone(text, start, end) or _is_camel_part(text, start, end)):
        return False
    said = text[start:end]
    if re.search(r"[\s,]", said):
        words = re.findall(r"[^\W\d_]+", said)
        return not name.is_ordinary or (not said.isupper() and all(word[0].isupper() for word in words))
    is_joined = said.isalpha() and said[1:].islower() and look_up_word(said).common > 0
    if is_joined or (name.is_ordinary and "_" not in said and said.islower()):
        return is_glued(text, start, end)
    return True


def _is_form_in_identifier(text: str, start: int, end: int) -> bool:
    """Whether what begins and ends as a form of a name does is a word of an identifier, or all of a text."""
    is_word = stands_alone(text, start, end) or _is_camel_part(text, start, end)
    is_identifier = end - start == len(text) or is_glued(text, start, end)
    return is_word and is_identifier and not is_common(text[start:end])


def _count_genitive(text: str, start: int, end: int, word: _Word) -> int:
    """1 before the s of "Hannahs", where that isn't a word of its own."""
    is_genitive = not word.facts.common and text[end : end + 1] == "s"
    return int(is_genitive and not look_up_word(text[start : end + 1]).common)


def is_glued(text: str, start: int, end: int) -> bool:
    """Whether it is part of an identifier, a path or a file's name, or all of a text without spaces."""
    if _GLUE_BEFORE.search(text, max(0, start - 1), start) or _GLUE_BEHIND.match(text, end):
        return True
    return end - start < len(text) and not any(map(str.isspace, text))


def _is_camel_part(text: str, start: int, end: int) -> bool:
    """Whether letters that touch it belong to other words: DvorakJiri2, reportMueller."""
    before, after = text[start - 1 : start], text[end : end + 1]
    begins = not before.isalnum() or before.isdigit() or (before.islower() and text[start].isupper())
    ends = not after.isalnum() or after.isdigit() or (after.isupper() and text[end - 1].islower())
    is_long = end - start >= MIN_CAMEL_CHARACTERS
    return is_long and begins and ends


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word is cut: in scripts without spaces none is; to a Korean name, particles stick."""
    before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
    first, last = text[start], text[end - 1]
    begins = not (_is_in_word(before) and _is_in_word(first)) or (
        is_read_alone(first) and first < _FIRST_HANGUL
    )
    return begins and (not (_is_in_word(after) and _is_in_word(last)) or is_read_alone(last))


def _is_in_word(sign: str) -> bool:
    """Letters, digits, and the vowel signs and points that belong to letters."""
    return sign.isalnum() or (not sign.isascii() and unicodedata.category(sign)[0] == "M")
