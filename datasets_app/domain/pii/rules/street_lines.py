"""The line of an address that names the street: number and street, in the order of the country.

Every search begins at a number and reads a few words behind or before it, so time grows with the length of
the
text only.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules import address_words as vocabulary

MAX_NAME_WORDS = 6
_REACH = 90


class Evidence(IntEnum):
    """How much of an address must stand around a street for it to be one."""

    POSTAL_CODE = 0
    ANY_PART = 1
    NONE = 2


class StreetLine(NamedTuple):
    """``text[start:end]`` may name a street; ``needs`` is what must be around it."""

    start: int
    end: int
    needs: Evidence


class _Word(NamedTuple):
    text: str
    lower: str
    start: int
    end: int

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper() or self.text[0].isdigit()


_HOUSE_NUMBER = re.compile(
    r"(?<![\w.$€£¥₹+%*=])(?<!\d[,:/-])(?<!\w[-/])(?P<number>\d{1,5})(?![\d%€$£°])"
    r"(?:[ ]?[-–/&+][ ]?\d{1,5}(?![\d:])(?![-/]\d))*"
    r"(?: ?(?:[A-Za-z](?![\w.'’%°:])|bis\b|ter\b|quater\b|1/2|½))?(?![\w:]|[.,]\d|-\w{2})"
)
_NAME_WORD = re.compile(r"\d{1,3}(?:st|nd|rd|th)\b|[^\W\d_][^\W_]*(?:['’.&-][^\W\d_]+)*\.?")
_GAP = re.compile(r"[ \t]{1,2}|,[ \t]?")
_WORD_BEFORE = re.compile(r"[^\s,;:!?()\[\]{}<>\"|]+")
_PART_BREAK = re.compile(r"[,;:!?()\[\]{}<>\"|\n]")
_ROUTE_NUMBER = re.compile(
    r"[ \t]#?\d{1,4}[A-Z]?\b(?:[ \t](?:north|south|east|west|[NSEW])\b)?(?![ \t]?(?:miles?|km|hours?|min))",
    re.IGNORECASE,
)
_NUMBER_SIGN = re.compile(
    r"(?:,[ \t]?|[ \t]{1,2})(?:(?:n[º°o]?\.?|nr\.?|no\.?|n[uú]m\.?|№|д\.|km)[ \t]?)?\Z", re.IGNORECASE
)
_ROUTES = frozenset("route rte rt highway hwy road rd fm cr sr".split())
_DIRECTIONS = frozenset(
    "n s e w ne nw se sw north south east west northeast northwest southeast southwest".split()
)
_NEEDING_CAPITALS = frozenset(
    "avenue boulevard place route square cours passage residence conjunto jardim al".split()
)
_NON_STREET_COMPOUNDS = frozenset("substr instr brigade renegade fregata regata".split())

# P.O. boxes; what the armed forces have for streets.
_BOX = re.compile(
    r"\b(?:p\.? ?o\.? ?box|post ?office box|gpo box|locked bag|private bag|po bag|postfach|postbus"
    r"|postboks|postlåda|boîte postale"
    r"|apartado(?: de correos| postal| aéreo)?|apdo\.?(?: de correos)?|casella postale|caixa postal|skr"
    r"(?:ytka|\.) poczt\w{0,5}\.?"
    r"|a/я|абонентский ящик)(?:[ \t]?(?:no\.?|nr\.?|n[º°]|#|:))?[ \t]{0,2}\d[\d \t-]{0,8}(?<=\d)\b",
    re.IGNORECASE,
)
_MILITARY = re.compile(
    r"\b(?:(?:PSC|CMR|Unit) \d{1,5},? Box \d{1,5}|US[NCS]{1,2}V? [A-Z][\w' .-]{1,30}|rr ?#? ?\d{1,4},? "
    r"box \d{1,5})(?=[\s,]{1,3}|\Z)",
    re.IGNORECASE,
)


def find_street_lines(text: str) -> Iterator[StreetLine]:
    for number in _HOUSE_NUMBER.finditer(text):
        line = _read_behind(text, number) or _read_before(text, number)
        if line:
            yield line
    if "ox" in text or "OX" in text or "ost" in text or "CMR" in text or "apar" in text.lower():
        for match in _BOX.finditer(text):
            yield StreetLine(*match.span(), Evidence.NONE)
        for match in _MILITARY.finditer(text):
            yield StreetLine(*match.span(), Evidence.POSTAL_CODE)


# --- 12 Maple Street, 12 rue de la Paix --------------------------------------------------------


def _read_behind(text: str, number: re.Match[str]) -> StreetLine | None:
    behind = _list_words_behind(text, number.end())
    if not behind:
        return None
    if behind[0].lower in vocabulary.PREFIX_TYPES and len(behind) > 1:
        end = _read_name(behind[1:])
        has_capital = any(word.is_capital or word.lower in vocabulary.PARTICLES for word in behind[1:2])
        if end and (has_capital or behind[0].lower not in _NEEDING_CAPITALS):
            return StreetLine(number.start(), end, Evidence.NONE)
    return _read_english_street(text, number, behind)


def _list_words_behind(text: str, start: int) -> list[_Word]:
    """The words that follow with nothing but spaces between; only the first may have a comma before it."""
    found: list[_Word] = []
    place, limit = start, min(len(text), start + _REACH)
    while len(found) <= MAX_NAME_WORDS and place < limit:
        gap = _GAP.match(text, place)
        word = _NAME_WORD.match(text, gap.end()) if gap else None
        if gap is None or word is None or (found and "," in gap[0]):
            break
        lower = word[0].lower().rstrip(".")
        found.append(_Word(word[0], lower, *word.span()))
        if lower in vocabulary.STOP_WORDS and lower not in vocabulary.LINKING_WORDS and word[0] == lower:
            break
        place = word.end()
    return found


def _read_name(names: Sequence[_Word]) -> int | None:
    """The end of the name of a street; articles and prepositions don't end it."""
    end = None
    for place, word in enumerate(names):
        if not _may_be_in_name(names, place) or (place and _ends_sentence(names[place - 1])):
            break
        if word.lower in vocabulary.PARTICLES or word.lower in vocabulary.LINKING_WORDS:
            continue
        if (
            place
            and not word.is_capital
            and names[place - 1].is_capital
            and names[place - 1].lower not in vocabulary.PARTICLES
        ):
            break
        end = word.end - (word.text[-1] == "." and len(word.text) > 4)
    return end


