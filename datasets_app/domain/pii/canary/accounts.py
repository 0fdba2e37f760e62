"""Made-up cards, bank accounts and wallets; reserved ranges where there are some."""

import re
from functools import cache
from random import Random

from stdnum import iban, luhn, numdb
from stdnum.iso7064 import mod_97_10

from datasets_app.domain.pii.canary import checksums
from datasets_app.domain.pii.canary.identity_numbers import fill_form

# Prefixes of numbers that payment processors publish for tests, and the length of the card.
_TEST_CARDS = (
    ("411111", 16),
    ("424242", 16),
    ("400000", 16),
    ("555555", 16),
    ("510510", 16),
    ("222300", 16),
    ("601111", 16),
    ("356600", 16),
    ("378282", 15),
    ("371449", 15),
)


def make_card(random: Random) -> str:
    prefix, length = random.choice(_TEST_CARDS)
    digits = prefix + fill_form(random, f"[0-9]{{{length - 7}}}")
    number = digits + luhn.calc_check_digit(digits)
    groups = [number[:4], number[4:8], number[8:12], number[12:]]
    if length == 15:
        groups = [number[:4], number[4:10], number[10:]]
    return random.choice((" ", " ", "-", "")).join(groups)


def make_ssn(random: Random) -> str:
    """No numbers are reserved for examples but such as no one could have, which detectors may leave."""
    area = random.choice([*range(1, 666), *range(667, 900)])
    groups = (f"{area:03d}", f"{random.randint(1, 99):02d}", f"{random.randint(1, 9999):04d}")
    return random.choice(("-", "-", "-", " ", "")).join(groups)


# --- bank accounts -----------------------------------------------------------------------------

IBAN_COUNTRIES = ("DE", "GB", "FR", "ES", "NL", "BE", "AT", "CH", "IE", "PT", "SE", "DK", "FI", "CZ", "PL")
# The kinds of signs in the registry of IBANs ("4!a14!n"); where letters may stand, there are mostly digits.
_IBAN_SIGNS = {"n": "[0-9]", "a": "[A-Z]", "c": "[0-9]"}


def make_iban(random: Random, country: str = "") -> tuple[str, str]:
    """The country and the number, as printed on paper or in one piece."""
    country = country or random.choice(IBAN_COUNTRIES)
    form = _get_account_form(country)
    while True:
        account = fill_form(random, form)
        number = f"{country}{mod_97_10.calc_check_digits(account + country)}{account}"
        if iban.is_valid(number):  # some countries have check digits of their own as well
            grouped = " ".join(number[start : start + 4] for start in range(0, len(number), 4))
            return country, random.choice((number, grouped, grouped))


@cache
def _get_account_form(country: str) -> str:
    """The part that a country defines."""
    [(_, described), *_] = numdb.get("iban").info(country)
    return re.sub(r"(\d+)!([nac])", lambda part: f"{_IBAN_SIGNS[part[2]]}{{{part[1]}}}", described["bban"])


def make_account(random: Random) -> str:
    """A bank account or a customer's number, without a form of its own."""
    length = random.choice((7, 7, 8, 9, 11))
    forms = (
        f"[1-9][0-9]{{{length}}}",
        f"[1-9][0-9]{{{length}}}",
        "[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{8}",
        "[A-HJ-NPR-Z]{2}-[0-9]{7}",
        "[0-9]{4}-[0-9]{4}-[0-9]{2}",
    )
    return fill_form(random, random.choice(forms))


# --- wallets -----------------------------------------------------------------------------------

# The first byte of an address says what it is an address of.
_BITCOIN, _BITCOIN_SCRIPT, _LITECOIN, _DOGECOIN, _TRON = b"\x00", b"\x05", b"\x30", b"\x1e", b"\x41"
WALLETS = ("Bitcoin", "Bitcoin SegWit", "Ethereum", "Litecoin", "Dogecoin", "Tron")


def make_wallet(random: Random) -> tuple[str, str]:
    """The currency and an address that no known key opens."""
    kind, program = random.choice(WALLETS), random.randbytes(20)
    if kind == "Bitcoin":
        return kind, checksums.encode_base58_check(random.choice((_BITCOIN, _BITCOIN_SCRIPT)) + program)
    if kind == "Bitcoin SegWit":
        return kind, random.choice(
            (
                checksums.encode_bech32("bc", 0, program),
                checksums.encode_bech32("bc", 1, random.randbytes(32)),
            )
        )
    if kind == "Ethereum":
        return kind, f"0x{program.hex()}"
    version = {"Litecoin": _LITECOIN, "Dogecoin": _DOGECOIN, "Tron": _TRON}[kind]
    return kind, checksums.encode_base58_check(version + program)
