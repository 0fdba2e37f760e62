"""Writes the table of words that the network looks up (``datasets_app/domain/pii/network/lexicon.npz``).

    python -m scripts.network.make_lexicon --names ../shared/pii/train/names_pool.json.gz

Ordinary words are those of wordfreq (44 languages, data CC BY-SA 4.0). Names are those of the package Faker
(MIT), of files of names ({"byloc": {locale: {"first": […], "last": […]}}, "census_first_w": […], …}), of the
Russian and Ukrainian dictionaries of pymorphy3 in all their forms (CC BY-SA), of the Japanese dictionary in
Janome (IPADIC, permissive), and of the lists in ``scripts/network/lists``.
"""

import argparse
import gzip
import importlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from datasets_app.domain.pii.network.lexicon import (
    COMMON,
    FIRST,
    LAST,
    LEXICON_PATH,
    fold_word,
    hash_word,
    strip_marks,
)
from datasets_app.domain.pii.network.words import is_read_alone, split_words

_LISTS = Path(__file__).parent / "lists"
# Up to which rank in some language a word is common, from 5 down to 1.
RANKS = (300, 2_000, 8_000, 25_000, 80_000)
_FREQUENT_LAST_NAMES = 3_000
_MAX_ALONE = 6  # characters of a word in a script without spaces
_KANA = re.compile("[\u3040-\u30ff]+")


class Lexicon:
    """Collects what is known of words."""

    def __init__(self) -> None:
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.common: dict[str, int] = {}

    def add_name(self, names: dict[str, int], value: str, level: int = 1) -> None:
        """A name of one or several words; a name in a script without spaces stays whole."""
        for word in cut_name(value):
            names[word] = max(names.get(word, 0), level)

    def add_common(self, word: str, rank: int) -> None:
        level = next((len(RANKS) - place for place, most in enumerate(RANKS) if rank < most), 0)
        if level:
            plain = fold_word(word)
            self.common[plain] = max(self.common.get(plain, 0), level)

    def write(self, path: Path) -> int:
        """Write the table; how many words it has."""
        codes: dict[int, int] = {}
        for names, weight in ((self.first, FIRST), (self.last, LAST), (self.common, COMMON)):
            for word, level in names.items():
                key = hash_word(word)
                codes[key] = (
                    codes.get(key, 0) + weight * level if _fits(codes.get(key, 0), weight) else codes[key]
                )
        hashes = sorted(codes)
        steps = np.diff(np.array([0, *hashes], dtype=np.int64))
        if steps.max() >= 1 << 16:
            raise ValueError("too few words for steps of two bytes")
        ordered = np.array([codes[key] for key in hashes], dtype=np.uint8)
        np.savez_compressed(path, steps=steps.astype(np.uint16), codes=ordered)
        return len(hashes)


def _fits(code: int, weight: int) -> bool:
    """Whether the place for this weight is still free (two words may share a hash)."""
    return not (code // weight % 3 if weight != COMMON else code // COMMON)


def cut_name(value: str) -> Iterator[str]:
    """The folded words of a name, with and without accents."""
    words = split_words(value)
    if words and all(is_read_alone(word.text) for word in words):
        for part in value.split():
            if 2 <= len(part) <= _MAX_ALONE:
                yield fold_word(part)
        return
    for word in words:
        plain = fold_word(word.text)
        if len(plain) > 1 and any(map(str.isalpha, plain)):
            yield plain
            if strip_marks(plain) != plain:
                yield strip_marks(plain)


def add_wordfreq(lexicon: Lexicon) -> None:
    from wordfreq import available_languages, top_n_list

    for language in sorted(available_languages()):
        for rank, word in enumerate(top_n_list(language, RANKS[-1])):
            lexicon.add_common(word, rank)


def add_faker(lexicon: Lexicon) -> None:
    from faker.config import AVAILABLE_LOCALES

    for locale in sorted(AVAILABLE_LOCALES):
        try:
            provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        except ModuleNotFoundError:
            continue
        for attribute in dir(provider):
            names = lexicon.first if "first_name" in attribute else lexicon.last
            if re.search("(first|last)_name|middle_name", attribute) and not attribute.startswith("_"):
                for value in _list_values(getattr(provider, attribute)):
                    lexicon.add_name(names, value, 2)


def _list_values(value: object) -> Iterable[str]:
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        for item in value:
            yield from [item] if isinstance(item, str) else _list_values(item)


def add_pool(lexicon: Lexicon, path: Path) -> None:
    pool = json.loads(gzip.decompress(path.read_bytes()))
    for locale in pool["byloc"].values():
        for value in locale["first"]:
            lexicon.add_name(lexicon.first, value)
        for value in locale["last"]:
            lexicon.add_name(lexicon.last, value)
    for value, weight in pool["census_first_w"]:
        lexicon.add_name(lexicon.first, value, 1 + (weight > 0.01))
    for rank, (value, _weight) in enumerate(pool["census_last_w"]):
        lexicon.add_name(lexicon.last, value, 1 + (rank < _FREQUENT_LAST_NAMES))


def add_slavic(lexicon: Lexicon) -> None:
    import pymorphy3

    for language in ("ru", "uk"):
        dictionary = pymorphy3.MorphAnalyzer(lang=language).dictionary
        for word, tag, *_rest in dictionary.iter_known_words():
            if "Name" in tag:
                lexicon.add_name(lexicon.first, word)
            elif "Surn" in tag or "Patr" in tag:
                lexicon.add_name(lexicon.last, word)


def add_japanese(lexicon: Lexicon) -> None:
    for number in range(10):
        extra = importlib.import_module(f"janome.sysdic.entries_extra{number}").DATA
        compact = importlib.import_module(f"janome.sysdic.entries_compact{number}").DATA
        for key, (part, *_rest) in extra.items():
            surface = compact[key][0]
            if "人名" not in part or len(surface) < 2 - ("姓" in part):
                continue
            if _KANA.fullmatch(surface) and len(surface) < 3:
                continue
            names = lexicon.last if "姓" in part else lexicon.first
            if is_read_alone(surface) and len(surface) <= _MAX_ALONE:
                names[surface] = max(names.get(surface, 0), 1)


def add_lists(lexicon: Lexicon) -> None:
    """``first-*.txt`` and ``last-*.txt``: names, one or several a line; ``#`` begins a comment."""
    for names, kind in ((lexicon.first, "first"), (lexicon.last, "last")):
        for path in sorted(_LISTS.glob(f"{kind}-*.txt")):
            for line in path.read_text(encoding="utf-8").splitlines():
                for value in line.partition("#")[0].split():
                    if is_read_alone(value):
                        names[value] = 2
                    else:
                        lexicon.add_name(names, value, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=Path, required=True)
    arguments = parser.parse_args()
    lexicon = Lexicon()
    add_wordfreq(lexicon)
    add_faker(lexicon)
    add_pool(lexicon, arguments.names)
    add_slavic(lexicon)
    add_japanese(lexicon)
    add_lists(lexicon)
    print(f"first {len(lexicon.first)} last {len(lexicon.last)} common {len(lexicon.common)}")
    print(f"{lexicon.write(LEXICON_PATH)} words, {LEXICON_PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
