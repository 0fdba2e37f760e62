"""Names of people, places and companies to fill the templates with."""

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# How often names come from where; all other places share the rest evenly.
_SHARES = {
    "census": 0.34,
    "en_IN": 0.08,
    "hi_IN": 0.02,
    "ta_IN": 0.03,
    "en_PK": 0.03,
    "en_KE": 0.02,
    "en_NG": 0.01,
}
_PARTICLES = ("van", "von", "de", "van der", "del", "da", "de la", "al", "bin", "di", "el", "ben")
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday tomorrow today tonight Monday Friday".split()
)
_ROLES = (
    "manager,engineer,director,nurse,teacher,lawyer,accountant,consultant,developer,analyst,CEO,editor,professor,"
    "driver,technician,supervisor,landlord,dentist,coach,founder,secretary,chairman,minister,singer,actor,author,"
    "sales rep,team lead,designer,head of support,receptionist,architect,cashier,chef,barista"
).split(",")
_THINGS = (
    "invoice,report,printer,contract,laptop,ticket,router,database,account,order,parcel,refund,password,server,"
    "subscription,meeting,backup,dashboard,build,deployment,update,booking,flight,package,card,phone,license,"
    "migration,spreadsheet,budget,email,certificate,pipeline,table,room,payment,policy,claim,appointment,statement"
).split(",")
# Products, brands and tools of which many are words that people are named by as well.
_BRANDS = (
    "Jenkins,Travis CI,Maven,Django,Pandas,Celery,Docker,Kafka,Redis,Ruby,Java,Julia,Rust,Swift,Kotlin,Hugo,Jekyll,"
    "Gatsby,Apollo,Cassandra,Oracle,Jasmine,Mocha,Claude,Alexa,Siri,Cortana,Bixby,Watson,Jira,Slack,Bluetooth,Xcode,"
    "Ansible,Puppet,Chef,Vagrant,Terraform,Grafana,Prometheus,Elastic,Lucene,Solr,Jupyter,Sphinx,Flask,Bottle,Pyramid,"
    "Tornado,Ada,Pascal,Haskell,Erlang,Elixir,Perl,Scala,Clojure,Dart,Eclipse,NetBeans,Emacs,Vim,Nano,Debian,Ubuntu,"
    "Fedora,Arch,Mint,Bash,Zsh,Tesla,Ford,Chevrolet,Mercedes,Porsche,Bentley,Ferrari,Toyota,Honda,Lincoln,Dodge,"
    "Chrysler,Bugatti,Boeing,Cessna,Harley Davidson,Wendy's,Denny's,McDonald's,Arby's,Domino's,Papa John's,Chili's,"
    "Applebee's,Carl's Jr,Trader Joe's,Macy's,Kohl's,Dillard's,Levi's,Lord & Taylor,Calvin Klein,Hugo Boss,"
    "Ralph Lauren,Tommy Hilfiger,Michael Kors,Jack Daniel's,Johnnie Walker,Jim Beam,Ben & Jerry's,Sara Lee,"
    "Uncle Ben's,Aunt Jemima,Betty Crocker,Wells Fargo,Chase,Morgan Stanley,JP Morgan,Charles Schwab,Merrill Lynch,"
    "Barclays,Lloyds,Santander,Western Union,Mastercard,Visa,Maestro,Zelle,Venmo,Hilton,Marriott,Hyatt,Sheraton,"
    "Ritz Carlton,Holiday Inn,Delta,Virgin,Ryanair,Lufthansa,Philips,Siemens,Bosch,Dell,Lenovo,Samsung,Motorola,"
    "Nokia,Canon,Epson,Brother,Garmin,Roku,Hulu,Netflix,Disney,Spotify,Pandora,Adidas,Puma,Nike,Gucci,Prada,"
    "Chanel,Dior,Versace,Armani,Rolex,Casio,Kellogg's,Heinz,Campbell's,Nestle,Hershey's,Wrigley,Pfizer,Bayer,Merck,"
    "Moderna,Johnson & Johnson,Procter & Gamble,Walmart,Target,Costco,Aldi,Wegmans,Walgreens,Amazon,Google,Apple,"
    "Windows,Android,Firefox,Safari,Chrome,Edge,Opera,Outlook,Photoshop,Acrobat,Premiere,Excel,Word,Teams,Zoom,Skype,"
    "Norton,McAfee,Kaspersky,Stripe,Shopify,Etsy,Klarna,Revolut,Monzo,Starling,Wise,Nest,Ring,Victoria's Secret"
).split(",")
_CITIES = (
    "Houston,Austin,Dallas,Jackson,Madison,Charlotte,Lincoln,Phoenix,Orlando,Florence,Paris,Sydney,Victoria,Adelaide,"
    "Geneva,Milan,Santiago,San Jose,San Antonio,San Diego,Santa Rosa,St. Louis,Saint Petersburg,Fort Worth,Chelsea,"
    "Brooklyn,London,New York,Los Angeles,Las Vegas,Chicago,Boston,Seattle,Denver,Atlanta,Portland,Berkeley,Oakland,"
    "Fremont,Antioch,Palo Alto,Mountain View,Petaluma,Walnut Creek,Virginia,Georgia,Carolina,Montana,Dakota,Jordan,"
    "Chad,Israel,Kenya,India,Chennai,Mumbai,Delhi,Hyderabad,Bangalore,Kolkata,Goa,Lahore,Karachi,Dubai,Doha,Lagos,"
    "Nairobi,Cape Town,Berlin,Hamburg,Vienna,Zurich,Madrid,Rome,Lisbon,Athens,Dublin,Warsaw,Prague,Moscow,Kyiv,Tokyo,"
    "Seoul,Beijing,Shanghai,Bangkok,Manila,Jakarta,Toronto,Vancouver,Montreal,Mexico City,Lima,Bogota,Havana"
).split(",")


