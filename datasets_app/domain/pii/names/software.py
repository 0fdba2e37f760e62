"""Whether a name is software or a part, by a packaged list."""

import re
from functools import cache, lru_cache
from pathlib import Path

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.name_words import select_words, split_pieces

SOFTWARE_PATH = Path(__file__).parent / "name_model" / "software.txt"
_SERIES = re.compile(r"([A-Z]{2,}[a-z]*)\d{2,5}[A-Z]{0,3}")


@lru_cache(maxsize=1 << 14)
def is_software(name: str) -> bool:
    """Whether a name is that of software: react-router, Claude Sonnet."""
    return _split(name) in _load_list()


def is_part_number(name: str) -> bool:
    """Whether a name is a chip or a board of a series: ATmega328P."""
    series = _SERIES.fullmatch(name)
    return series is not None and not any(look_up_word(series[1])) and is_software(series[1])


@cache
def _load_list() -> frozenset[tuple[str, ...]]:
    lines = SOFTWARE_PATH.read_text(encoding="utf-8").splitlines()
    entries = ",".join(line for line in lines if not line.startswith("#")).split(",")
    return frozenset(words for entry in entries if (words := _split(entry)))


def _split(name: str) -> tuple[str, ...]:
    words = map(fold_word, select_words(split_pieces(name.strip())))
    return tuple(word for word in words if word[0].isalnum())
