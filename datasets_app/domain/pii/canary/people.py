"""Names of people who don't exist: a first and a last name of a language, put together.

Where its letters allow it, a quarter of the last names are in no list: the beginning of one name and the end
of another.
"""

from random import Random
from typing import NamedTuple

from datasets_app.domain.pii.canary.language_files import read_sections, read_words
from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, look_up_word, strip_accents
from datasets_app.domain.pii.network.languages import ENGLISH

UNLISTED_SHARE = 0.25
MIN_CHARACTERS, MAX_TRIES = 5, 20
GENDERS = ("women", "men")
# Those that are written with plain letters otherwise, where accents alone are left out.
_PLAIN_LETTERS = str.maketrans("łđøıßæ", "ldoisa")


class Person(NamedTuple):
    """``whole`` and ``titled`` ("Mr. Miller", "Fatma Hanım"; empty where no title is usual) are as the
    language writes them; ``listed``: the last name is in a list."""

    first: str
    last: str
    whole: str
    titled: str
    listed: bool = True


def make_person(random: Random, language: str = ENGLISH) -> Person:
    """Of a language without names an English one."""
    sections = read_sections(language)
    if "last" not in sections:
        return make_person(random)
    gender = random.choice(GENDERS)
    first, lasts = random.choice(read_words(language, gender)), read_words(language, "last")
    blended = _blend_names(lasts, gender, random) if random.random() < UNLISTED_SHARE else ""
    last = blended or _inflect(random.choice(lasts), gender)
    title = random.choice(sections.get(f"titles of {gender}", ("",)))
    whole = random.choice(sections["name"]).format(first=first, last=last)
    return Person(first, last, whole, title.format(first=first, last=last), listed=not blended)


def make_user_person(random: Random, language: str) -> tuple[str, str]:
    """A first and a last name as they are part of addresses and user names: plain small letters."""
    person = make_person(random, language)
    names = tuple(_plain(name) for name in (person.first, person.last))
    return (names[0], names[1]) if all(map(str.isascii, names)) else make_user_person(random, ENGLISH)


def _plain(name: str) -> str:
    return strip_accents(name.lower()).translate(_PLAIN_LETTERS).replace(" ", "").replace("'", "")


def _inflect(name: str, gender: str) -> str:
    """Of "Novák/Nováková" the second for a woman."""
    man, _, woman = name.partition("/")
    return woman if woman and gender == "women" else man


def _blend_names(names: tuple[str, ...], gender: str, random: Random) -> str:
    """Empty where names are too short, or written with signs that belong to a letter."""
    for _ in range(MAX_TRIES):
        start, end = (_inflect(random.choice(names), gender) for _ in range(2))
        name = start[: (len(start) + 1) // 2] + end[len(end) // 2 :].lower()
        if len(name) >= MIN_CHARACTERS and name.isalpha() and look_up_word(name) == UNKNOWN_WORD:
            return name
    return ""
