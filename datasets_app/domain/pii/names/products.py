"""Products, companies and languages that look like names of people: Kafka, McDonald's, Raspberry Pi.

The packaged list has entries that are never people, and entries that are names as well (Julia, Jenkins,
Wendy's). The latter count only beside words that speak of a product: "written in Julia", "the Jenkins
server", "at Wendy's". What a rule announces as a name ("my name is Julia") or is part of a name (Julia Roe)
is a person.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.name_rules import TITLES
from datasets_app.domain.pii.names.name_words import select_words, split_pieces

PRODUCTS_PATH = Path(__file__).parent / "name_model" / "products.txt"
_POSSESSIVE, _FIRM_SIGN = "'s", "&"

# Directly behind a product.
_NOUNS_TEXT = """
admin ai api apis app application apps assistant backend battery binary board boards bot branch breakfast
broker brokers bucket bug build builder builds burger burgers cable camera cars chain charger charging
chatbot chicken cli client cloud cluster clusters coffee commit compiler config configuration console
consumer container containers controller copilot coupon coupons crash daemon dashboard database databases db
dealership desktop developer developers device devices dialect distribution distro doc docs documentation
drive-thru driver drivers ecosystem editor emulator engine error errors event exception extension extensions
fork framework frameworks franchise fries frontend gem gems gift github hub ide image images instance
instances insurance integration interpreter issue job jobs kernel keyboard kit lab language languages laptop
libraries library license linter location locations log login logs master meal menu middleware migration
migrations mobile module modules monitor mouse nodes notebook notebooks nuggets orm outlet package packages
page pages parser partition partitions phone pipeline pipelines plan plugin plugins pod pods printer
printers producer program programmer programming project projects queries query queue queues release
releases repl repo repository restaurant restaurants router routine runner runtime salad salads sandwich
sandwiches sauce scanner schema script scripts sdk server servers service services shell showroom site skill
skills slave smartwatch snippet software speaker speakers stack stock store stores stream streams subreddit
subscription support syntax tablet template templates test tests tool toolbar tools topic topics tutorial
tutorials tv ui update updates upgrade user users version versions view views vm volume warehouse watch web
webhook webpage website widget workbench worker workers workflow
"""
_NOUNS = frozenset(_NOUNS_TEXT.split())
# Directly behind any word: what belongs to it is no person.
_MACHINE_NOUNS_TEXT = """
adapter adapters api apis backend binding bindings cli cluster clusters codebase compiler config connector
connectors container containers daemon dashboard distro driver drivers endpoint endpoints extension
extensions framework frameworks ide kernel libraries library linter middleware module modules orm parser
pipeline pipelines plugin plugins repo repository runtime sdk server servers toolkit webhook webhooks widget
widgets wrapper
"""
_MACHINE_NOUNS = frozenset(_MACHINE_NOUNS_TEXT.split())
# Directly behind a shop's possessive; a laptop would be a person's.
_SHOP_NOUNS_TEXT = """
app breakfast burger burgers chain chicken coffee coupon coupons drive-thru franchise fries gift location
locations meal menu nuggets outlet restaurant restaurants salad salads sandwich sandwiches sauce site stock
store stores twitter website
"""
_SHOP_NOUNS = frozenset(_SHOP_NOUNS_TEXT.split())
# Directly before a product, and seldom before a person.
_CUES_BEFORE_TEXT = """
a an compile compiled compiling configure configured configuring debug debugging deploy deployed deploying
download downloaded import in install installed installing learn learning reboot rebooted reinstall
reinstalled restart restarted restarting run running runs the uninstall uninstalled upgrade upgraded
upgrading use used uses using via
"""
_CUES_BEFORE = frozenset(_CUES_BEFORE_TEXT.split())
# What software does, directly behind its name.
_DEEDS = frozenset("compiles crashed crashes crashing freezes hangs segfaults supports throws".split())
_STATES = frozenset({"down", "broken", "installed", "unreachable", "open-source", "slow"})  # behind "is"
# Two words before a product: "running on Jessie", "switched to Julia".
_CUES_IN_PAIRS = {
    "on": frozenset(
        "boot booted built deployed host hosted install installed ran run running runs works".split()
    ),
    "to": frozenset(
        "convert converted migrate migrated migrating port ported switch switched switching".split()
    ),
    "from": frozenset("migrate migrated migrating ported switch switched switching".split()),
}
# Between two products.
_CONNECTORS = frozenset({"and", "or", "vs", "versus", "to", ",", "/", "+", "&", "than"})
# Before a shop, where nothing that it owns follows: "at Wendy's", but "at Wendy's house".
_PLACE_CUES = frozenset("at from to near like love hate visit visited inside outside eat eating".split())
_FUNCTION_WORDS_TEXT = """
a about after again all also am an and any are as at because before but by can did do does during ever every
for from had has have i if in instead is it just last near never next nor not now of off on only or over
right since so than that the then there they this though to today tomorrow tonight too until was we were
when where which while who why will with without would yesterday yet you
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())
_OWNERS = frozenset({"our", "your"})
_LAST_WORD, _NEXT_WORD = re.compile(r"([\w-]+)\s+$"), re.compile(r"(?:['’]s)?\s+([\w-]+)")
_MAX_CUE_CHARACTERS = 30
_VERSION = re.compile(r"v?\d+")


