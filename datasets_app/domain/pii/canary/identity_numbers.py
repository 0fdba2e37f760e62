"""Made-up identity, tax, health, license and vehicle numbers that pass the checks of their issuers.

They are drawn in the forms of ``identity_numbers.txt`` until their check accepts one, which takes up to a
hundred tries, and for a German tax number some hundreds.
"""

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from datasets_app.domain.pii.rules.identity.id_checks import is_checked

_PART = re.compile(r"(?:\[(?P<set>[^]]+)\]|(?P<sign>.))(?:\{(?P<count>\d+)\})?")
_RANGE = re.compile(r"(.)-(.)")


class IdentityNumber(NamedTuple):
    """``nouns`` are what people call the number; ``country`` is an ISO code; ``checks`` are those of
    ``id_checks.py``, of which one must hold; ``forms``: see :func:`fill_form`."""

    country: str
    name: str
    nouns: tuple[str, ...]
    checks: tuple[str, ...]
    forms: tuple[str, ...]

    def make(self, random: Random) -> str:
        while True:
            number = fill_form(random, random.choice(self.forms))
            if not self.checks or is_checked(self.checks, number):
                return number


def fill_form(random: Random, form: str) -> str:
    """Signs drawn for a form such as ``[A-D][0-9]{6}``: sets of signs, signs, and how many of them."""
    return "".join(sign for signs, count in _parse_form(form) for sign in random.choices(signs, k=count))


@cache
def _parse_form(form: str) -> tuple[tuple[str, int], ...]:
    return tuple(
        (_list_signs(part["set"]) if part["set"] else part["sign"], int(part["count"] or 1))
        for part in _PART.finditer(form)
    )


def _list_signs(described: str) -> str:
    return _RANGE.sub(lambda ends: "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1))), described)


def _read_numbers() -> tuple[IdentityNumber, ...]:
    found: list[IdentityNumber] = []
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[-1] = found[-1]._replace(forms=(*found[-1].forms, line.strip()))
        elif line and not line.startswith("#"):
            country, name, nouns, *checks = map(str.strip, line.split("|"))
            found.append(IdentityNumber(country, name, tuple(nouns.split(", ")), tuple(checks), ()))
    return tuple(found)


IDENTITY_NUMBERS = _read_numbers()
