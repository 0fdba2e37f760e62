"""Made-up cards, bank accounts and wallets; reserved ranges where there are some."""

from random import Random

from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from datasets_app.domain.pii.canary import checksums
from datasets_app.domain.pii.canary.identity_numbers import pick_digits, pick_letters

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
    digits = prefix + pick_digits(random, length - 7)
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

_IBAN_LENGTHS = {"DE": 18, "AT": 16, "SE": 20, "DK": 14, "PL": 24, "CZ": 20}
_BRITISH_BANKS = ("NWBK", "BARC", "LOYD", "MIDL", "HBUK")
_DUTCH_BANKS = ("ABNA", "INGB", "RABO", "SNSB", "TRIO")
_IRISH_BANKS = ("AIBK", "BOFI", "ULSB")
_BELGIAN_BANKS = ("001", "068", "363", "735", "979")
_SPANISH_WEIGHTS = (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)
IBAN_COUNTRIES = ("DE", "GB", "FR", "ES", "NL", "BE", "AT", "CH", "IE", "PT", "SE", "DK", "FI", "CZ", "PL")


def make_iban(random: Random, country: str = "") -> tuple[str, str]:
    """The country and the number, as printed on paper or in one piece."""
    country = country or random.choice(IBAN_COUNTRIES)
    account = _make_account(random, country)
    number = f"{country}{mod_97_10.calc_check_digits(account + country)}{account}"
    grouped = " ".join(number[start : start + 4] for start in range(0, len(number), 4))
    return country, random.choice((number, grouped, grouped))


def _make_account(random: Random, country: str) -> str:
    """The part that a country defines, with its own check digits where it has some."""
    if country == "GB":
        return random.choice(_BRITISH_BANKS) + pick_digits(random, 14)
    if country == "IE":
        return random.choice(_IRISH_BANKS) + pick_digits(random, 14)
    if country == "NL":
        return random.choice(_DUTCH_BANKS) + _make_dutch_account(random)
    if country == "CH":
        return pick_digits(random, 17)
    if country == "FR":
        bank, branch, account = pick_digits(random, 5), pick_digits(random, 5), pick_digits(random, 11)
        key = 97 - (89 * int(bank) + 15 * int(branch) + 3 * int(account)) % 97
        return f"{bank}{branch}{account}{key:02d}"
    if country == "ES":
        bank, account = pick_digits(random, 8), pick_digits(random, 10)
        return f"{bank}{_spanish_digit('00' + bank)}{_spanish_digit(account)}{account}"
    if country == "BE":
        first = random.choice(_BELGIAN_BANKS) + pick_digits(random, 7)
        return f"{first}{int(first) % 97 or 97:02d}"
    if country == "PT":
        first = pick_digits(random, 19)
        return f"{first}{98 - int(first + '00') % 97:02d}"
    if country == "FI":
        first = pick_digits(random, 13, "1234567")
        return f"{first}{luhn.calc_check_digit(first)}"
    return pick_digits(random, _IBAN_LENGTHS[country])


def _make_dutch_account(random: Random) -> str:
    while True:
        digits = pick_digits(random, 8, "123456789")
        check = -checksums.sum_weighted(digits, range(9, 1, -1)) % 11
        if check < 10:
            return f"0{digits}{check}"


def _spanish_digit(digits: str) -> int:
    check = 11 - checksums.sum_weighted(digits, _SPANISH_WEIGHTS) % 11
    return {10: 1, 11: 0}.get(check, check)


def make_account(random: Random) -> str:
    """A bank account or a customer's number, without a form of its own."""
    plain = pick_digits(random, random.choice((8, 8, 9, 10, 12)), "123456789")
    sort_code = "-".join(pick_digits(random, 2) for _ in range(3))
    return random.choice(
        (
            plain,
            plain,
            f"{sort_code} {pick_digits(random, 8)}",
            f"{pick_letters(random, 2)}-{pick_digits(random, 7)}",
            f"{pick_digits(random, 4)}-{pick_digits(random, 4)}-{pick_digits(random, 2)}",
        )
    )


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
