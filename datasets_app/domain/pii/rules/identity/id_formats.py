"""The forms of identity numbers, and the words that announce them in a text: the list is id_formats.txt."""

import re
import unicodedata
from collections.abc import Iterator
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain import lazy_re

LIST_PATH = Path(__file__).with_name("id_formats.txt")
# Parts of one expression: "driver's license", "N.I.F.", "codice-fiscale", "passport_number".
_WORD = re.compile(r"[^\W\d_]+")
_MAX_SIGNS_BETWEEN_WORDS = 2
# Written in one word: Reisepassnummer, passportNo.
_COMPOUND_ENDINGS = ("number", "no", "num", "nr", "nummer")
# Of the words of a cue those that tell least about a text.
_FREQUENT_WORDS = (
    frozenset(
        "number numbers no nr card code document file numero nummer numer of the de di da do du".split()
    ),
    frozenset("personal id national health service driver car".split()),
)
# The words of a cue in one ("driverslicense") count from this length: "sa id" is no "said".
_MIN_JOINED_CHARACTERS = 5
# Scripts that don't separate words, or whose words have signs in them that aren't letters.
_UNDIVIDED_SCRIPTS = lazy_re.compile("[\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NUMBER_WORD = re.compile(
    r"(?:['’]?s\b)?(?:[\s_-]{0,2}\bid\b)?[\s_./(-]{0,2}"
    r"(?:(?:numbers?|nos?|nr|nbr|num|nummer|numer\w{0,2}|num[eé]ro|n[uú]mero|numărul|číslo|szám\w?"
    r"|номер\w?|αριθμός|broj|numarası|numaram|numeroni?)\b\.?|nº|n°|№|#|号码|號碼|番号|번호|号|號|رقم)",
    re.IGNORECASE,
)


class IdFormat(NamedTuple):
    """``shape`` is that of a value in capitals and without signs; ``checks`` are for ``id_checks.py``."""

    shape: str
    checks: tuple[str, ...]

    @property
    def is_wide(self) -> bool:
        """Whether the shape fits codes of every kind, so that only the words about it tell."""
        return self.shape.startswith("[A-Z0-9")

    def fits(self, value: str) -> bool:
        return compile_shape(self.shape).fullmatch(value) is not None


class Strength(IntEnum):
    """How much a cue tells: an ordinary word ("sin"), its capitals (SIN), a paper, "number" itself."""

    WORD, CAPITALS, DOCUMENT, NUMBER = range(4)


class Cue(NamedTuple):
    """``text[start:end]`` announces a number of one of ``formats``."""

    start: int
    end: int
    formats: tuple[IdFormat, ...]
    strength: Strength


class _Entry(NamedTuple):
    formats: tuple[IdFormat, ...]
    is_document: bool
    is_ambiguous: bool


class Tables(NamedTuple):
    """``entries`` by their words; ``lengths``: first word → most words of an entry that begins with it.

    A text without any of ``rare_words`` and ``undivided`` has no cue but one with dots in it (N.I.F.).
    ``forms`` need none.
    """

    entries: dict[str, _Entry]
    lengths: dict[str, int]
    rare_words: frozenset[bytes]
    undivided: tuple[bytes, ...]
    forms: tuple[IdFormat, ...]


