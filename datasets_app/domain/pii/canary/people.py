"""Names of people who don't exist: a first and a last name of the packaged gazetteer, put together.

A quarter of the last names are in no list: the beginning of one name and the end of another.
"""

from functools import cache
from random import Random
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, find_words, look_up_word

UNLISTED_SHARE = 0.25
MIN_CHARACTERS = 5
# Digits of a gazetteer's entry: frequency as a first name, as a last name, as an ordinary word.
_FIRST, _LAST = ("[12][012]0", "2[012]0"), ("[012][12]0", "[012]20")


class Person(NamedTuple):
    """``listed``: the gazetteer has both names."""

    first: str
    last: str
    listed: bool = True


def make_person(random: Random) -> Person:
    """Half of the listed names are frequent ones, the others any; none is an ordinary word as well."""
    listed = random.random() >= UNLISTED_SHARE
    first = random.choice(_list_words(random.choice(_FIRST)))
    last = random.choice(_list_words(random.choice(_LAST))) if listed else _blend_names(random)
    return Person(first.capitalize(), last.capitalize(), listed)


def _blend_names(random: Random) -> str:
    names = _list_words(_LAST[0])
    while True:
        start, end = random.choice(names), random.choice(names)
        name = start[: (len(start) + 1) // 2] + end[len(end) // 2 :]
        if look_up_word(name) == UNKNOWN_WORD and len(name) >= MIN_CHARACTERS:
            return name


@cache
def _list_words(facts: str) -> list[str]:
    return find_words(facts)
