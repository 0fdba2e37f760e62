"""Postal addresses of twelve countries: real towns, made-up numbers in streets that are everywhere."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from datasets_app.domain.pii.canary.identity_numbers import pick_digits, pick_letters


class Address(NamedTuple):
    """``form`` is the country, and "in lines" if ``text`` has several. ``street`` includes the number."""

    text: str
    form: str
    street: str
    postal_code: str


class _Lines(NamedTuple):
    street: str
    rest: tuple[str, ...]
    postal_code: str


def make_address(random: Random) -> Address:
    country = random.choice(tuple(_MAKERS))
    street, rest, postal_code = _MAKERS[country](random)
    in_lines = random.random() < 0.3
    text = ("\n" if in_lines else ", ").join((street, *rest))
    return Address(text, f"{country}, in lines" if in_lines else country, street, postal_code)


def _make_american(random: Random) -> _Lines:
    name = random.choice(
        ("Maple", "Elm Grove", "Washington", "Lakeview", "Cedar Hill", "2nd", "Jefferson", "Mill")
    )
    suffix = random.choice(("Street", "St", "Ave", "Avenue", "Rd", "Drive", "Ln", "Blvd", "Court"))
    unit = random.choice(("", "", "", f" Apt {random.randint(1, 40)}B", f" Unit {random.randint(1, 30)}"))
    town, state, code = random.choice(
        (
            ("Springfield", "IL", "627"),
            ("Austin", "TX", "787"),
            ("Portland", "OR", "972"),
            ("Columbus", "OH", "432"),
            ("Boise", "ID", "837"),
        )
    )
    postal = code + pick_digits(random, 2)
    return _Lines(f"{random.randint(12, 9899)} {name} {suffix}{unit}", (f"{town}, {state} {postal}",), postal)


def _make_canadian(random: Random) -> _Lines:
    letters = "ABCEGHJKLMNPRSTVXYZ"
    name = random.choice(("Queen Street West", "Bloor St", "Granville Street", "Rideau St", "Portage Ave"))
    town, province, first = random.choice(
        (("Toronto", "ON", "M"), ("Vancouver", "BC", "V"), ("Ottawa", "ON", "K"), ("Winnipeg", "MB", "R"))
    )
    parts = (first, pick_digits(random, 1), pick_letters(random, 1, letters))
    ending = (pick_digits(random, 1), pick_letters(random, 1, letters), pick_digits(random, 1))
    postal = f"{''.join(parts)} {''.join(ending)}"
    return _Lines(f"{random.randint(10, 4800)} {name}", (f"{town}, {province} {postal}",), postal)


def _make_british(random: Random) -> _Lines:
    name = random.choice(
        ("Orchard Road", "High Street", "Station Road", "Victoria Terrace", "Church Lane", "Mill Close")
    )
    flat = random.choice(("", "", f"Flat {random.randint(1, 30)}, "))
    town, code = random.choice(
        (("Leeds", "LS6"), ("Bristol", "BS3"), ("London", "SE15"), ("Cardiff", "CF10"))
    )
    postal = f"{code} {pick_digits(random, 1, '123456789')}{pick_letters(random, 2, 'ABDEFGHJLNPQRSTUWXYZ')}"
    return _Lines(f"{flat}{random.randint(1, 240)} {name}", (town, postal), postal)


def _make_australian(random: Random) -> _Lines:
    name = random.choice(("George Street", "Collins St", "Pacific Highway", "Bourke Street", "Beach Road"))
    unit = random.choice(("", "", f"{random.randint(1, 40)}/"))
    town, state, code = random.choice(
        (("Newtown", "NSW", "20"), ("Fitzroy", "VIC", "30"), ("Toowong", "QLD", "40"))
    )
    postal = code + pick_digits(random, 2)
    return _Lines(f"{unit}{random.randint(2, 400)} {name}", (f"{town} {state} {postal}",), postal)


def _make_indian(random: Random) -> _Lines:
    name = random.choice(
        ("MG Road", "Park Street", "Linking Road", "Anna Salai", "Nehru Nagar", "Gandhi Marg")
    )
    town, code = random.choice(
        (("Bengaluru", "560"), ("Kolkata", "700"), ("Mumbai", "400"), ("Chennai", "600"))
    )
    postal = f"{code}0{pick_digits(random, 2)}"
    house = random.choice(
        (f"{random.randint(2, 300)}", f"H.No. {random.randint(2, 90)}/{random.randint(1, 9)}")
    )
    return _Lines(f"{house}, {name}", (f"{town} {postal}",), postal)


def _make_german(random: Random) -> _Lines:
    name = random.choice(
        ("Lindenstraße", "Hauptstr.", "Am Mühlbach", "Goetheplatz", "Bahnhofstraße", "Rosenweg")
    )
    town, code = random.choice((("Köln", "506"), ("Berlin", "104"), ("Leipzig", "041"), ("München", "803")))
    postal = code + pick_digits(random, 2)
    return _Lines(
        f"{name} {random.randint(1, 180)}{random.choice(('', '', 'a'))}", (f"{postal} {town}",), postal
    )


def _make_french(random: Random) -> _Lines:
    name = random.choice(
        ("rue des Lilas", "avenue Jean Jaurès", "boulevard Voltaire", "place de la Mairie", "chemin Vert")
    )
    town, code = random.choice((("Lyon", "6900"), ("Paris", "7501"), ("Nantes", "4400"), ("Lille", "5900")))
    postal = code + pick_digits(random, 1, "123456789")
    return _Lines(
        f"{random.randint(1, 190)}{random.choice(('', '', ' bis'))} {name}", (f"{postal} {town}",), postal
    )


def _make_spanish(random: Random) -> _Lines:
    name = random.choice(
        ("Calle Mayor", "C/ Alcalá", "Avenida de la Constitución", "Paseo del Prado", "Plaza España")
    )
    floor = random.choice(("", "", f", {random.randint(1, 8)}º {random.choice('ABCD')}"))
    town, code = random.choice((("Madrid", "280"), ("Sevilla", "410"), ("Valencia", "460")))
    postal = code + pick_digits(random, 2)
    return _Lines(f"{name} {random.randint(1, 240)}{floor}", (f"{postal} {town}",), postal)


def _make_italian(random: Random) -> _Lines:
    name = random.choice(("Via Garibaldi", "Corso Italia", "Viale dei Mille", "Piazza Dante", "Via Roma"))
    town, code = random.choice((("Bologna", "401"), ("Torino", "101"), ("Milano", "201")))
    postal = code + pick_digits(random, 2)
    return _Lines(f"{name} {random.randint(1, 200)}", (f"{postal} {town}",), postal)


def _make_dutch(random: Random) -> _Lines:
    name = random.choice(("Keizersgracht", "Dorpsstraat", "Kerkweg", "Stationsplein", "Nieuwelaan"))
    town, code = random.choice((("Amsterdam", "10"), ("Utrecht", "35"), ("Groningen", "97")))
    postal = f"{code}{pick_digits(random, 2)} {pick_letters(random, 2, 'ABCDEGHJKLMNPRTVWXZ')}"
    return _Lines(f"{name} {random.randint(1, 400)}", (f"{postal} {town}",), postal)


def _make_swedish(random: Random) -> _Lines:
    name = random.choice(("Storgatan", "Kungsgatan", "Ringvägen", "Skolgatan"))
    town, code = random.choice((("Göteborg", "411"), ("Stockholm", "118"), ("Lund", "223")))
    postal = f"{code} {pick_digits(random, 2)}"
    return _Lines(f"{name} {random.randint(1, 120)}", (f"{postal} {town}",), postal)


def _make_polish(random: Random) -> _Lines:
    name = random.choice(("ul. Długa", "ul. Kościuszki", "al. Niepodległości", "ulica Polna"))
    town, code = random.choice((("Kraków", "31"), ("Warszawa", "02"), ("Gdańsk", "80")))
    postal = f"{code}-{pick_digits(random, 3)}"
    return _Lines(f"{name} {random.randint(1, 150)}/{random.randint(1, 60)}", (f"{postal} {town}",), postal)


def _make_brazilian(random: Random) -> _Lines:
    name = random.choice(("Rua das Flores", "Av. Paulista", "Rua Sete de Setembro", "Travessa do Comércio"))
    town, code = random.choice(
        (("São Paulo - SP", "01310"), ("Curitiba - PR", "80020"), ("Recife - PE", "50030"))
    )
    postal = f"{code}-{pick_digits(random, 3)}"
    return _Lines(f"{name}, {random.randint(10, 2900)}", (town, postal), postal)


_MAKERS: dict[str, Callable[[Random], _Lines]] = {
    "US": _make_american,
    "CA": _make_canadian,
    "GB": _make_british,
    "AU": _make_australian,
    "IN": _make_indian,
    "DE": _make_german,
    "FR": _make_french,
    "ES": _make_spanish,
    "IT": _make_italian,
    "NL": _make_dutch,
    "SE": _make_swedish,
    "PL": _make_polish,
    "BR": _make_brazilian,
}
