"""The packaged list of software, boards and their parts: what no account or person is called like."""

import re
from functools import cache
from pathlib import Path

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.name_words import select_words, split_pieces

SOFTWARE_PATH = Path(__file__).parent / "name_model" / "software.txt"
_SERIES = re.compile(r"([A-Z]{2,}[a-z]*)\d{2,5}[A-Z]{0,3}")


def is_software(name: str) -> bool:
    """Whether a name is software: react-router."""
    return tuple(word for word in _split_entry(name) if word[0].isalnum()) in _load_entries()


def is_only_software(name: str) -> bool:
    """Whether it is software that nobody is called like: Claude Sonnet, Kibana; of Julia context tells."""
    if not is_software(name):
        return False
    facts = [look_up_word(word) for word in _split_entry(name) if word[0].isalnum()]
    if len(facts) == 1:
        return not (facts[0].first or facts[0].last)
    return not (facts[0].first and facts[-1].last)


def is_part_number(name: str) -> bool:
    """Whether a name is a chip or a board of a series: ATmega328P."""
    series = _SERIES.fullmatch(name)
    return series is not None and not any(look_up_word(series[1])) and is_software(series[1])


@cache
def _load_entries() -> frozenset[tuple[str, ...]]:
    paragraphs = SOFTWARE_PATH.read_text(encoding="utf-8").split("\n\n")
    texts = (
        " ".join(line for line in paragraph.splitlines() if not line.startswith("#"))
        for paragraph in paragraphs
    )
    entries = (entry.strip().lstrip("?!") for text in texts for entry in text.split(","))
    return frozenset(_split_entry(entry) for entry in entries if entry)


def _split_entry(entry: str) -> tuple[str, ...]:
    """Its words. The tokenizer is asked about the few that are more than letters with spaces between."""
    words = entry.split(" ")
    if entry.isascii() and all(map(str.isalpha, words)):
        return tuple(map(str.lower, words))
    return tuple(map(fold_word, select_words(split_pieces(entry))))
