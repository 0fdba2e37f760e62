"""The list of words known as first names, last names and ordinary words, made from the corpora."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datasets_app.domain.pii.names.gazetteer import fold_word, strip_accents
from datasets_app.domain.pii.names.name_words import select_words, split_pieces
from scripts.name_model.corpora import NAME, Text

_FREQUENT_NAME_PERCENT = {"first": 0.01, "last": 0.006}  # percent of the people of the census
_MIN_LOCALES = 4
_MIN_LENGTH = 3
# Lists of names written without their vowels make names of what are none ("Th", "Hm").
_VOWELLESS_LOCALES = ("ar_", "fa_", "he_", "th_", "bn_", "gu_", "mr_", "ne_", "or_", "si_", "ta_", "hi_")
# How often a word is written, outside names and in lower case.
_MIN_ORDINARY_COUNT, _MIN_COMMON_COUNT = 3, 30
_COUNTRY_NAME_PERCENT = 0.02  # percent; Jordan and Israel are people as well, Spain is not


def build_gazetteer(
    names: Path, places: Path, dictionary: Path, corpora: Iterable[Text], turns: Iterable[Text]
) -> str:
    """Lines ``word 210`` (first name, last name, ordinary word), sorted by their bytes.

    In ``turns`` people are often addressed by names nobody marked: a name is never taken for an
    ordinary word because of them. Countries are ordinary words unless many people bear them, and
    so is what stands in ``dictionary`` unless it is frequent as a name.
    """
    pool, countries = _read_json(names), {country.lower() for country in _read_json(places)["countries"]}
    first, last = _rank_name_words(pool, "first"), _rank_name_words(pool, "last")
    inside, outside, varied = _count_words(corpora)
    inside_turns, outside_turns, _varied = _count_words(turns)
    addressed = {
        word for word, parts in inside_turns.items() if sum(parts) >= 2 and len(word) >= _MIN_LENGTH
    } - outside.keys()
    for word, (as_first, as_last) in inside_turns.items():
        before = inside.get(word, (0, 0))
        inside[word] = (before[0] + as_first, before[1] + as_last)
    named = {*first, *last, *addressed}
    # A sentence that was used again and again with a name in it makes no ordinary word of it.
    outside.update({word: varied[word] - outside[word] for word in {*first, *last} & outside.keys()})
    outside.update({word: count for word, count in outside_turns.items() if word not in named})
    for word, (as_first, as_last) in inside.items():
        if as_first + as_last >= 2 and outside[word] < as_first + as_last and len(word) >= _MIN_LENGTH:
            part = first if as_first >= as_last else last
            part.setdefault(word, 1)
    for word in countries - _frequent_names(pool):
        first.pop(word, None)
        last.pop(word, None)
        outside[word] = max(outside[word], _MIN_ORDINARY_COUNT, sum(inside.get(word, (0, 0))))
    for word in _ordinary_words(dictionary):
        if max(first.get(word, 0), last.get(word, 0)) < 2:
            outside[word] = max(outside[word], _MIN_ORDINARY_COUNT, sum(inside.get(word, (0, 0))))
    found = {}
    for word in {*first, *last, *(word for word, count in outside.items() if count >= _MIN_ORDINARY_COUNT)}:
        common = _commonness_level(outside[word], sum(inside.get(word, (0, 0))))
        found[word] = (first.get(word, 0), last.get(word, 0), common)
    ordered = sorted((word for word in found if any(found[word])), key=lambda word: word.encode())
    return "".join(f"{word} {''.join(map(str, found[word]))}\n" for word in ordered)


def _read_json(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _ordinary_words(dictionary: Path) -> Iterator[str]:
    """Of a list of words, one a line, those that are written small."""
    for word in dictionary.read_text(encoding="utf-8").split():
        if len(word) >= _MIN_LENGTH and word.isalpha() and word.islower() and word.isascii():
            yield word


def _frequent_names(pool: dict[str, Any]) -> set[str]:
    listed = [*pool["census_first_w"], *pool["census_last_w"]]
    return {name.lower() for name, weight in listed if weight >= _COUNTRY_NAME_PERCENT}


def _rank_name_words(pool: dict[str, Any], part: str) -> dict[str, int]:
    seen: Counter[str] = Counter()
    for locale, listed in pool["byloc"].items():
        shortest = 5 if locale.startswith(_VOWELLESS_LOCALES) else _MIN_LENGTH
        words = {word for name in listed[part] for word in _name_words(name) if len(word) >= shortest}
        seen.update(words)
    known = {word: 2 if count >= _MIN_LOCALES else 1 for word, count in seen.items()}
    for name, weight in pool[f"census_{part}_w"]:
        word = name.lower()
        if len(word) >= 2:
            known[word] = max(known.get(word, 1), 2 if weight >= _FREQUENT_NAME_PERCENT[part] else 1)
    return known


def _name_words(name: str) -> Iterable[str]:
    for piece in split_pieces(name):
        if piece[0].isalpha():
            yield fold_word(piece)
            if not piece.isascii():
                yield fold_word(strip_accents(piece))


def _count_words(
    corpora: Iterable[Text],
) -> tuple[dict[str, tuple[int, int]], Counter[str], Counter[str]]:
    """How often each word is part of a name (as its first word, as a later one), how often not, and
    between how many different pairs of words that is."""
    inside: dict[str, tuple[int, int]] = {}
    outside: Counter[tuple[str, str, str]] = Counter()
    for text in corpora:
        place = 0
        for span in sorted(text.spans):
            _count_outside_words(text.text[place : span.start], outside)
            place = max(place, span.end)
            if span.label == NAME:
                parts = [
                    fold_word(piece)
                    for piece in split_pieces(text.text[span.start : span.end])
                    if piece.isalpha()
                ]
                for number, part in enumerate(parts):
                    as_first, as_last = inside.get(part, (0, 0))
                    inside[part] = (as_first + (number == 0), as_last + (number > 0))
        _count_outside_words(text.text[place:], outside)
    counts: Counter[str] = Counter()
    for (_before, word, _after), count in outside.items():
        counts[word] += count
    return inside, counts, Counter(word for _before, word, _after in outside)


def _count_outside_words(text: str, counts: Counter[tuple[str, str, str]]) -> None:
    cut = ["", *select_words(split_pieces(text)), ""]
    for before, word, after in zip(cut, cut[1:], cut[2:], strict=False):
        if word.isalpha() and word.islower():
            counts[before, word, after] += 1


def _commonness_level(outside: int, inside: int) -> int:
    if outside < _MIN_ORDINARY_COUNT or outside < inside / 2:
        return 0
    return 2 if outside >= _MIN_COMMON_COUNT and outside > 2 * inside else 1
