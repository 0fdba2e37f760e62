"""Marked values for templates: of Faker in 25 locales, and such as Faker has none of."""

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import phonenumbers
from faker import Faker

from datasets_app.domain.pii.canary import accounts
from datasets_app.domain.pii.canary.identity_numbers import IDENTITY_NUMBERS, IdentityNumber

LOCALES_BY_LANGUAGE = {
    "en": ("en_US", "en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_IE", "en_NZ"),
    "de": ("de_DE", "de_DE", "de_AT", "de_CH"),
    "fr": ("fr_FR",),
    "es": ("es_ES", "es_MX"),
    "it": ("it_IT",),
    "nl": ("nl_NL",),
    "pt": ("pt_BR", "pt_PT"),
    "pl": ("pl_PL",),
    "sv": ("sv_SE",),
    "da": ("da_DK",),
    "fi": ("fi_FI",),
    "no": ("no_NO",),
    "cs": ("cs_CZ",),
}
ALL_LOCALES = tuple(dict.fromkeys(sum(LOCALES_BY_LANGUAGE.values(), ())))
# Not among those of English texts, which were filled before there were templates in these languages.
LOCALES_BY_LANGUAGE |= {"ru": ("ru_RU",), "tr": ("tr_TR",)}
# What says that a number is one: an issuer's check, which documents without one don't have.
_WITHOUT_CHECKSUM = frozenset(
    ("passport", "driver's license", "national insurance number", "PAN", "Medicare number", "CPR number")
)
ID_BY_CUE = "ID_BY_CUE"
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada"
    " grudnia",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar marts april maj juni juli august september oktober november december",
    "fi": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta"
    " lokakuuta marraskuuta joulukuuta",
    "no": "januar februar mars april mai juni juli august september oktober november desember",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
}
# Classes that people write in any case.
ANY_CASE = frozenset(
    ("NAME", "ADDRESS", "EMAIL", "HANDLE", "DATE_OF_BIRTH", "IBAN", "ID_NUMBER", ID_BY_CUE, "PHONE", "MAC")
)
_DAY_SEPARATORS = {"es": " de ", "pt": " de "} | dict.fromkeys(("de", "da", "fi", "no", "cs"), ". ")
_ENGLISH_ENDINGS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
_ONES = (
    " one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split(" ")
_TENS = "  twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
_ORDINALS = (
    " first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split(" ")
_USER_WORDS = (
    "falcon mango pixel wolf ninja tulip cactus rocket comet biscuit pirate panda thunder velvet socks"
    " pickle ghost banjo walrus turbo noodle otter raven shadow storm lemon ember maple koala vortex"
).split()


class Part(NamedTuple):
    """A piece of text and its class; None for what is not marked."""

    text: str
    kind: str | None = None


class Words(NamedTuple):
    """Fillers of one set, and forms of user names and birth dates that only it has."""

    nouns: dict[str, Sequence[str]]
    urls: Sequence[str]
    products: Sequence[str]
    users: Sequence[str] = ()
    addresses: Sequence[str] = ()
    births: Sequence[str] = ()
    english_births: Sequence[str] = ()


class ValueSource:
    """Makes the values of one row: all of one locale. ``language`` is that of the template."""

    def __init__(self, choose: random.Random, locale: str, language: str, words: Words) -> None:
        self.choose, self.locale, self.language, self.words = choose, locale, language, words
        self.fake = make_faker(locale)
        self.fake.seed_instance(choose.randrange(1 << 60))
        self.number: IdentityNumber | None = None

    def make(self, slot: str, *, in_lines: bool = False) -> list[Part]:
        if slot == "ADDRESS":
            return [Part(self._make_address(in_lines), slot)]
        made = getattr(self, f"make_{slot.lower()}" if slot.isupper() else f"fill_{slot}")()
        return [Part(made)] if isinstance(made, str) else made

    # --- people ---

    def make_name(self) -> list[Part]:
        return [Part(f"{self.fake.first_name()} {self.fake.last_name()}", "NAME")]

    def fill_first(self) -> list[Part]:
        return [Part(self.fake.first_name(), "NAME")]

    def fill_last(self) -> list[Part]:
        return [Part(self.fake.last_name(), "NAME")]

    def make_handle(self) -> list[Part]:
        return [Part(self._make_user(), "HANDLE")]

    def make_at_handle(self) -> list[Part]:
        return [Part(f"@{self._make_user()}", "HANDLE")]

    def make_handle_reddit(self) -> list[Part]:
        return [Part(self._make_user().replace(".", "_").replace("-", "_"), "HANDLE")]

    def make_handle_plain(self) -> list[Part]:
        return [Part(re.sub(r"[^a-zA-Z0-9]", "", self._make_user()), "HANDLE")]

    def _make_user(self) -> str:
        if self.words.users and self.choose.random() < 0.7:
            return self._fill_user(self.choose.choice(self.words.users))
        user, number = self.fake.user_name(), self.choose.randrange(2, 2010)
        words = self._make_american()
        word = words.word()
        forms = (
            user,
            user,
            f"{user}{number}",
            f"{user}_{word}",
            f"{word}.{user}",
            f"the{word.title()}{number}",
            f"{word}_{number}",
            f"x{user}x",
            f"{word}{words.word().title()}{number}",
        )
        return self.choose.choice(forms)

    def _fill_user(self, form: str) -> str:
        first, last = map(_strip_accents, (self.fake.first_name(), self.fake.last_name()))
        word, other = self.list_user_words()
        return form.format(
            first=first,
            last=last,
            f=first[0],
            word=word,
            Word=word.title(),
            WORD=word.upper(),
            other=other,
            Other=other.title(),
            digit=self.choose.randrange(10),
            yy=f"{self.choose.randrange(100):02d}",
            **self.make_user_fields(),
        )

    def list_user_words(self) -> list[str]:
        return self.choose.sample(_USER_WORDS, 2)

    def make_user_fields(self) -> dict[str, Any]:
        """Further parts that forms of user names may have."""
        return {}

    def make_email(self) -> list[Part]:
        return [Part(self.choose.choice((self.fake.email(), self.fake.ascii_company_email())), "EMAIL")]

    def make_url(self) -> list[Part]:
        """The value in an address is marked; whether the rest of it goes or stays is all the same."""
        pattern = self.choose.choice(self.words.urls)
        value = {
            "email": lambda: self.fake.ascii_email().replace("@", "%40"),
            "phone": lambda: "1" + "".join(self.choose.choices("23456789", k=10)),
            "at": self.fake.ascii_email,
        }
        before, _, rest = pattern.partition("{")
        name, _, after = rest.partition("}")
        return [
            Part(before, "OTHER:URL"),
            Part(value[name](), "URL"),
            *([Part(after, "OTHER:URL")] if after else []),
        ]

    def make_dob(self) -> list[Part]:
        born = self.fake.date_of_birth(minimum_age=1, maximum_age=92)
        american = self.locale == "en_US"
        month = MONTHS[self.language].split()[born.month - 1]
        day_first = _DAY_SEPARATORS.get(self.language, " ")
        after_month = " de " if self.language in ("es", "pt") else " "
        forms = [
            "{y}-{mm}-{dd}",
            "{mm}/{dd}/{y}" if american else "{dd}/{mm}/{y}",
            "{mm}-{dd}-{y}" if american else "{dd}.{mm}.{y}",
            "{mm}/{dd}/{yy}" if american else "{dd}.{mm}.{yy}",
            f"{{d}}{day_first}{{month}}{after_month}{{y}}",
        ]
        if self.language == "en":
            forms += ["{month} {d}, {y}", "{d} {mon} {y}", "{month} {ordinal} {y}"]
        if self.words.births and self.choose.random() < 0.7:
            forms = [*self.words.births, *(self.words.english_births if self.language == "en" else ())]
        d, m, y = born.day, born.month, born.year
        text = self.choose.choice(forms).format(
            d=d,
            m=m,
            y=y,
            dd=f"{d:02d}",
            mm=f"{m:02d}",
            yy=f"{y % 100:02d}",
            month=month,
            mon=month[:3],
            ordinal=f"{d}{_ENGLISH_ENDINGS.get(d, 'th')}",
            day_words=_spell_ordinal(d),
            year_words=_spell_year(y),
            **self.make_birth_fields(month[:3]),
        )
        return [Part(text, "DATE_OF_BIRTH")]

    def make_birth_fields(self, mon: str) -> dict[str, Any]:
        """Further parts that forms of birth dates may have."""
        return {}

    def spell_day(self, day: int) -> str:
        return _spell_ordinal(day)

    def make_age(self) -> list[Part]:
        return [Part(str(self.choose.randrange(18, 93)), "DATE_OF_BIRTH")]

    def _make_address(self, in_lines: bool) -> str:
        if self.words.addresses and not in_lines and self.choose.random() < 0.5:
            street = self.fake.street_address().replace("\n", ", ")
            form = self.choose.choice(self.words.addresses)
            return form.format(street=street, city=self.fake.city(), postcode=self.fake.postcode())
        lines = [line.strip() for line in self.fake.address().split("\n") if line.strip()]
        if not in_lines and self.choose.random() < 0.1:
            lines.append(self.fake.current_country())
        return ("\n" if in_lines else self.choose.choice((", ", ", ", ", ", " "))).join(lines)

    # --- numbers ---

    def make_phone(self) -> list[Part]:
        own = self.fake.phone_number()
        return [
            Part(
                own if self.choose.random() < 0.5 else make_valid_phone(self.choose, self.locale[-2:]),
                "PHONE",
            )
        ]

    def make_iban(self) -> list[Part]:
        country = self.locale[-2:]
        number = self.fake.iban() if self.choose.random() < 0.6 else ""
        if not number:
            known = country if country in accounts.IBAN_COUNTRIES else ""
            number = accounts.make_iban(self.choose, known)[1].replace(" ", "")
        grouped = " ".join(number[at : at + 4] for at in range(0, len(number), 4))
        return [Part(self.choose.choice((number, number, grouped, grouped)), "IBAN")]

    def make_account(self) -> list[Part]:
        own = self.fake.bban() if self.choose.random() < 0.2 else accounts.make_account(self.choose)
        return [Part(own, "ACCOUNT")]

    def fill_id(self) -> str:
        self.number = self._choose_number()
        return self.choose.choice((*self.number.nouns, *self.words.nouns.get(self.number.name, ())))

    def make_id_number(self) -> list[Part]:
        number = self.number or self._choose_number(with_checksum=True)
        kind = ID_BY_CUE if number.name in _WITHOUT_CHECKSUM else "ID_NUMBER"
        return [Part(number.make(self.choose), kind)]

    def make_passport(self) -> list[Part]:
        passport = next(number for number in IDENTITY_NUMBERS if number.name == "passport")
        return [Part(passport.make(self.choose), ID_BY_CUE)]

    def _choose_number(self, with_checksum: bool = False) -> IdentityNumber:
        countries = {locale[-2:] for locale in LOCALES_BY_LANGUAGE[self.language]}
        near = [number for number in IDENTITY_NUMBERS if number.country in countries | {self.locale[-2:]}]
        if not near or (self.language == "en" and self.choose.random() < 0.4):
            near = list(IDENTITY_NUMBERS)
        if with_checksum:
            near = [number for number in near if number.name not in _WITHOUT_CHECKSUM] or list(
                IDENTITY_NUMBERS
            )
        return self.choose.choice(near)

    def _make_american(self) -> Faker:
        usual = make_faker("en_US")
        usual.seed_instance(self.choose.randrange(1 << 60))
        return usual

    def make_ssn(self) -> list[Part]:
        return [
            Part(
                self._make_american().ssn().replace("-", self.choose.choice(("-", "-", "-", " ", ""))), "SSN"
            )
        ]

    def make_card(self) -> list[Part]:
        number = self._make_american().credit_card_number(
            self.choose.choice(("visa16", "mastercard", "amex", "discover", "jcb16"))
        )
        groups = [number[at : at + 4] for at in range(0, 16, 4)]
        if len(number) == 15:
            groups = [number[:4], number[4:10], number[10:]]
        return [Part(self.choose.choice((" ", " ", "-", "")).join(groups), "CREDIT_CARD")]

    def make_wallet(self) -> list[Part]:
        return [Part(accounts.make_wallet(self.choose)[1], "CRYPTO_WALLET")]

    def make_mac(self) -> list[Part]:
        colons = self.fake.mac_address()
        plain = colons.replace(":", "")
        forms = (
            colons,
            colons.upper(),
            colons.upper().replace(":", "-"),
            f"{plain[:4]}.{plain[4:8]}.{plain[8:]}",
        )
        return [Part(self.choose.choice(forms), "MAC")]

    # --- fillers, which identify nobody ---

    def fill_tag(self) -> str:
        return f"{self.choose.randrange(10_000):04d}"

    def fill_amount(self) -> str:
        amount = f"{self.choose.randrange(3, 900)}.{self.choose.randrange(100):02d}"
        return self.choose.choice((f"${amount}", f"£{amount}", f"{amount} EUR", amount))

    def fill_time(self) -> str:
        hour = self.choose.randrange(7, 21)
        return self.choose.choice((f"{hour}:30", f"{hour % 12 or 12} pm", f"{hour}:00"))

    def fill_timestamp(self) -> str:
        day = f"2025-{self.choose.randrange(1, 13):02d}-{self.choose.randrange(1, 29):02d}"
        hour, minute, second = (self.choose.randrange(top) for top in (24, 60, 60))
        return f"{day}T{hour:02d}:{minute:02d}:{second:02d}Z"

    def fill_date(self) -> str:
        return f"{self.choose.randrange(1, 29)} {self.fill_month()} 2025"

    def fill_month(self) -> str:
        return self.choose.choice(MONTHS[self.language].split())

    def fill_year(self) -> str:
        return str(self.choose.randrange(2009, 2025))

    def fill_weekday(self) -> str:
        return self.choose.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))

    def fill_order(self) -> str:
        return f"{self.choose.choice('ABRS')}{self.choose.randrange(1000, 9999)}"

    def fill_cardexp(self) -> str:
        return f"{self.choose.randrange(1, 13):02d}/{self.choose.randrange(26, 32)}"

    def fill_ext(self) -> str:
        return str(self.choose.randrange(10, 999))

    def fill_bic(self) -> str:
        return self.choose.choice(("COBADEFFXXX", "BNPAFRPP", "INGBNL2A", "BARCGB22"))

    def fill_version(self) -> str:
        return f"{self.choose.randrange(1, 9)}.{self.choose.randrange(20)}.{self.choose.randrange(10)}"

    def fill_company(self) -> str:
        return self.choose.choice(self.words.products)

    def fill_city(self) -> str:
        return self.choose.choice(("Lyon", "Boston", "Leeds", "Hamburg", "Austin", "Perth", "Porto", "Turin"))


