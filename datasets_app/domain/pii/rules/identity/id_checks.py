"""Checks the digits of identity numbers, by python-stdnum and by presidio's recognizers.

Presidio takes a second and a half to load, and ninety megabytes: it is loaded with the first value that
only its check can tell. Where it isn't installed (the check of files for git hooks), those values are left.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from datasets_app.domain.pii.rules.numbers.cards import is_luhn_valid

_SIGNS = re.compile(r"[\s./()-]")


def is_checked(checks: Iterable[str], value: str) -> bool:
    """Whether one of ``checks`` (see id_formats.txt) accepts ``value``, as it stands or without its signs."""
    written = value.upper().strip()
    plain = _SIGNS.sub("", written)
    return any(_get_check(check)(written) or _get_check(check)(plain) for check in checks)


@cache
def _get_check(name: str) -> Callable[[str], bool]:
    if name in _OWN_CHECKS:
        return _OWN_CHECKS[name]
    return _make_presidio_check(name) if name[0].isupper() else _make_stdnum_check(name)


def _make_stdnum_check(name: str) -> Callable[[str], bool]:
    is_valid: Callable[[str], bool] = import_module(f"stdnum.{name}").is_valid
    return is_valid


def _make_presidio_check(name: str) -> Callable[[str], bool]:
    recognizers = _load_presidio()
    if recognizers is None:
        return lambda value: False
    recognizer = getattr(recognizers, f"{name}Recognizer")()
    entities = recognizer.supported_entities

    def check(value: str) -> bool:
        """A value whose digits don't agree isn't a result."""
        return any(
            result.start == 0 and result.end == len(value) for result in recognizer.analyze(value, entities)
        )

    return check


@cache
def _load_presidio() -> Any:
    try:
        return import_module("presidio_analyzer.predefined_recognizers")
    except ImportError:
        return None


# --- what neither of them has ------------------------------------------------------------------

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"


def _is_vin(value: str) -> bool:
    """The check digit of North American vehicles, the ninth place."""
    if not re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", value):
        return False
    return value[8] == compute_vin_digit(value)


def compute_vin_digit(vin: str) -> str:
    """Of a vehicle number of seventeen characters, whatever its ninth is."""
    values = [int(sign) if sign.isdigit() else _VIN_VALUES[sign] for sign in vin]
    rest = sum(number * weight for number, weight in zip(values, _VIN_WEIGHTS, strict=True)) % 11
    return "X" if rest == 10 else str(rest)


def _is_singapore_id(value: str) -> bool:
    if not re.fullmatch(r"[STFGM]\d{7}[A-Z]", value):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(value[1:8], (2, 7, 6, 5, 4, 3, 2), strict=True))
    total += {"T": 4, "G": 4, "M": 3}.get(value[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(value[0], "XWUTRQPNMLK")
    return letters[total % 11] == value[8]


def _is_hong_kong_id(value: str) -> bool:
    match = re.fullmatch(r"([A-Z]{1,2})(\d{6})([0-9A])", value)
    if not match:
        return False
    letters = [36] * (2 - len(match[1])) + [10 + _LETTERS.index(letter) for letter in match[1]]
    numbers = [*letters, *map(int, match[2]), 10 if match[3] == "A" else int(match[3])]
    return sum(number * weight for number, weight in zip(numbers, range(9, 0, -1), strict=True)) % 11 == 0


def _is_taiwan_id(value: str) -> bool:
    if not re.fullmatch(r"[A-Z][1289]\d{8}", value):
        return False
    area = 10 + _TAIWAN_LETTERS.index(value[0])
    numbers = [area // 10, area % 10, *map(int, value[1:])]
    return sum(n * w for n, w in zip(numbers, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True)) % 10 == 0


def _is_snils(value: str) -> bool:
    if not re.fullmatch(r"\d{11}", value):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(value[:9], range(9, 0, -1), strict=True))
    return total % 101 % 100 == int(value[9:])


def _is_rfc(value: str) -> bool:
    """A Mexican tax number with its check digit, which python-stdnum leaves out unless told otherwise."""
    is_valid: Callable[..., bool] = import_module("stdnum.mx.rfc").is_valid
    return is_valid(value, validate_check_digits=True)


_OWN_CHECKS: dict[str, Callable[[str], bool]] = {
    "luhn": lambda value: value.isdigit() and is_luhn_valid(value),
    "vin": _is_vin,
    "singapore": _is_singapore_id,
    "hong_kong": _is_hong_kong_id,
    "taiwan": _is_taiwan_id,
    "snils": _is_snils,
    "rfc": _is_rfc,
}