class Certainty(IntEnum):
    """How an entry is told from a person: ``LIKELY`` products are one unless they are next to a name,
    ``DOUBTFUL`` ones take words that speak of a product as well."""

    DOUBTFUL = 0
    LIKELY = 1
    SURE = 2


_MARKS = {"?": Certainty.DOUBTFUL, "!": Certainty.LIKELY}


class Entry(NamedTuple):
    """``words`` as the tokenizer makes them, in lower case."""

    words: tuple[str, ...]
    certainty: Certainty


class ProductPlace(NamedTuple):
    """The words from ``first`` to ``last`` are an entry."""

    certainty: Certainty
    first: int
    last: int


def find_product_words(
    words: Sequence[str], hits: Collection[int], find_announced: Callable[[], Collection[int]]
) -> set[int]:
    """Which of ``hits`` (word indexes) are products. ``find_announced`` tells those that a rule announces as
    people; it is called only if it matters."""
    plain = [fold_word(word).replace("’", "'") for word in words]
    places = sorted({place for number in hits for place in _find_entries(plain, number)}, reverse=True)
    products: set[int] = set()
    announced: Collection[int] | None = None
    for certainty, first, last in places:
        own = set(range(first, last + 1))
        if certainty < Certainty.SURE:
            announced = find_announced() if announced is None else announced
            if not own.isdisjoint(announced) or _is_beside_name(plain, own, hits):
                continue
        if certainty > Certainty.DOUBTFUL or _is_product_here(plain, first, last, products):
            products |= own
    for number in hits:
        if plain[number + 1 : number + 2] and plain[number + 1] in _MACHINE_NOUNS and number not in products:
            announced = find_announced() if announced is None else announced
            if number not in announced and not _is_beside_name(plain, {number}, hits):
                products.add(number)
    return products.intersection(hits)


def _find_entries(plain: Sequence[str], number: int) -> Iterator[ProductPlace]:
    """The entries that the word at ``number`` is a part of."""
    for entry, offset in _load_entries().get(plain[number], ()):
        first, end = number - offset, number - offset + len(entry.words)
        if first >= 0 and tuple(plain[first:end]) == entry.words:
            yield ProductPlace(entry.certainty, first, end - 1)


def _is_beside_name(plain: Sequence[str], own: set[int], hits: Collection[int]) -> bool:
    """Whether more of a name follows or precedes: Julia Roe."""
    return any(
        number in hits and number not in own and plain[number][0].isalpha()
        for number in (min(own) - 1, max(own) + 1)
    )


