"""Postal addresses and telephone numbers of some countries, from the forms of ``countries.txt``."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

FORMS_PATH = Path(__file__).parent / "countries.txt"
# Letters that postal codes of all these countries may have.
_SIGNS = {"#": "0123456789", "@": "ABEGHJLNPRTXZ"}
_CHOICE = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)-(\d+)")
_POSTAL_CODE = re.compile("<(.*)>")


class Address(NamedTuple):
    """``form`` is the country, and "in lines" if ``text`` has several. ``street`` includes the number."""

    text: str
    form: str
    street: str
    postal_code: str


def make_address(random: Random, countries: Sequence[str] = ()) -> Address:
    """Of one of these countries, or of any if none of them is known."""
    country = _choose_country("street", countries, random)
    street, rest = (_expand(f"{{{title}}}", country, random) for title in ("street", "rest"))
    in_lines = random.random() < 0.3
    lines = (street, *_POSTAL_CODE.sub(r"\1", rest).split(" / "))
    text = ("\n" if in_lines else ", ").join(lines)
    form = f"{country}, in lines" if in_lines else country
    return Address(text, form, street, _POSTAL_CODE.findall(rest)[0])


def make_phone(random: Random, countries: Sequence[str] = ()) -> tuple[str, str]:
    """The country, chosen in the same way, and a number."""
    country = _choose_country("phone", countries, random)
    return country, _expand("{phone}", country, random)


def _choose_country(title: str, countries: Sequence[str], random: Random) -> str:
    known = [country for country, forms in _read_forms().items() if title in forms]
    return random.choice([country for country in known if country in countries] or known)


def _expand(form: str, country: str, random: Random) -> str:
    forms = _read_forms()[country]

    def choose(match: re.Match[str]) -> str:
        if numbers := _RANGE.fullmatch(match[1]):
            return str(random.randint(int(numbers[1]), int(numbers[2])))
        options: list[str] = forms.get(match[1]) or match[1].split("|")
        return random.choice(options)

    while "{" in form:
        form = _CHOICE.sub(choose, form)
    return re.sub("[#@]", lambda match: random.choice(_SIGNS[match[0]]), form)


@cache
def _read_forms() -> Mapping[str, Mapping[str, list[str]]]:
    """By country and title: "street", "rest", "phone", and what these name."""
    forms: dict[str, dict[str, list[str]]] = {}
    for line in FORMS_PATH.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            country, title, form = line.split(" ", 2)
            forms.setdefault(country, {}).setdefault(title, []).append(form)
    return forms
