"""Names of people, places and companies to fill the templates with."""

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# How often names come from where; all other places share the rest evenly.
_LOCALE_SHARES = {
    "census": 0.34,
    "en_IN": 0.08,
    "hi_IN": 0.02,
    "ta_IN": 0.03,
    "en_PK": 0.03,
    "en_KE": 0.02,
    "en_NG": 0.01,
}
_PARTICLES = ("van", "von", "de", "van der", "del", "da", "de la", "al", "bin", "di", "el", "ben")
_LISTS_DIRECTORY = Path(__file__).parent / "lists"
_INITIALS = "ABCDEFGHJKLMNPRSTVW"
_HEX_DIGITS, _LETTERS = "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"
_ALPHANUMERIC = _LETTERS + _LETTERS.upper() + "0123456789"
_FILE_EXTENSIONS = (
    "py",
    "json",
    "yaml",
    "log",
    "txt",
    "js",
    "tsx",
    "sh",
    "conf",
    "csv",
    "pdf",
    "docx",
    "java",
    "tar.gz",
)
_COMPANY_SUFFIXES = (
    "Inc",
    "LLC",
    "Ltd",
    "Bank",
    "Systems",
    "Group",
    "& Sons",
    "Hotel",
    "Airlines",
    "Foods",
    "Insurance",
)


def read_list(name: str) -> list[str]:
    """The lines of one of the lists beside this module."""
    return (_LISTS_DIRECTORY / f"{name}.txt").read_text(encoding="utf-8").splitlines()


class Fillers:
    """Draws what a slot of a template is filled with."""

    def __init__(self, names: Path, places: Path, seed: int) -> None:
        self.random = random.Random(seed)
        pool, self._places = _read_json(names), _read_json(places)
        self._by_locale = {
            k: v for k, v in pool["byloc"].items() if len(v["first"]) > 15 and len(v["last"]) > 15
        }
        # Half by how often a name is borne, half every name alike: rare ones must be learnt too.
        self._weighted_names = {
            "first": ([name for name, _ in pool["census_first_w"]], [w for _, w in pool["census_first_w"]]),
            "last": (
                [name for name, _ in pool["census_last_w"]],
                [w + 1e-5 for _, w in pool["census_last_w"]],
            ),
        }
        self._cumulative_weights = {
            part: _running_sums(weights) for part, (_names, weights) in self._weighted_names.items()
        }
        self._lists = {
            name: read_list(f"{name}s") for name in ("brand", "role", "thing", "month", "day", "acronym")
        }
        self._cities = read_list("cities")
        self._other_locales = [locale for locale in self._by_locale if locale not in _LOCALE_SHARES]

    def fill(self, slot: str) -> str:
        made = getattr(self, f"_{slot}", None)
        return made() if made else self.random.choice(self._lists[slot])

    def part(self, name_part: str, locale: str) -> str:
        if locale == "census" and self.random.random() < 0.5:
            names, _weights = self._weighted_names[name_part]
            return self.random.choices(names, cum_weights=self._cumulative_weights[name_part])[0]
        return self.random.choice(self._by_locale[locale][name_part])

    def locale(self) -> str:
        drawn = self.random.random()
        for locale, share in _LOCALE_SHARES.items():
            if locale in self._by_locale and drawn < share:
                return locale
            drawn -= share
        return self.random.choice(self._other_locales)

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
            return f"{first} {self.random.choice(_INITIALS)}. {last}"
        if drawn < 0.86:
            return f"{first} {self.random.choice(_INITIALS)} {last}"
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
        return f"{self.random.choice(_INITIALS)}. {self._last()}"

    def _city(self) -> str:
        if self.random.random() < 0.6:
            return self.random.choice(self._cities)
        return self.random.choice(self._places["cities" if self.random.random() < 0.7 else "countries"])

    def _company(self) -> str:
        drawn = self.random.random()
        if drawn < 0.5:
            return self.random.choice(self._lists["brand"])
        if drawn < 0.8:
            return self.random.choice(self._places["companies"])
        return f"{self._last()} {self.random.choice(_COMPANY_SUFFIXES)}"

    def _number(self) -> str:
        return self._draw_characters("0123456789", 1, 9)

    def _pin(self) -> str:
        return self._draw_characters("0123456789", 3, 6)

    def _code(self) -> str:
        return self._draw_characters(_LETTERS + "0123456789", 4, 8)

    def _hex(self) -> str:
        return self._draw_characters(_HEX_DIGITS, 6, 40)

    def _token(self) -> str:
        return self._draw_characters(_ALPHANUMERIC + "-_", 8, 40)

    def _gibberish(self) -> str:
        return self._draw_characters(self.random.choice((_LETTERS, _ALPHANUMERIC, _LETTERS.upper())), 3, 10)

    def _identifier(self) -> str:
        words = self.random.choices(self._lists["thing"] + self._lists["role"], k=self.random.randint(1, 3))
        words = [word.split()[-1].lower() for word in words]
        style = self.random.randrange(4)
        if style == 0:
            return "_".join(words)
        if style == 1:
            return words[0] + "".join(word.title() for word in words[1:])
        return "".join(word.title() for word in words) if style == 2 else "-".join(words)

    def _file(self) -> str:
        folder = f"{self._identifier()}/" if self.random.random() < 0.4 else ""
        return f"{folder}{self._identifier()}.{self.random.choice(_FILE_EXTENSIONS)}"

    def _version(self) -> str:
        return ".".join(str(self.random.randint(0, 30)) for _ in range(self.random.randint(2, 4)))

    def _draw_characters(self, characters: str, min_length: int, max_length: int) -> str:
        return "".join(self.random.choices(characters, k=self.random.randint(min_length, max_length)))


def _read_json(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _running_sums(weights: Sequence[float]) -> list[float]:
    sums, total = [], 0.0
    for weight in weights:
        total += weight
        sums.append(total)
    return sums