@lru_cache(maxsize=512)
def compile_shape(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


def find_cues(text: str) -> Iterator[Cue]:
    """The cues in ``text``; of those that begin with the same word only the longest."""
    tables = load_tables()
    if not text.isascii() and _UNDIVIDED_SCRIPTS.search(text):
        for match in compile_shape("|".join(re.escape(cue.decode()) for cue in tables.undivided)).finditer(
            text
        ):
            yield _make_cue(text, *match.span(), tables.entries[match[0]])
    places = [(word.start(), word.end(), word[0].lower()) for word in _WORD.finditer(text)]
    taken = 0
    for first, (start, _end, word) in enumerate(places):
        if start < taken or word not in tables.lengths:
            continue
        for count in range(tables.lengths[word], 0, -1):
            words = places[first : first + count]
            entry = tables.entries.get(" ".join(item[2] for item in words))
            if entry and len(words) == count and _are_near(text, words):
                cue = _make_cue(text, start, words[-1][1], entry)
                yield cue
                taken = cue.end
                break


def names_number(word: str) -> bool:
    """Whether a word alone (in small letters, parts of it joined: "driverslicense") announces a number."""
    entry = load_tables().entries.get(word)
    return entry is not None and not entry.is_ambiguous


def _make_cue(text: str, start: int, end: int, entry: _Entry) -> Cue:
    number = _NUMBER_WORD.match(text, end)
    if number and entry.is_ambiguous and number[0].strip() == "#":
        number = None  # CI #1234567890
    if number or not (entry.is_document or entry.is_ambiguous):
        strength = Strength.NUMBER
    elif entry.is_ambiguous:
        strength = Strength.CAPITALS if text[start:end].isupper() else Strength.WORD
    else:
        strength = Strength.DOCUMENT
    return Cue(start, number.end() if number else end, entry.formats, strength)


def _are_near(text: str, words: list[tuple[int, int, str]]) -> bool:
    return all(
        after[0] - before[1] <= _MAX_SIGNS_BETWEEN_WORDS and "\n" not in text[before[1] : after[0]]
        for before, after in zip(words, words[1:], strict=False)
    )


# --- the list ----------------------------------------------------------------------------------


@cache
def load_tables() -> Tables:
    entries: dict[str, _Entry] = {}
    rare_words: set[bytes] = set()
    sections: dict[str, list[IdFormat]] = {}
    for line in LIST_PATH.read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"\[[a-z]+\]", line):
            section = line[1:-1]
            formats = sections.setdefault(section, [])
        elif line.startswith("  "):
            for cue in filter(None, map(str.strip, line.split(","))):
                entry = _Entry((formats[-1],), section == "documents", cue.endswith("?"))
                rare_words |= _add_cue(entries, cue.rstrip("?"), entry)
        elif line and not line.startswith("#"):
            shape, _, checks = line.partition("    ")
            formats.append(IdFormat(shape, tuple(checks.split())))
    lengths: dict[str, int] = {}
    for key in entries:
        first, *others = key.split(" ")
        lengths[first] = max(lengths.get(first, 0), 1 + len(others))
    undivided = [cue.encode() for cue in sorted(filter(_UNDIVIDED_SCRIPTS.search, entries), key=len)]
    return Tables(
        entries, lengths, frozenset(rare_words), tuple(reversed(undivided)), tuple(sections["forms"])
    )


def _add_cue(entries: dict[str, _Entry], cue: str, entry: _Entry) -> set[bytes]:
    """Add a cue in its ways of writing; return the words of which a text with the cue has one."""
    if _UNDIVIDED_SCRIPTS.search(cue):
        _add_entry(entries, cue, entry)
        return set()
    written = {tuple(word.lower() for word in _WORD.findall(cue))}
    written |= {tuple(map(_strip_accents, words)) for words in written}
    written |= {
        (*words[:-1], other) for words in written if words[-1] == "number" for other in ("no", "nr", "num")
    }
    rare: set[str] = set()
    for words in written:
        _add_entry(entries, " ".join(words), entry)
        rare.add(max(words, key=lambda word: (*(word not in few for few in _FREQUENT_WORDS), len(word))))
        joined = "".join(words)
        if len(words) > 1 and len(joined) >= _MIN_JOINED_CHARACTERS:
            _add_entry(entries, joined, entry)  # driversLicense
            rare.add(joined)
        if 3 <= len(joined) < 20:
            compounds = {joined + ending for ending in _COMPOUND_ENDINGS}
            for compound in compounds:
                _add_entry(entries, compound, _Entry(entry.formats, False, False))
            rare |= compounds
    if cue.isupper() and cue.isalpha() and len(cue) > 2:
        _add_entry(entries, " ".join(cue.lower()), entry)  # N.I.F.
    # Bytes of other letters than ASCII have no capitals.
    forms = {
        form for word in rare for form in ((word,) if word.isascii() else (word, word.upper(), word.title()))
    }
    return {form.encode().lower() for form in forms}


def _add_entry(entries: dict[str, _Entry], key: str, entry: _Entry) -> None:
    """A word can announce several: "personnummer" is Swedish and Danish."""
    known = entries.get(key)
    if known:
        formats = tuple(dict.fromkeys((*known.formats, *entry.formats)))
        entry = _Entry(
            formats, known.is_document and entry.is_document, known.is_ambiguous and entry.is_ambiguous
        )
    entries[key] = entry


def _strip_accents(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
