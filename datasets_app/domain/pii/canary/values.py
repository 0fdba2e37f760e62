"""Made-up values of every class of personal data, to plant where a scrub should find them.

Numbers pass the checks of their issuers. Where ranges are reserved for examples (telephone numbers, cards,
addresses of networks and sites) values come from those.
"""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from datasets_app.domain.pii import detector
from datasets_app.domain.pii.canary import accounts
from datasets_app.domain.pii.canary.identity_numbers import IDENTITY_NUMBERS, fill_form
from datasets_app.domain.pii.canary.language_files import OTHER, read_sections, read_words
from datasets_app.domain.pii.canary.places import make_address, make_phone
from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, look_up_word, strip_accents
from datasets_app.domain.pii.network.languages import ENGLISH

# Names of people who don't exist: a first and a last name of a language, put together.
#
# Where its letters allow it, a quarter of the last names are in no list: the beginning of one name and the
# end of another.
UNLISTED_SHARE = 0.25
MIN_CHARACTERS, MAX_TRIES = 5, 20
GENDERS = ("women", "men")
# Those that are written with plain letters otherwise, where accents alone are left out.
_PLAIN_LETTERS = str.maketrans("łđøıßæ", "ldoisa")


class Person(NamedTuple):
    """``whole`` and ``titled`` ("Mr. Miller", "Fatma Hanım"; empty where no title is usual) are as the
    language writes them; ``listed``: the last name is in a list."""

    first: str
    last: str
    whole: str
    titled: str
    listed: bool = True


def make_person(random: Random, language: str = ENGLISH) -> Person:
    """Of a language without names an English one."""
    sections = read_sections(language)
    if "last" not in sections:
        return make_person(random)
    gender = random.choice(GENDERS)
    first, lasts = random.choice(read_words(language, gender)), read_words(language, "last")
    blended = _blend_names(lasts, gender, random) if random.random() < UNLISTED_SHARE else ""
    last = blended or _inflect(random.choice(lasts), gender)
    title = random.choice(sections.get(f"titles of {gender}", ("",)))
    whole = random.choice(sections["name"]).format(first=first, last=last)
    return Person(first, last, whole, title.format(first=first, last=last), listed=not blended)


def make_user_person(random: Random, language: str) -> tuple[str, str]:
    """A first and a last name as they are part of addresses and user names: plain small letters."""
    person = make_person(random, language)
    names = tuple(_plain(name) for name in (person.first, person.last))
    return (names[0], names[1]) if all(map(str.isascii, names)) else make_user_person(random, ENGLISH)


def _plain(name: str) -> str:
    return strip_accents(name.lower()).translate(_PLAIN_LETTERS).replace(" ", "").replace("'", "")


def _inflect(name: str, gender: str) -> str:
    """Of "Novák/Nováková" the second for a woman."""
    man, _, woman = name.partition("/")
    return woman if woman and gender == "women" else man


