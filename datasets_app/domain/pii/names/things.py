"""Software, products, firms, languages: what looks like a name and is none, by packaged lists."""

from functools import cache, lru_cache
from pathlib import Path

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.name_words import select_words, split_pieces

_LISTS = Path(__file__).parent / "name_model"


@lru_cache(maxsize=1 << 14)
def is_software(name: str) -> bool:
    """Whether a name is that of software: react-router, Claude Sonnet."""
    return _split(name) in _load_list("software.txt")


@lru_cache(maxsize=1 << 14)
def is_listed_thing(word: str) -> bool:
    """Whether a list has a word, and no list of names has it: Kafka, Amharic."""
    fact = look_up_word(word)
    return not (fact.first or fact.last) and (is_software(word) or _split(word) in _load_list("products.txt"))


@cache
def _load_list(name: str) -> frozenset[tuple[str, ...]]:
    lines = (_LISTS / name).read_text(encoding="utf-8").splitlines()
    entries = ",".join(line for line in lines if not line.startswith("#")).split(",")
    return frozenset(words for entry in entries if (words := _split(entry)))


def _split(name: str) -> tuple[str, ...]:
    words = map(fold_word, select_words(split_pieces(name.strip())))
    return tuple(word for word in words if word[0].isalnum())
