"""Made-up identity, tax, health, license and vehicle numbers that pass the checks of their issuers."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from stdnum import ean, luhn, verhoeff
from stdnum.es import dni
from stdnum.fr import nir
from stdnum.iso7064 import mod_11_10
from stdnum.it import codicefiscale
from stdnum.pl import pesel
from stdnum.pt import nif

from datasets_app.domain.pii.canary import checksums
from datasets_app.domain.pii.rules.identity.id_checks import compute_vin_digit

Make = Callable[[Random], str]

_UPPER = "ABCDEFGHJKLMNPRSTUVWXYZ"
_FINNISH_LETTERS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_ITALIAN_MONTHS = "ABCDEHLMPRST"


class IdentityNumber(NamedTuple):
    """``nouns`` are what people call the number; ``country`` is an ISO code."""

    country: str
    name: str
    nouns: tuple[str, ...]
    make: Make


def pick_digits(random: Random, count: int, first: str = "0123456789") -> str:
    return random.choice(first) + "".join(random.choices("0123456789", k=count - 1))


def pick_letters(random: Random, count: int, among: str = _UPPER) -> str:
    return "".join(random.choices(among, k=count))


def pick_birthday(random: Random) -> date:
    """Of a grown-up."""
    return date(1942, 1, 1) + timedelta(days=random.randrange(60 * 365))


# --- Great Britain, Ireland, North America, Australia, India --------------------------------------


def _make_nhs_number(random: Random) -> str:
    while True:
        digits = pick_digits(random, 9, "4567")
        check = 11 - checksums.sum_weighted(digits, range(10, 1, -1)) % 11
        if check != 10:
            number = f"{digits}{check % 11}"
            return random.choice((number, f"{number[:3]} {number[3:6]} {number[6:]}"))


def _make_national_insurance_number(random: Random) -> str:
    prefix = random.choice(("AB", "CE", "HR", "JK", "LP", "MW", "PE", "SA", "WT", "YZ"))
    digits, suffix = pick_digits(random, 6), random.choice("ABCD")
    grouped = " ".join((prefix, digits[:2], digits[2:4], digits[4:], suffix))
    return random.choice((f"{prefix}{digits}{suffix}", grouped))


def _make_passport_number(random: Random) -> str:
    return random.choice((pick_digits(random, 9, "3456"), pick_letters(random, 1) + pick_digits(random, 8)))


def _make_driving_license(random: Random) -> str:
    """Of California, New York's new form, or Great Britain."""
    born = pick_birthday(random)
    british = (
        f"{pick_letters(random, 5)}{born.year // 10 % 10}{born.month:02d}{born.day:02d}{born.year % 10}"
        f"{pick_letters(random, 2)}9{pick_letters(random, 2)}"
    )
    return random.choice((pick_letters(random, 1) + pick_digits(random, 7), pick_digits(random, 9), british))


def _make_medicare_id(random: Random) -> str:
    """The beneficiary number of US Medicare: 1EG4-TE5-MK73."""
    letters = "ACDEFGHJKMNPQRTUVWXY"
    either = letters + "0123456789"
    signs = (
        pick_digits(random, 1, "123456789"),
        pick_letters(random, 1, letters),
        pick_letters(random, 1, either),
        pick_digits(random, 1),
        pick_letters(random, 1, letters),
        pick_letters(random, 1, either),
        pick_digits(random, 1),
        pick_letters(random, 2, letters),
        pick_digits(random, 2),
    )
    number = "".join(signs)
    return random.choice((number, f"{number[:4]}-{number[4:7]}-{number[7:]}"))


def _make_vehicle_number(random: Random) -> str:
    maker = random.choice(("1HG", "2T1", "3VW", "5YJ", "WBA", "WVW", "JTD", "VF1", "ZFA", "YV1"))
    vin = maker + pick_letters(random, 5, _UPPER + "123456789") + "0" + pick_letters(random, 2, "ABCDEFGHJK")
    vin += pick_digits(random, 6)
    return vin[:8] + compute_vin_digit(vin) + vin[9:]


def _make_social_insurance_number(random: Random) -> str:
    digits = pick_digits(random, 8, "1234567")
    number = digits + luhn.calc_check_digit(digits)
    return random.choice((" ", "-")).join((number[:3], number[3:6], number[6:]))


def _make_tax_file_number(random: Random) -> str:
    while True:
        digits = pick_digits(random, 8, "123456789")
        total = checksums.sum_weighted(digits, (1, 4, 3, 7, 5, 8, 6, 9))
        check = next((check for check in range(10) if (total + 10 * check) % 11 == 0), None)
        if check is not None:
            number = f"{digits}{check}"
            return random.choice((number, f"{number[:3]} {number[3:6]} {number[6:]}"))