def _spell_ordinal(day: int) -> str:
    if day <= 20:
        return _ORDINALS[day]
    return "thirtieth" if day == 30 else f"{_TENS[day // 10]}-{_ORDINALS[day % 10]}"


def _spell_year(year: int) -> str:
    """As it is said: "nineteen eighty-four", "two thousand nine"."""
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return f"two thousand {_ONES[rest]}".strip()
    last = _ONES[rest] if rest < 20 else "-".join(filter(None, (_TENS[rest // 10], _ONES[rest % 10])))
    return f"{_ONES[century] if century < 20 else 'twenty'} {last}" if rest > 9 else f"nineteen oh {last}"


def _strip_accents(name: str) -> str:
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name.lower()))


@cache
def make_faker(locale: str) -> Faker:
    fake = Faker(locale)
    for provider in fake.get_providers():
        # Italian cities are the list of a set: in another order in each process.
        if isinstance(getattr(provider, "cities", None), list):
            provider.cities = sorted(provider.cities)
    return fake


def make_valid_phone(choose: random.Random, country: str) -> str:
    """A number that may be dialed in ``country``, as people there write it."""
    types = (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE)
    example = phonenumbers.example_number_for_type(country, choose.choice(types))
    national = phonenumbers.national_significant_number(example)
    for _ in range(200):
        digits = national[:-5] + "".join(choose.choices("0123456789", k=5))
        number = phonenumbers.parse(f"+{example.country_code}{digits}")
        if phonenumbers.is_valid_number(number):
            break
    formats = phonenumbers.PhoneNumberFormat
    local = phonenumbers.format_number(number, formats.NATIONAL)
    forms: tuple[Callable[[], str], ...] = (
        lambda: local,
        lambda: local,
        lambda: local.replace(" ", "").replace("-", ""),
        lambda: local.replace(" ", "-"),
        lambda: local.replace(" ", ".") if local.count(" ") > 1 else local,
        lambda: phonenumbers.format_number(number, formats.INTERNATIONAL),
        lambda: phonenumbers.format_number(number, formats.E164),
    )
    return choose.choice(forms)()
