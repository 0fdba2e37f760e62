"""Names of people who don't exist: a first and a last name of the packaged gazetteer, put together."""

from functools import cache
from random import Random
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import find_words

# Digits of a gazetteer's entry: frequency as a first name, as a last name, as an ordinary word.
_FIRST, _LAST = ("[12][012]0", "2[012]0"), ("[012][12]0", "[012]20")


class Person(NamedTuple):
    first: str
    last: str


def make_person(random: Random) -> Person:
    """Half of the names are frequent ones, the others any; none is an ordinary word as well."""
    first, last = _list_words(random.choice(_FIRST)), _list_words(random.choice(_LAST))
    return Person(random.choice(first).capitalize(), random.choice(last).capitalize())


@cache
def _list_words(facts: str) -> list[str]:
    return find_words(facts)