class Fillers:
    """Draws what a slot of a template is filled with."""

    def __init__(self, names: Path, places: Path, seed: int) -> None:
        self.random = random.Random(seed)
        pool, self._places = _read(names), _read(places)
        self._by_locale = {
            k: v for k, v in pool["byloc"].items() if len(v["first"]) > 15 and len(v["last"]) > 15
        }
        census = self._by_locale["census"]
        # Half by how often a name is borne, half every name alike: rare ones must be learnt too.
        self._borne = {
            "first": ([name for name, _ in pool["census_first_w"]], [w for _, w in pool["census_first_w"]]),
            "last": (
                [name for name, _ in pool["census_last_w"]],
                [w + 1e-5 for _, w in pool["census_last_w"]],
            ),
        }
        self._sums = {part: _running(weights) for part, (_names, weights) in self._borne.items()}
        self._census = census
        self._others = [locale for locale in self._by_locale if locale not in _SHARES]

    def fill(self, slot: str) -> str:
        made = getattr(self, f"_{slot}", None)
        return made() if made else self.random.choice(_CHOICES[slot])

    def part(self, part: str, locale: str) -> str:
        if locale == "census" and self.random.random() < 0.5:
            names, _weights = self._borne[part]
            return self.random.choices(names, cum_weights=self._sums[part])[0]
        return self.random.choice(self._by_locale[locale][part])

    def locale(self) -> str:
        drawn = self.random.random()
        for locale, share in _SHARES.items():
            if locale in self._by_locale and drawn < share:
                return locale
            drawn -= share
        return self.random.choice(self._others)

    def _first(self) -> str:
        return self.part("first", self.locale())

    def _last(self) -> str:
        return self.part("last", self.locale())

    def _full(self) -> str:
        locale, drawn = self.locale(), self.random.random()
        first, last = self.part("first", locale), self.part("last", locale)
        if drawn < 0.72:
            return f"{first} {last}"
        if drawn < 0.82:
            return f"{first} {self.random.choice('ABCDEFGHJKLMNPRSTVW')}. {last}"
        if drawn < 0.86:
            return f"{first} {self.random.choice('ABCDEFGHJKLMNPRSTVW')} {last}"
        if drawn < 0.90:
            return f"{first} {self.part('first', locale)} {last}"
        if drawn < 0.93:
            return f"{first} {last}-{self.part('last', locale)}"
        if drawn < 0.96:
            return f"{first} {self.random.choice(_PARTICLES)} {last}"
        # Nobody's names keep to one country.
        return f"{first} {self._last()}"

    def _name(self) -> str:
        drawn = self.random.random()
        if drawn < 0.42:
            return self._first()
        if drawn < 0.92:
            return self._full()
        if drawn < 0.96:
            return self._last()
        return f"{self.random.choice('ABCDEFGHJKLMNPRSTVW')}. {self._last()}"

    def _city(self) -> str:
        if self.random.random() < 0.6:
            return self.random.choice(_CITIES)
        return self.random.choice(self._places["cities" if self.random.random() < 0.7 else "countries"])

    def _company(self) -> str:
        if self.random.random() < 0.5:
            return self.random.choice(_BRANDS)
        if self.random.random() < 0.6:
            return self.random.choice(self._places["companies"])
        kind = self.random.choice(
            ("Inc", "LLC", "Ltd", "Bank", "Systems", "Group", "& Sons", "Hotel", "Airlines", "Foods")
        )
        return f"{self._last()} {kind}"

    def _number(self) -> str:
        return "".join(self.random.choice("0123456789") for _ in range(self.random.randint(1, 9)))

    def _code(self) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz0123456789"
        return "".join(self.random.choice(letters) for _ in range(self.random.randint(4, 8)))


_CHOICES: dict[str, Sequence[str]] = {
    "month": _MONTHS,
    "day": _DAYS,
    "role": _ROLES,
    "thing": _THINGS,
    "brand": _BRANDS,
}


def _read(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _running(weights: Sequence[float]) -> list[float]:
    sums, total = [], 0.0
    for weight in weights:
        total += weight
        sums.append(total)
    return sums