def _read_english_street(text: str, number: re.Match[str], behind: Sequence[_Word]) -> StreetLine | None:
    """The words up to a kind of street, and what belongs to that: "5th Ave N", "Park Lane Court"."""
    last = None
    for place, word in enumerate(behind):
        if (
            (place or word.is_capital or len(word.lower) > 4)
            and word.lower in _ROUTES
            and (route := _ROUTE_NUMBER.match(text, word.end))
        ):
            return StreetLine(number.start(), route.end(), Evidence.NONE)
        if place and word.lower in vocabulary.ALL_TYPES and not _is_saint(behind, place):
            last = place
        elif last is not None or not _may_be_in_name(behind, place) or _ends_sentence(word):
            break
    if last is None:
        return _read_named_avenue(number, behind)
    kind, names = behind[last], behind[:last]
    following = behind[last + 1] if last + 1 < len(behind) else None
    if following and following.lower in _DIRECTIONS and (following.is_capital or len(following.lower) > 1):
        end = following.end
    else:
        end = kind.end - (kind.text[-1] == "." and len(kind.text) > 5)
    if not _may_be_street(names, kind, following):
        return None
    return StreetLine(number.start(), end, _find_needs(names, kind, following))


def _is_saint(behind: Sequence[_Word], place: int) -> bool:
    """The St. of "12 Great St. Helen's Road": a kind of street follows a little later."""
    return behind[place].lower == "st" and any(
        word.lower in vocabulary.STREET_TYPES for word in behind[place + 2 : place + 4]
    )