def _make_australian_medicare_number(random: Random) -> str:
    digits = pick_digits(random, 8, "23456")
    number = f"{digits}{checksums.sum_weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9)) % 10}{random.randint(1, 9)}"
    return f"{number[:4]} {number[4:9]} {number[9]}"


def _make_aadhaar(random: Random) -> str:
    digits = pick_digits(random, 11, "23456789")
    number = digits + verhoeff.calc_check_digit(digits)
    return random.choice((number, f"{number[:4]} {number[4:8]} {number[8:]}"))


def _make_permanent_account_number(random: Random) -> str:
    initial, last = pick_letters(random, 1), pick_letters(random, 1)
    return f"{pick_letters(random, 3)}P{initial}{pick_digits(random, 4)}{last}"


# --- continental Europe, Brazil -------------------------------------------------------------------


def _make_german_tax_id(random: Random) -> str:
    """Of the first ten digits exactly one occurs twice."""
    digits = random.sample("123456789", 1) + random.sample("0123456789", 10)
    kept = list(dict.fromkeys(digits))[:9]
    kept.insert(random.randrange(2, 10), kept[random.randrange(9)])
    first = "".join(kept)
    number = first + mod_11_10.calc_check_digit(first)
    return random.choice((number, f"{number[:2]} {number[2:5]} {number[5:8]} {number[8:]}"))


def _make_german_identity_card(random: Random) -> str:
    letters = "CFGHJKLMNPRTVWXYZ"
    number = random.choice("LMNPRTVWXY") + pick_letters(random, 8, letters + "0123456789" * 2)
    return number + checksums.icao_digit(number)


def _make_french_social_security_number(random: Random) -> str:
    born = pick_birthday(random)
    number = (
        f"{random.choice('12')}{born.year % 100:02d}{born.month:02d}{random.randint(1, 95):02d}"
        f"{random.randint(1, 400):03d}{random.randint(1, 600):03d}"
    )
    key = nir.calc_check_digits(number)
    grouped = " ".join((number[0], number[1:3], number[3:5], number[5:7], number[7:10], number[10:], key))
    return random.choice((number + key, grouped))


def _make_spanish_dni(random: Random) -> str:
    number = random.randrange(10_000_000, 79_999_999)
    return f"{number}{random.choice(('', '-'))}{dni.calc_check_digit(str(number))}"


def _make_spanish_nie(random: Random) -> str:
    first, number = random.randrange(3), random.randrange(10_000_000)
    return f"{'XYZ'[first]}{number:07d}{dni.calc_check_digit(f'{first}{number:07d}')}"


def _make_italian_tax_code(random: Random) -> str:
    born = pick_birthday(random)
    day = born.day + random.choice((0, 40))
    code = (
        f"{pick_letters(random, 6, 'BCDFGLMNPRSTVZ')}{born.year % 100:02d}{_ITALIAN_MONTHS[born.month - 1]}"
        f"{day:02d}{pick_letters(random, 1, 'ABCDEFGHL')}{pick_digits(random, 3)}"
    )
    return f"{code}{codicefiscale.calc_check_digit(code)}"


def _make_dutch_bsn(random: Random) -> str:
    while True:
        digits = pick_digits(random, 8, "12")
        check = checksums.sum_weighted(digits, range(9, 1, -1)) % 11
        if check < 10:
            return f"{digits}{check}"


def _make_belgian_national_number(random: Random) -> str:
    born = pick_birthday(random)
    first = f"{born:%y%m%d}{random.randint(1, 998):03d}"
    full = int(first) + (2_000_000_000 if born.year >= 2000 else 0)
    number = f"{first}{97 - full % 97:02d}"
    return f"{number[:2]}.{number[2:4]}.{number[4:6]}-{number[6:9]}.{number[9:]}"


def _make_swiss_ahv_number(random: Random) -> str:
    digits = f"756{pick_digits(random, 9)}"
    return f"756.{digits[3:7]}.{digits[7:11]}.{digits[11]}{ean.calc_check_digit(digits)}"


def _make_portuguese_nif(random: Random) -> str:
    digits = pick_digits(random, 8, "12")
    number = digits + nif.calc_check_digit(digits)
    return random.choice((number, f"{number[:3]} {number[3:6]} {number[6:]}"))


def _make_polish_pesel(random: Random) -> str:
    born = pick_birthday(random)
    month = born.month + (20 if born.year >= 2000 else 0)
    digits = f"{born.year % 100:02d}{month:02d}{born.day:02d}{random.randrange(10_000):04d}"
    return f"{digits}{pesel.calc_check_digit(digits)}"


def _make_swedish_personal_number(random: Random) -> str:
    born = pick_birthday(random)
    digits = f"{born:%y%m%d}{random.randrange(1000):03d}"
    number = f"{digits[:6]}-{digits[6:]}{luhn.calc_check_digit(digits)}"
    return random.choice((number, f"{born.year // 100}{number}"))