def _blend_names(names: tuple[str, ...], gender: str, random: Random) -> str:
    """Empty where names are too short, or written with signs that belong to a letter."""
    for _ in range(MAX_TRIES):
        start, end = (_inflect(random.choice(names), gender) for _ in range(2))
        name = start[: (len(start) + 1) // 2] + end[len(end) // 2 :].lower()
        if len(name) >= MIN_CHARACTERS and name.isalpha() and look_up_word(name) == UNKNOWN_WORD:
            return name
    return ""


class PlantedValue(NamedTuple):
    """``parts`` are what identifies somebody: one of them left over and the value has survived.

    ``form`` says which form of its class it has ("IBAN of DE"). ``nouns`` are what people call it, if not
    what they call others of its class. ``fixed_case``: in other letters it is another value.
    """

    kind: str
    text: str
    form: str
    parts: tuple[str, ...]
    nouns: tuple[str, ...] = ()
    fixed_case: bool = False


_SITES = ("example.com", "example.org", "example.net", "mail.example.com", "shop.example.org")
_EXAMPLE_DATE = date(1984, 3, 7)


def make_value(kind: str, random: Random, language: str = ENGLISH) -> PlantedValue:
    """A value of a class of :data:`detector.KINDS`, as people of a language have them."""
    make = _MAKERS.get(kind)
    return make(random) if make else _MAKERS_BY_LANGUAGE[kind](random, language)


def _make_name(random: Random, language: str) -> PlantedValue:
    person = make_person(random, language)
    whole = ("first and last name", person.whole)
    titled = ("name with a title", person.titled) if person.titled else whole
    form, text = random.choice((("first name", person.first), whole, whole, whole, titled))
    names = [name for name in (person.first, person.last) if name in text]
    # A single sign of Chinese or Korean is part of many other words.
    parts = tuple(word for name in names for word in name.split() if len(word) > 1) or (text,)
    form += ", in no list" if person.last in text and not person.listed else ""
    return PlantedValue(detector.NAME, text, form, parts)


def _make_email(random: Random, language: str) -> PlantedValue:
    user = _make_user(random, language, "._-")
    site = random.choice(_SITES)
    form, text = random.choice(
        (
            ("plain", f"{user}@{site}"),
            ("plain", f"{user}@{site}"),
            ("plus", f"{user}+{random.choice(('shop', 'news', 'test'))}@{site}"),
        )
    )
    return PlantedValue(detector.EMAIL, text, form, (user,))


def _make_user(random: Random, language: str, joiners: str) -> str:
    first, last = make_user_person(random, language)
    sign = random.choice(joiners)
    number = random.choice(("", "", str(random.randrange(1, 100)), str(random.randrange(1960, 2008))))
    return random.choice((f"{first}{sign}{last}", f"{first[0]}{last}", f"{first}{sign}{last[0]}")) + number


def _make_handle(random: Random, language: str) -> PlantedValue:
    user = _make_user(random, language, "_.") + str(random.randrange(10, 100))
    networks = ("Instagram", "Twitter handle", "telegram", "TikTok")
    form, text, nouns = random.choice(
        (
            ("with @", f"@{user}", ("", *networks)),
            ("with @", f"@{user}", ("", *networks)),
            ("u/…", f"u/{user.replace('.', '_')}", ("", "reddit")),
            ("after a cue", user, ("username", "user name", "login", "screen name", "gamertag", "handle")),
        )
    )
    return PlantedValue(
        detector.HANDLE, text, form, (user.replace(".", "_") if form == "u/…" else user,), nouns
    )


def _make_phone(random: Random, language: str) -> PlantedValue:
    country, text = make_phone(random, read_words(language, "countries"))
    form = f"{country}, {'international' if text.startswith('+') else 'national'}"
    return PlantedValue(detector.PHONE, text, form, (text,))


def _make_ip(random: Random) -> PlantedValue:
    block = random.choice(("192.0.2", "198.51.100", "203.0.113"))
    groups = ":".join(f"{random.randrange(1, 1 << 16):x}" for _ in range(3))
    form, text = random.choice(
        (
            ("IPv4", f"{block}.{random.randrange(1, 255)}"),
            ("IPv4", f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}"),
            ("IPv6", f"2001:db8:{groups}::{random.randrange(1, 1 << 16):x}"),
        )
    )
    return PlantedValue(detector.IP, text, form, (text,))


def _make_mac(random: Random) -> PlantedValue:
    """Locally administered: no maker has them."""
    octets = [
        random.choice("26ae").rjust(2, random.choice("048c")),
        *(random.randbytes(1).hex() for _ in range(5)),
    ]
    joined = "".join(octets)
    form, text = random.choice(
        (
            ("colons", ":".join(octets)),
            ("hyphens", "-".join(octets)),
            ("dots", ".".join((joined[:4], joined[4:8], joined[8:]))),
        )
    )
    text = random.choice((text, text.upper()))
    return PlantedValue(detector.MAC, text, form, (text,))


def _make_credential(random: Random) -> PlantedValue:
    secret = f"{random.choice(('maple', 'orchid', 'tundra', 'pixel'))}-{fill_form(random, '[A-Za-z0-9]{7}')}7"
    form, text, nouns = random.choice(
        (
            ("password", secret, ("password", "passwort", "pass word", "pwd")),
            ("GitHub token", fill_form(random, "ghp_[A-Za-z0-9]{36}"), ("token", "github token")),
            (
                "AWS key",
                fill_form(random, "AKIA[A-Z2-7]{16}"),
                ("access key",),
            ),
            ("Stripe key", fill_form(random, "sk_live_[A-Za-z0-9]{24}"), ("api key", "secret key")),
        )
    )
    if form == "password":
        nouns = ("password", "Password")
    return PlantedValue(detector.CREDENTIAL, text, form, (text,), nouns, fixed_case=True)


def _make_path(random: Random, language: str) -> PlantedValue:
    first, last = make_user_person(random, language)
    user = f"{first[0]}{last}"
    file = random.choice(("report.pdf", "notes.txt", "invoice.xlsx", "backup.zip"))
    form, text = random.choice(
        (
            ("Linux", f"/home/{user}/documents/{file}"),
            ("macOS", f"/Users/{user}/Desktop/{file}"),
            ("Windows", f"C:\\Users\\{user}\\Downloads\\{file}"),
        )
    )
    return PlantedValue(detector.PATH, text, form, (user,), fixed_case=True)


def _make_host(random: Random) -> PlantedValue:
    machine = random.choice(("db", "web", "mail", "build", "vpn", "cache"))
    place, ending = random.choice(("prod", "fra", "nyc")), random.choice(("internal", "local", "lan", "corp"))
    firm = fill_form(random, "[a-ik-pr-w]{6}")
    text = f"{machine}-{place}-{random.randrange(1, 100):02d}.{firm}.{ending}"
    return PlantedValue(detector.HOST, text, ending, (text,))


def _make_url(random: Random, language: str) -> PlantedValue:
    site = random.choice(_SITES)
    user = _make_user(random, language, "._")
    phone = fill_form(random, "1202555[0-9]{4}")
    form, query, value = random.choice(
        (
            ("e-mail in the query", f"unsubscribe?email={user}%40example.com", user),
            ("e-mail in the query", f"login?next=%2Fcart&user={user}@example.com", user),
            ("telephone in the query", f"track?phone={phone}&lang=en", phone),
        )
    )
    return PlantedValue(detector.URL, f"https://{site}/{query}", form, (value,))


def _make_birthday(random: Random, language: str) -> PlantedValue:
    form = random.choice((*read_sections(language)["dates"], *read_sections(OTHER)["dates"]))
    text = _format_date(form, _pick_birthday(random), language)
    return PlantedValue(detector.DATE_OF_BIRTH, text, _format_date(form, _EXAMPLE_DATE, language), (text,))


def _pick_birthday(random: Random) -> date:
    """Of a grown-up."""
    return date(1942, 1, 1) + timedelta(days=random.randrange(60 * 365))


def _format_date(form: str, day: date, language: str) -> str:
    months = read_words(language, "months")
    name = months[day.month - 1] if months else ""
    return form.format(
        year=day.year, yy=day.year % 100, month=day.month, day=day.day, name=name, short=name[:3]
    )


def _make_address(random: Random, language: str) -> PlantedValue:
    address = make_address(random, read_words(language, "countries"))
    return PlantedValue(detector.ADDRESS, address.text, address.form, (address.street, address.postal_code))


def _make_id_number(random: Random) -> PlantedValue:
    number = random.choice(IDENTITY_NUMBERS)
    text = number.make(random)
    return PlantedValue(detector.ID_NUMBER, text, f"{number.name}, {number.country}", (text,), number.nouns)


def _make_iban(random: Random) -> PlantedValue:
    country, text = accounts.make_iban(random)
    return PlantedValue(detector.IBAN, text, country, (text,))


def _make_wallet(random: Random) -> PlantedValue:
    currency, text = accounts.make_wallet(random)
    return PlantedValue(detector.CRYPTO_WALLET, text, currency, (text,), fixed_case=True)


def _make_plain(kind: str, make: Callable[[Random], str]) -> Callable[[Random], PlantedValue]:
    def make_planted(random: Random) -> PlantedValue:
        text = make(random)
        return PlantedValue(kind, text, "with signs" if not text.isalnum() else "digits alone", (text,))

    return make_planted


_MAKERS: dict[str, Callable[[Random], PlantedValue]] = {
    detector.SSN: _make_plain(detector.SSN, accounts.make_ssn),
    detector.CREDIT_CARD: _make_plain(detector.CREDIT_CARD, accounts.make_card),
    detector.IP: _make_ip,
    detector.CREDENTIAL: _make_credential,
    detector.HOST: _make_host,
    detector.IBAN: _make_iban,
    detector.ACCOUNT: _make_plain(detector.ACCOUNT, accounts.make_account),
    detector.ID_NUMBER: _make_id_number,
    detector.CRYPTO_WALLET: _make_wallet,
    detector.MAC: _make_mac,
}
_MAKERS_BY_LANGUAGE: dict[str, Callable[[Random, str], PlantedValue]] = {
    detector.NAME: _make_name,
    detector.EMAIL: _make_email,
    detector.PHONE: _make_phone,
    detector.PATH: _make_path,
    detector.HANDLE: _make_handle,
    detector.ADDRESS: _make_address,
    detector.DATE_OF_BIRTH: _make_birthday,
    detector.URL: _make_url,
}