def _ends_sentence(word: _Word) -> bool:
    return word.text[-1] == "." and len(word.text) > 4 and word.lower not in vocabulary.ALL_TYPES


def _may_be_in_name(names: Sequence[_Word], place: int) -> bool:
    before = names[place - 1].text if place else ""
    following = names[place + 1].text if place + 1 < len(names) else ""
    return vocabulary.may_be_in_name(names[place].text, before, following)


def _read_named_avenue(number: re.Match[str], behind: Sequence[_Word]) -> StreetLine | None:
    """12 Broadway, 1200 Avenue of the Americas, 350 Avenue B."""
    first = behind[0]
    if first.lower == "broadway":
        return StreetLine(number.start(), first.end, Evidence.NONE)
    if first.lower not in ("avenue", "ave", "avenida") or len(behind) < 2:
        return None
    if behind[1].lower == "of":
        end = _read_name(behind[2:])
        return StreetLine(number.start(), end, Evidence.NONE) if end else None
    if len(behind[1].text) == 1 and behind[1].is_capital:
        return StreetLine(number.start(), behind[1].end, Evidence.NONE)
    return None


def _may_be_street(names: Sequence[_Word], kind: _Word, following: _Word | None) -> bool:
    if following and not following.is_capital and following.lower in vocabulary.NON_STREET_NEXT:
        return False
    # A "4 lane road" is no name; "4 Lane Road" may be one.
    return (
        kind.is_capital
        or not all(name.lower in ("way", "lane", "wide", "long", "main") for name in names)
        or (len(names) == 1 and names[0].lower == "main" and following is None)
    )


def _find_needs(names: Sequence[_Word], kind: _Word, following: _Word | None) -> Evidence:
    if kind.lower in vocabulary.STREET_TYPES:
        return Evidence.NONE if len(names) <= 4 else Evidence.ANY_PART
    is_title = kind.is_capital and not kind.text.isupper() and all(name.is_capital for name in names)
    if kind.lower in vocabulary.PLACE_TYPES:
        is_name_of_more = (
            following is not None and following.is_capital and following.lower not in vocabulary.STOP_WORDS
        )
        return Evidence.NONE if is_title and len(names) <= 3 and not is_name_of_more else Evidence.ANY_PART
    return Evidence.ANY_PART if is_title else Evidence.POSTAL_CODE


# --- Hauptstraße 12, Calle Mayor 5 -------------------------------------------------------------


def _read_before(text: str, number: re.Match[str]) -> StreetLine | None:
    """The street before its number, back to the nearest sign."""
    first = max(0, number.start() - _REACH)
    sign = _NUMBER_SIGN.search(text, max(0, number.start() - 8), number.start())
    if sign is None:
        return None
    end = sign.start()
    last = text[max(text.rfind(" ", first, end), text.rfind("\n", first, end)) + 1 : end].lower()
    if last in vocabulary.STOP_WORDS or not last[-1:].isalpha() and last[-1:] != ".":
        return None
    for part in _PART_BREAK.finditer(text, first, end):
        first = part.end()
    before = [
        _Word(m[0], m[0].lower().rstrip("."), *m.span()) for m in _WORD_BEFORE.finditer(text, first, end)
    ]
    before = before[-MAX_NAME_WORDS - 1 :]
    if not before or not before[-1].text[0].isalpha():
        return None
    return (
        _read_prefixed_street(before, number)
        or _read_compound_street(before, number)
        or _read_plain_street(before, number)
    )


