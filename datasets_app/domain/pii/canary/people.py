"""Names of people who don't exist: a first and a last name of the packaged gazetteer, put together."""

from functools import lru_cache
from random import Random
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import WordFacts, read_entries

MIN_CHARACTERS, MAX_CHARACTERS = 3, 12


class Person(NamedTuple):
    first: str
    last: str


def make_person(random: Random) -> Person:
    """Half of the names are frequent ones, the others any; none is an ordinary word as well."""
    return Person(_pick_name(random, "first"), _pick_name(random, "last"))


def _pick_name(random: Random, role: str) -> str:
    return random.choice(_list_names(role, random.randint(1, 2))).capitalize()


@lru_cache(maxsize=4)
def _list_names(role: str, min_frequency: int) -> tuple[str, ...]:
    return tuple(word for word, facts in read_entries() if _is_name(word, facts, role, min_frequency))


def _is_name(word: str, facts: WordFacts, role: str, min_frequency: int) -> bool:
    frequency = facts.first if role == "first" else facts.last
    return (
        frequency >= min_frequency
        and not facts.common
        and MIN_CHARACTERS <= len(word) <= MAX_CHARACTERS
        and word.isascii()
        and word.isalpha()
    )
