"""Invented addresses: English ones of nine countries by parts of our own, others by Faker."""

import random
import re
import string
from pathlib import Path
from typing import Any

_PARTS = Path(__file__).parent / "lists" / "addresses-en.txt"
_PART = re.compile(r"\{(\w+)\}")
# Half of those who write English are taken to live in one of the two first.
_COUNTRIES = ("us", "us", "us", "us", "gb", "gb", "gb", "ca", "au", "nz", "ie", "in", "za", "sg")
_OF_MORE_COUNTRIES = {
    "de": ("de_DE", "de_AT", "de_CH"), "fr": ("fr_FR", "fr_CH"), "es": ("es_ES", "es_MX", "es_CO"),
    "nl": ("nl_NL", "nl_BE"), "pt": ("pt_BR", "pt_PT"),
}  # fmt: skip
_UNIT_SHARE, _COUNTRY_SHARE = 0.2, 0.07
_JOINERS = (", ", ", ", ", ", " ", "\n", "\n", ",", " - ")
_OUTCODE_AREAS = (
    "AB B BA BS CB CF CH CM CT DE DL E EC EH EX G GL GU HD HP IP KT L LE LS M MK N NE NG NR NW OX PE PL RG"
    " S SE SO SW TN W WC WR YO"
).split()
_DIGITS = {"zip": "5", "pin": "6", "aucode": "4"}
_LONG_ZIP_SHARE = 0.08


class Addresses:
    """Draws addresses, their street lines, and postal codes with what stands beside them."""

    def __init__(self, locales: dict[str, str], choose: random.Random) -> None:
        self._choose = choose
        self._locales = locales
        self._makers: dict[str, Any] = {}
        self._parts = _read_parts()

    def make(self, slot: str, language: str) -> str:
        """An ``address``, its street ``line`` or ``postal`` line, each with a digit, or its ``zip`` code."""
        return self._make_english(slot) if language == "en" else self._make_other(slot, language)

    def make_part(self, name: str) -> str:
        """A part of English addresses for what is none: ``base`` is what streets are called by."""
        return self._draw(name)

    def _make_english(self, slot: str) -> str:
        """What an address has of numbers is what tells it; a town alone is a place."""
        while not any(map(str.isdigit, made := self._join_english(slot, self._choose.choice(_COUNTRIES)))):
            pass
        return made

    def _join_english(self, slot: str, country: str) -> str:
        if slot in ("postal", "zip"):
            return self._draw(f"{country}-town" if slot == "postal" else "code")
        line = self._draw(f"{country}-line")
        if f"{country}-unit" in self._parts and self._choose.random() < _UNIT_SHARE:
            line += self._choose.choice((", ", " ", "\n")) + self._draw(f"{country}-unit")
        if slot == "line":
            return line
        joiner = self._choose.choice(_JOINERS)
        whole = joiner.join((line, self._draw(f"{country}-town")))
        return whole + joiner + self._draw("country") if self._choose.random() < _COUNTRY_SHARE else whole

    def _make_other(self, slot: str, language: str) -> str:
        locale = self._choose.choice(_OF_MORE_COUNTRIES.get(language, (self._locales[language],)))
        maker = self._load(locale)
        if slot == "zip":
            return str(maker.postcode())
        if slot == "postal":
            return self._choose.choice(("{code} {city}", "{code} {city}", "{code}, {city}")).format(
                code=maker.postcode(), city=maker.city()
            )
        if slot == "line":
            return str(maker.street_address()).replace("\n", ", ")
        lines = [line.strip() for line in str(maker.address()).split("\n") if line.strip()]
        return self._choose.choice(_JOINERS).join(lines)

    def _load(self, locale: str) -> Any:
        from faker import Faker

        if locale not in self._makers:
            self._makers[locale] = Faker(locale)
            self._makers[locale].seed_instance(self._choose.randrange(1 << 30))
        return self._makers[locale]

    def _draw(self, part: str) -> str:
        if part in self._parts:
            return _PART.sub(lambda inner: self._draw(inner[1]), self._choose.choice(self._parts[part]))
        return str(getattr(self, f"_make_{part}")() if part not in _DIGITS else self._make_digits(part))

    def _make_digits(self, part: str) -> str:
        code = "".join(self._choose.choices(string.digits, k=int(_DIGITS[part])))
        if part == "zip" and self._choose.random() < _LONG_ZIP_SHARE:
            code += "-" + "".join(self._choose.choices(string.digits, k=4))
        return code

    def _make_n(self) -> int:
        return self._choose.randrange(1, self._choose.choice((10, 60, 250, 2000, 19_000)))

    def _make_d(self) -> int:
        return self._choose.randrange(1, 25)

    def _make_letter(self) -> str:
        return self._choose.choice("aAbBcCd")

    def _make_capital(self) -> str:
        return self._choose.choice("ABCDEFGHJK")

    def _make_outcode(self) -> str:
        last = self._choose.choice(("", "", "", "A", "X")) if self._choose.random() < 0.2 else ""
        return f"{self._choose.choice(_OUTCODE_AREAS)}{self._choose.randrange(1, 30)}{last}"

    def _make_postcode(self) -> str:
        inner = f"{self._choose.randrange(10)}{''.join(self._choose.choices('ABDEFGHJLNPQRSTUWXYZ', k=2))}"
        return self._choose.choice((" ", " ", " ", "")).join((self._make_outcode(), inner))

    def _make_cacode(self) -> str:
        signs = [
            self._choose.choice(some) for some in ("ABCEGHJKLMNPRSTVXY", string.digits, "ABCEGHJKLMNPRS")
        ]
        inner = [self._choose.choice(some) for some in (string.digits, "ABCEGHJKLMNPRS", string.digits)]
        return self._choose.choice((" ", " ", "")).join(("".join(signs), "".join(inner)))

    def _make_eircode(self) -> str:
        signs = "".join(self._choose.choices("ACDEFHKNPRTVWXY0123456789", k=4))
        area = (
            f"{self._choose.choice('ADTVHKRWXY')}{self._choose.randrange(10)}{self._choose.randrange(1, 9)}"
        )
        return f"{area} {signs}"


def _read_parts() -> dict[str, list[str]]:
    lines = _PARTS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split(": ", 1) for line in lines if line and not line.startswith("#")]
    return {name: wordings.split("|") for name, wordings in pairs}