def _make_norwegian_birth_number(random: Random) -> str:
    while True:
        born = pick_birthday(random)
        digits = (
            f"{born:%d%m%y}{random.randint(500, 999) if born.year >= 2000 else random.randint(0, 499):03d}"
        )
        first = -checksums.sum_weighted(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
        second = -checksums.sum_weighted(f"{digits}{first % 10}", (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
        if first < 10 and second < 10:
            return f"{digits[:6]} {digits[6:]}{first}{second}"


def _make_finnish_identity_code(random: Random) -> str:
    born = pick_birthday(random)
    number = f"{random.randint(2, 899):03d}"
    check = _FINNISH_LETTERS[int(f"{born:%d%m%y}{number}") % 31]
    return f"{born:%d%m%y}{'A' if born.year >= 2000 else '-'}{number}{check}"


def _make_danish_cpr_number(random: Random) -> str:
    return f"{pick_birthday(random):%d%m%y}-{pick_digits(random, 4, '0123')}"


def _make_brazilian_cpf(random: Random) -> str:
    digits = pick_digits(random, 9)
    for start in (10, 11):
        check = checksums.sum_weighted(digits, range(start, 1, -1)) * 10 % 11
        digits += str(check % 10)
    return random.choice((digits, f"{digits[:3]}.{digits[3:6]}.{digits[6:9]}-{digits[9:]}"))


IDENTITY_NUMBERS = (
    IdentityNumber("GB", "NHS number", ("NHS number", "nhs no"), _make_nhs_number),
    IdentityNumber(
        "GB",
        "national insurance number",
        ("national insurance number", "NI number", "NINO"),
        _make_national_insurance_number,
    ),
    IdentityNumber("US", "passport", ("passport number", "passport no", "passport"), _make_passport_number),
    IdentityNumber(
        "US",
        "driver's license",
        ("driver's license number", "driver's license", "driving license number", "drivers license"),
        _make_driving_license,
    ),
    IdentityNumber("US", "Medicare number", ("Medicare number", "medicare id", "MBI"), _make_medicare_id),
    IdentityNumber("US", "vehicle number", ("VIN", "vin number", "chassis number"), _make_vehicle_number),
    IdentityNumber("CA", "SIN", ("SIN", "social insurance number"), _make_social_insurance_number),
    IdentityNumber("AU", "tax file number", ("tax file number", "TFN"), _make_tax_file_number),
    IdentityNumber(
        "AU", "Medicare card", ("Medicare number", "medicare card"), _make_australian_medicare_number
    ),
    IdentityNumber("IN", "Aadhaar", ("Aadhaar number", "aadhaar", "aadhar no"), _make_aadhaar),
    IdentityNumber("IN", "PAN", ("PAN", "PAN number", "pan card no"), _make_permanent_account_number),
    IdentityNumber(
        "DE", "tax id", ("Steuer-ID", "Steuer-IdNr.", "steuerliche ID", "tax ID"), _make_german_tax_id
    ),
    IdentityNumber(
        "DE",
        "identity card",
        ("Personalausweisnummer", "Ausweisnummer", "ID card number"),
        _make_german_identity_card,
    ),
    IdentityNumber(
        "FR",
        "social security number",
        ("numéro de sécurité sociale", "numéro de sécu", "NIR", "social security number"),
        _make_french_social_security_number,
    ),
    IdentityNumber("ES", "DNI", ("DNI", "dni", "NIF"), _make_spanish_dni),
    IdentityNumber("ES", "NIE", ("NIE", "nie"), _make_spanish_nie),
    IdentityNumber("IT", "tax code", ("codice fiscale", "CF", "tax code"), _make_italian_tax_code),
    IdentityNumber("NL", "BSN", ("BSN", "burgerservicenummer", "bsn nummer"), _make_dutch_bsn),
    IdentityNumber(
        "BE", "national number", ("rijksregisternummer", "national number"), _make_belgian_national_number
    ),
    IdentityNumber("CH", "AHV number", ("AHV-Nummer", "AHV number"), _make_swiss_ahv_number),
    IdentityNumber("PT", "NIF", ("NIF", "número de contribuinte"), _make_portuguese_nif),
    IdentityNumber("PL", "PESEL", ("PESEL", "numer PESEL", "pesel"), _make_polish_pesel),
    IdentityNumber(
        "SE", "personal number", ("personnummer", "personal number"), _make_swedish_personal_number
    ),
    IdentityNumber(
        "NO", "birth number", ("fødselsnummer", "national ID number"), _make_norwegian_birth_number
    ),
    IdentityNumber(
        "FI", "identity code", ("henkilötunnus", "hetu", "identity code"), _make_finnish_identity_code
    ),
    IdentityNumber("DK", "CPR number", ("CPR-nummer", "CPR number", "cpr"), _make_danish_cpr_number),
    IdentityNumber("BR", "CPF", ("CPF", "cpf"), _make_brazilian_cpf),
)
