"""Values for training: those of the benchmarks in more forms, and what looks like them and is none."""

import random
from typing import Any

from benchmarks.pii_sets.values import MONTHS, Part, ValueSource, Words
from benchmarks.pii_sets.vocabulary import TUNE_WORDS
from datasets_app.domain.pii.names.gazetteer import find_words
from scripts.marked_texts.spoken_dates import LANGUAGES, spell_date, spell_year

_USERS = (
    "{first}{last}",
    "{first}{last}{yy}",
    "{f}{last}{yy}",
    "{last}{first}",
    "{last}.{first}",
    "{first}-{last}",
    "{first}_{last}",
    "{first}_{yy}",
    "{first}{yyyy}",
    "{f}.{last}",
    "{word}{other}",
    "{word}_{other}",
    "{Word}{Other}{yy}",
    "{word}{digit}",
    "the_{word}",
    "the{Word}",
    "The{Word}{Other}",
    "not_{first}",
    "im{first}",
    "its_{first}",
    "hey{first}",
    "{first}plays",
    "{first}_plays",
    "{first}gaming",
    "{Word}Gamer{yy}",
    "{first}.{word}",
    "{word}{first}",
    "{first}{word}",
    "{first}{Word}",
    "mrs{last}",
    "mr{last}",
    "dr_{word}",
    "x{word}x",
    "xx{Word}xx",
    "_{first}_",
    "__{word}__",
    "{word}.{yy}",
    "{first}.{yy}",
    "{first}1{yy}{digit}",
    "{word}lover{yy}",
    "{first}official",
    "{first}{last}_",
    "{leet}",
    "{leet}{yy}",
    "{f}{last}{digit}",
    "{first}{l}",
    "{first}{l}{yy}",
    "{first}_{l}",
    "{Word}_{Other}",
    "{Word}-{Other}",
    "{word}-{yy}",
    "{first}inthe{word}",
    "{word}",
    "{first}",
    "{Word}",
    "{first}",
    "{word}girl{yy}",
    "{word}boi",
    "{Word}King",
    "queen_{first}",
    "{word}{word}",
    "{short}{yy}",
    "{short}_{word}",
    "{last}",
    "{last}{yy}",
    "{Word}ThePirate",
    "dj{first}",
    "dj_{word}",
    "captain{word}",
)
_BIRTHS = (
    *TUNE_WORDS.births,
    "{yyyy}",
    "{d}. {month} {y}",
    "{d}.{month} {y}",
    "{dd}. {month} {y}",
    "{month} {y}",
    "{y} {month} {d}",
    "{d} {month}",
    "{d}. {m}. {y}",
    "{d} / {m} / {y}",
    "{dd}-{mm}-{y}",
    "{dd}/{mm}/{y}",
    "{mm}/{dd}/{y}",
    "{y}-{mm}-{dd}",
    "{y}{mm}{dd}",
    "{dd}{mm}{y}",
    "{d}-{mon}-{y}",
    "{d}/{mon}/{y}",
    "{d} {month}, {y}",
    "{d} {m} {y}",
    "{dd} {mm} {yy}",
    "{d} {month} {y}",
    "{d}. {month} {y}",
    "{d} de {month} de {y}",
    "{d} {month} {yy}",
    "{mm}/{y}",
    "{dd}.{mm}.",
)
_ENGLISH_BIRTHS = (
    *TUNE_WORDS.english_births,
    "{month} the {ordinal}, {y}",
    "{month} the {ordinal} {y}",
    "the {ordinal} of {month} {y}",
    "the {ordinal} of {month}, {y}",
    "{day_words} of {month} {y}",
    "the {day_words} of {month}, {y}",
    "{month} {day_words}, {y}",
    "{day_words} {month} {y}",
    "{month} {day_words} {year_words}",
    "{day_words} of {month} {year_words}",
    "the {day_words} of {month}, {year_words}",
    "{d} {month} {year_words}",
    "{ordinal} {month} {year_words}",
    "{month} {d}, {year_words}",
    "{month} {ordinal} {year_words}",
    "{mon} {ordinal}, '{yy}",
    "{month} '{yy}",
    "{mon} {y}",
    "{d} {mon} {yy}",
    "{mon} {d}, {y}",
    "{d}-{MON}-{y}",
    "{d} {MON} {y}",
    "{month} of {y}",
    "{mon}/{d}/{y}",
    "{y}-{mon}-{dd}",
    "{month}-{d}-{y}",
    "{dd}{mon}{y}",
    "{mon} {d} '{yy}",
)
WORDS = TUNE_WORDS._replace(
    users=(*TUNE_WORDS.users, *_USERS), births=_BIRTHS, english_births=_ENGLISH_BIRTHS
)
_LEET = str.maketrans("aeiost", "431057")
_VERBS = """
    get set load save parse read write make build find is has on handle update delete init run send
    fetch create to from
""".split()
_NOUNS = """
    user id name index count data file path list item state config value key token page row event
    error request response order cart price query cache job task queue worker model view form field
    node list map buffer size time date session client server handler manager factory service
    repository controller adapter parser writer reader helper util base
""".split()
_ENDINGS = """
    py js ts go rs java cpp h md txt json yaml yml toml csv log sh sql html css xml ini cfg lock png
    svg
""".split()
_PACKAGES = """
    pandas numpy django flask react vue angular webpack vite docker kubernetes terraform ansible
    nginx redis kafka postgres mysql sqlite mongodb rabbitmq celery pytest eslint prettier babel
    typescript golang rust kotlin swift gradle maven cmake ffmpeg opencv pytorch tensorflow scikit-
    learn fastapi starlette uvicorn gunicorn httpx aiohttp lodash jquery tailwindcss bootstrap
    next.js nuxt.js express.js socket.io left-pad three.js d3.js vscode neovim emacs ubuntu debian
    fedora archlinux nixos macos windows android chromium firefox thunderbird libreoffice gimp
    blender inkscape audacity grafana prometheus elasticsearch kibana logstash jenkins gitlab github
    bitbucket jira confluence slack zoom teams outlook gmail whatsapp signal wireguard openvpn
    tailscale syncthing nextcloud homeassistant zigbee2mqtt esphome raspberrypi arduino esp32 stm32
    freertos zephyr modbus mqtt grpc protobuf openapi graphql apollo prisma
""".split()
_CAPITALS = """
    Aurora Titan Nimbus Zenith Falcon Orion Nova Pulse Vertex Quantum Helix Cobalt Lumen Atlas Vega
    Meridian Horizon Spectrum Catalyst Phoenix Echo Matrix Prism Galaxy Comet Voyager Pioneer Summit
    Cascade Ember Granite Maple Harbor Netflix Spotify Toyota Lenovo Samsung Nokia Philips Bosch
    Siemens Ikea Lidl Nestle Adidas Puma Zara Nintendo Sony
""".split()
_DATES = (
    "{d} {month} {y}",
    "{month} {d}, {y}",
    "{d}/{m}/{y}",
    "{d}.{m}.{y}",
    "{y}-{mm}-{dd}",
    "{d}. {month}",
    "{d} {month}",
    "{month} {d}",
    "{d}.{m}.",
    "{dd}.{mm}.{yy}",
    "{month} {y}",
    "{y}",
    "{d}-{mm}-{y}",
    "{dd}/{mm}/{yy}",
    "{d}. {month} {y}",
    "{d} de {month} de {y}",
    "{y}/{mm}/{dd}",
    "{dd}.{mm}.{y}",
    "{y}{mm}{dd}",
    "the {d}th",
    "{d}/{m}",
    "{mm}/{y}",
    "{m}/{y}",
)
_ENGLISH_DATES = (
    "{mon} {d}",
    "{d}th of {month}",
    "{month} {d}th",
    "{mon} {d}, {y}",
    "{d} {mon} {y}",
    "{day_words} of {month}",
    "{month} {day_words}",
    "{month} the {d}th",
    "{d}-{mon}-{y}",
)