def _read_prefixed_street(before: Sequence[_Word], number: re.Match[str]) -> StreetLine | None:
    for place, word in enumerate(before[:-1]):
        names = before[place + 1 :]
        kind = word.lower
        if kind not in vocabulary.PREFIX_TYPES and kind not in vocabulary.LOOSE_PREFIX_TYPES:
            continue
        if not all(_may_be_in_name(before, number) for number in range(place + 1, len(before))):
            continue
        all_capital = all(name.is_capital or name.lower in vocabulary.PARTICLES for name in names)
        if kind in vocabulary.PREFIX_TYPES and (all_capital or kind not in _NEEDING_CAPITALS):
            return StreetLine(word.start, number.end(), Evidence.NONE)
        if kind in vocabulary.PREFIX_TYPES:
            return StreetLine(word.start, number.end(), Evidence.POSTAL_CODE)
        if all_capital:
            is_marked = word.is_capital or word.text.endswith((".", "/"))
            return StreetLine(
                word.start, number.end(), Evidence.ANY_PART if is_marked else Evidence.POSTAL_CODE
            )
        if kind in vocabulary.LOOSE_PREFIX_TYPES and len(names) <= 4:
            return StreetLine(word.start, number.end(), Evidence.POSTAL_CODE)
    return None


def _read_compound_street(before: Sequence[_Word], number: re.Match[str]) -> StreetLine | None:
    last = before[-1]
    needs = None
    if last.lower in vocabulary.SEPARATE_TYPES and len(before) > 1:
        name = before[-2]
        if name.lower in vocabulary.STOP_WORDS or not name.text.replace("-", "").isalpha():
            return None
        is_certain = name.is_capital and last.lower not in ("ring", "tie", "gate", "plein")
        needs = Evidence.NONE if is_certain else Evidence.POSTAL_CODE
        return StreetLine(_find_name_start(before, len(before) - 2), number.end(), needs)
    if last.lower in _NON_STREET_COMPOUNDS:
        return None
    if _has_ending(last, vocabulary.SUFFIX_TYPES):
        needs = Evidence.NONE
    elif _has_ending(last, vocabulary.LOOSE_SUFFIX_TYPES):
        needs = Evidence.POSTAL_CODE
    if needs is None:
        return None
    return StreetLine(_find_name_start(before, len(before) - 1), number.end(), needs)


def _has_ending(word: _Word, endings: tuple[str, ...]) -> bool:
    """Whether something of a name stands before the ending: "Kerkweg", and no "weg" alone."""
    return word.lower.endswith(endings) and not word.lower.startswith(endings) and len(word.lower) > 5


def _find_name_start(before: Sequence[_Word], place: int) -> int:
    """Where the name begins whose last word is known: "Alte Schönhauser Straße", "Hans-Müller-Gasse"."""
    while (
        place
        and before[place - 1].is_capital
        and before[place].is_capital
        and before[place - 1].text[0].isalpha()
        and before[place - 1].lower not in vocabulary.STOP_WORDS
    ):
        place -= 1
    return before[place].start


def _read_plain_street(before: Sequence[_Word], number: re.Match[str]) -> StreetLine | None:
    """A name and a number, "Am Markt 5" or "brekkerøa 16": only with a postal code and its place."""
    place = len(before) - 1
    last = before[place]
    if last.lower in vocabulary.STOP_WORDS or len(last.lower) < 3:
        return None
    if not last.is_capital:
        if look_up_word(last.lower).common or not last.text.isalpha():
            return None
        while place and before[place - 1].text.isalpha() and not look_up_word(before[place - 1].lower).common:
            place -= 1
        if (
            place
            and len(before[place - 1].lower) <= 3
            and before[place - 1].lower in vocabulary.LINKING_WORDS | vocabulary.NAME_STARTS
        ):
            place -= 1
        return StreetLine(before[place].start, number.end(), Evidence.POSTAL_CODE)
    while place and (before[place - 1].is_capital or before[place - 1].lower in vocabulary.NAME_STARTS):
        if (
            before[place - 1].lower in vocabulary.STOP_WORDS
            and before[place - 1].lower not in vocabulary.NAME_STARTS
        ):
            break
        place -= 1
    return StreetLine(before[place].start, number.end(), Evidence.POSTAL_CODE)
