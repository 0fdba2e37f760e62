"""In which languages names were looked for, and how many a scrub leaves in each, as far as was measured."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

MEASURED_PATH = Path(__file__).parent / "measured.txt"
ENGLISH = "en"
_CHARACTERS_READ = 600  # of a conversation; more tell its language no better
_MAX_NAMED = 8
_NAMES = dict(
    pair.split(":")
    for pair in (
        "af:Afrikaans ar:Arabic be:Belarusian bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish"
        " de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish"
        " fr:French ga:Irish gl:Galician he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian"
        " id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian kk:Kazakh ko:Korean lt:Lithuanian"
        " lv:Latvian mk:Macedonian mn:Mongolian ms:Malay nl:Dutch no:Norwegian pl:Polish pt:Portuguese"
        " ro:Romanian ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish ta:Tamil"
        " te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese"
    ).split()
)


class Measured(NamedTuple):
    """``names`` in chat of a language, of which a scrub left ``left``."""

    names: int
    left: int


@cache
def load_measured() -> dict[str, Measured]:
    """By language (ISO 639-1): those in which it was measured."""
    lines = MEASURED_PATH.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {language: Measured(int(names), int(left)) for language, names, left in rows}


def count_languages(conversations: Iterable[Iterable[str]]) -> Counter[str]:
    """How many conversations (their texts) are of each language, without those whose words don't tell it."""
    from datasets_app.domain.pii.network.runtime import load_network

    starts = [_read_start(texts) for texts in conversations]
    readings = load_network().read_many(starts, lambda reading: False)
    return Counter(reading.language for reading in readings if reading.is_told)


def describe_languages(value: object) -> str:
    """In which languages names were looked for, as a verification stored them, and how many stay.

    "names of people looked for in German (2 of 44 left in test chats), Icelandic (not measured)"; empty where
    it stored none.
    """
    counts = _read_counts(value)
    by_number = sorted(counts, key=lambda language: (-counts[language], language))
    parts = [_describe_language(language) for language in by_number[:_MAX_NAMED]]
    if len(by_number) > _MAX_NAMED:
        parts.append(f"{len(by_number) - _MAX_NAMED} more")
    return f"names of people looked for in {', '.join(parts)}" if parts else ""


def say_languages(value: object) -> str:
    """:func:`describe_languages` as a sentence."""
    said = describe_languages(value)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _read_counts(value: object) -> dict[str, int]:
    pairs: Sequence[tuple[object, object]] = list(value.items()) if isinstance(value, dict) else []
    return {str(language): count for language, count in pairs if isinstance(count, int)}


def _describe_language(language: str) -> str:
    name, measured = _NAMES.get(language, language), load_measured().get(language)
    if language == ENGLISH:
        return name
    if measured is None:
        return f"{name} (not measured)"
    return f"{name} ({measured.left} of {measured.names} left in test chats)"


def _read_start(texts: Iterable[str]) -> str:
    start = ""
    for text in texts:
        start += f"{text[:_CHARACTERS_READ]}\n"
        if len(start) > _CHARACTERS_READ:
            break
    return start[:_CHARACTERS_READ]