class TrainingSource(ValueSource):
    """Adds fillers that are like personal values in form, and more forms of those."""

    def __init__(self, choose: random.Random, locale: str, language: str, words: Words = WORDS) -> None:
        super().__init__(choose, locale, language, words)

    def list_user_words(self) -> list[str]:
        return self.choose.sample(_get_ordinary_words(), 2)

    def make_user_fields(self) -> dict[str, Any]:
        word = self.choose.choice(_get_ordinary_words())
        last = self.fake.last_name()
        return {
            "leet": word.translate(_LEET),
            "yyyy": self.choose.randrange(1955, 2016),
            "l": last[0].lower(),
            "short": word[:3],
        }

    def make_birth_fields(self, mon: str) -> dict[str, Any]:
        return {"yyyy": self.choose.randrange(1935, 2015), "MON": mon.upper()}

    def make_dobwords(self) -> list[Part]:
        """A birth date spelled out, wholly or but for its year."""
        return [Part(self._spell_date(self.choose.randrange(1950, 2000)), "DATE_OF_BIRTH")]

    def _spell_date(self, year: int) -> str:
        day, month = self.choose.randrange(1, 31), self.fill_month()
        if self.language not in LANGUAGES:
            return f"{self.spell_day(day)} of {month} {year}"
        spelled = spell_year(self.language, year, self.choose.randrange(2)) if year < 2000 else str(year)
        return spell_date(self.language, day, month, self.choose.choice((spelled, spelled, str(year))))

    # --- near misses ---

    def fill_datewords(self) -> str:
        whole = self._spell_date(self.choose.choice((2024, 2025, 2026)))
        return self.choose.choice((whole, whole[:-5].removesuffix(" de")))

    def fill_serial(self) -> str:
        digits = lambda count: "".join(self.choose.choices("0123456789", k=count))  # noqa: E731
        letters = lambda count: "".join(self.choose.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=count))  # noqa: E731
        choose = self.choose.choice
        forms = (
            lambda: digits(choose((5, 6, 7, 8, 9, 10, 11, 12, 13))),
            lambda: digits(choose((6, 7, 8, 9, 10))),
            lambda: f"{letters(2)}{digits(9)}{letters(2)}",
            lambda: f"1Z{digits(3)}{letters(1)}{digits(8)}",
            lambda: f"{letters(choose((1, 2, 3)))}-{digits(choose((4, 5, 6, 8)))}",
            lambda: f"{letters(choose((1, 2, 3, 4)))}{digits(choose((4, 5, 6, 7)))}",
            lambda: f"{digits(3)}-{digits(7)}-{digits(7)}",
            lambda: f"{digits(4)}-{digits(4)}",
            lambda: f"{digits(2)}/{digits(4)}/{digits(2)}",
            lambda: f"{choose('INV ORD PO TKT RMA SR CS'.split())}-{choose((2023, 2024, 2025))}-{digits(4)}",
            lambda: f"{digits(4)} {digits(4)} {digits(4)}",
            lambda: f"{digits(2)}.{digits(3)}.{digits(2)}",
            lambda: f"0x{choose(('8007', 'C000', '8024'))}{digits(4)}",
            lambda: f"{letters(4)}{digits(7)}",
            lambda: f"0{digits(choose((5, 7, 8, 9, 10)))}",
            lambda: f"17{digits(8)}",
        )
        return choose(forms)()

    def fill_code(self) -> str:
        letters = "".join(self.choose.choices("ABCDEFGHKLMNPRSTUVWXYZ", k=self.choose.choice((1, 2, 4))))
        return f"{letters}{self.choose.randrange(10, 9999)}"

    def fill_bignum(self) -> str:
        number = self.choose.randrange(10_000, 90_000_000)
        return self.choose.choice(
            (str(number), f"{number:,}", f"{number:,}".replace(",", "."), f"{number:,}".replace(",", " "))
        )

    def fill_qty(self) -> str:
        return str(self.choose.choice((self.choose.randrange(1, 60), self.choose.randrange(60, 5000))))

    def fill_smallnum(self) -> str:
        return str(self.choose.randrange(1, 40))

    def fill_dims(self) -> str:
        a, b, c = (self.choose.randrange(10, 2000) for _ in range(3))
        return self.choose.choice(
            (f"{a}x{b}", f"{a} x {b} x {c}", f"{a / 10}-{b / 10}", f"{a}-{b}", f"{a}.{b}, {c}.{a}")
        )

    def fill_date(self) -> str:
        forms = (*_DATES, *_ENGLISH_DATES) if self.language == "en" else _DATES
        return self.format_date(
            self.choose.choice(forms), self.choose.choice((*range(2012, 2028), 2023, 2024, 2025, 2025, 2026))
        )

    def fill_olddate(self) -> str:
        return self.format_date(
            self.choose.choice(("{y}", "{y}", "{month} {y}", "{d} {month} {y}", "{month} {d}, {y}")),
            self.choose.randrange(1900, 2022),
        )

    def fill_year(self) -> str:
        return str(self.choose.randrange(1990, 2026))

    def fill_ident(self) -> str:
        choose = self.choose.choice
        verb, noun, other = choose(_VERBS), choose(_NOUNS), choose(_NOUNS)
        forms = (
            f"{verb}_{noun}",
            f"{noun}_{other}",
            f"{verb}{noun.title()}",
            f"{verb}{noun.title()}{other.title()}",
            f"{noun.title()}{other.title()}",
            f"{noun}-{other}",
            f"{noun}_{other}_id",
            f"{noun}{choose((1, 2, 3))}",
            f"{noun}.{choose(_ENDINGS)}",
            f"{noun}_{other}.{choose(_ENDINGS)}",
            f"{noun.upper()}_{other.upper()}",
            f"feature-{noun}",
            f"{noun}-service",
            f"{noun}.{other}",
            f"v{choose((1, 2, 3))}_{noun}",
            f"{noun}-{choose(range(10, 99))}",
            f"{choose(_PACKAGES)}-{noun}",
            f"{choose(_PACKAGES)}{choose((2, 3, 4))}",
        )
        return choose(forms)

    def fill_model(self) -> str:
        choose = self.choose.choice
        name, size = (
            choose("claude gpt gemini llama mistral qwen phi grok command bert whisper deepseek".split()),
            choose((1, 2, 3, 4, 5, 7, 8)),
        )
        return choose(
            (
                f"{name}-{size}",
                f"{name}-{size}-{choose('opus mini pro large turbo base instruct chat'.split())}",
                f"{name}-{size}.5-{choose('flash pro small'.split())}",
                f"{name}{size}b",
                f"{name}-{size}o",
            )
        )

    def fill_package(self) -> str:
        name = self.choose.choice(_PACKAGES)
        return self.choose.choice((name, name, name.title(), name.capitalize()))

    def fill_capital(self) -> str:
        name = self.choose.choice(_CAPITALS)
        return self.choose.choice(
            (name, name, f"{name} {self.choose.choice(_CAPITALS)}", f"{name} {self.choose.randrange(2, 99)}")
        )

    def format_date(self, form: str, year: int) -> str:
        d, m = self.choose.randrange(1, 29), self.choose.randrange(1, 13)
        month = MONTHS[self.language].split()[m - 1]
        return form.format(
            d=d,
            m=m,
            y=year,
            dd=f"{d:02d}",
            mm=f"{m:02d}",
            yy=f"{year % 100:02d}",
            month=month,
            mon=month[:3],
            day_words=self.spell_day(d),
        )


_ORDINARY: list[str] = []


def _get_ordinary_words() -> list[str]:
    if not _ORDINARY:
        _ORDINARY.extend(find_words("..2"))
    return _ORDINARY


def make_source(choose: random.Random, locale: str, language: str) -> TrainingSource:
    return TrainingSource(choose, locale, language)


__all__ = ["Part", "TrainingSource", "make_source"]