def _is_product_here(plain: Sequence[str], first: int, last: int, products: Collection[int]) -> bool:
    before = plain[first - 1] if first else ""
    behind = plain[last + 1] if last + 1 < len(plain) else ""
    if _is_listed_with(plain, first, last, products):
        return True
    if plain[last] == _POSSESSIVE:
        if behind in _SHOP_NOUNS:
            return True
        return before in _PLACE_CUES and (not behind[:1].isalpha() or behind in _FUNCTION_WORDS)
    if behind in _NOUNS or behind in _DEEDS or _is_version(plain, last + 1):
        return True
    if behind == "is" and plain[last + 2 : last + 3] and plain[last + 2] in _STATES:
        return True
    return before in _CUES_BEFORE or (first > 1 and plain[first - 2] in _CUES_IN_PAIRS.get(before, ()))


def _is_listed_with(plain: Sequence[str], first: int, last: int, products: Collection[int]) -> bool:
    """Whether another product stands before or behind, with "and", a comma or both between them."""
    for number, step in ((first, -1), (last, 1)):
        for _ in range(2):
            number += step
            if not (0 <= number < len(plain) and plain[number] in _CONNECTORS):
                break
            other = number + step
            if other in products or (0 <= other < len(plain) and _is_surely_product(plain, other)):
                return True
    return False


def _is_surely_product(plain: Sequence[str], number: int) -> bool:
    return any(place.certainty == Certainty.SURE for place in _find_entries(plain, number))


def _is_version(plain: Sequence[str], number: int) -> bool:
    """3.1 (which is three words), v2; a bare number may be of anything."""
    version = plain[number : number + 3]
    if not version or not _VERSION.fullmatch(version[0]):
        return False
    return version[0][0] == "v" or (len(version) == 3 and version[1] == "." and version[2].isdigit())


def build_cue_patterns() -> tuple[str, str]:
    """What :func:`has_product_cue` looks for before and behind a term, as expressions of PostgreSQL."""
    behind = "|".join(sorted(_NOUNS | _DEEDS))
    return rf"\m({'|'.join(sorted(_CUES_BEFORE | _OWNERS))})\s+$", rf"^(['’]s)?\s+({behind})\M"


def has_product_cue(text: str, start: int, end: int) -> bool:
    """Whether the words directly before or behind ``text[start:end]`` speak of a product."""
    before = _LAST_WORD.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])
    behind = _NEXT_WORD.match(text[end : end + _MAX_CUE_CHARACTERS])
    if before and before[1].lower() in _CUES_BEFORE | _OWNERS:
        return True
    return behind is not None and (behind[1].lower() in _NOUNS or behind[1].lower() in _DEEDS)


@cache
def _load_entries() -> dict[str, list[tuple[Entry, int]]]:
    """Each word of the list → the entries that it is in, and its place there."""
    entries: dict[str, list[tuple[Entry, int]]] = defaultdict(list)
    for entry in _read_entries(PRODUCTS_PATH.read_text(encoding="utf-8")):
        for offset, word in enumerate(entry.words):
            if word[0].isalpha():
                entries[word].append((entry, offset))
    return dict(entries)


def _read_entries(text: str) -> Iterator[Entry]:
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        for entry in filter(None, map(str.strip, " ".join(lines).split(","))):
            certainty = _MARKS.get(entry[0])
            words = tuple(map(fold_word, select_words(split_pieces(entry.lstrip("?!")))))
            if words[0] in TITLES:  # Dr Pepper
                certainty = Certainty.SURE
            yield Entry(words, _judge(words) if certainty is None else certainty)


def _judge(words: tuple[str, ...]) -> Certainty:
    """What the gazetteer says of an entry; a name of several words has nothing but names."""
    facts = [look_up_word(word) for word in words if word[0].isalpha()]
    if not all(fact.first or fact.last for fact in facts):
        return Certainty.SURE
    if _FIRM_SIGN in words:
        return Certainty.LIKELY
    if all(fact.first or fact.last == 2 for fact in facts):
        return Certainty.DOUBTFUL
    return Certainty.LIKELY
