"""In which languages names were looked for, and how many a scrub leaves in each, as far as was measured."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain.pii.detector import PREFERENCES
from datasets_app.domain.pii.network.learned import NAMES, read_unknown_script
from datasets_app.domain.pii.placeholders import blank_placeholders
from datasets_app.domain.wording import format_count

MEASURED_PATH = Path(__file__).parent / "measured.txt"
ENGLISH = "en"
_CHARACTERS_READ = 600  # of a conversation; more tell its language no better
_MAX_NAMED = 8
# More turns than that in languages in which nothing was measured, and a dataset isn't simply verified.
_MAX_UNMEASURED_SHARE = 0.01


class Measured(NamedTuple):
    """``names`` in chat of a language, of which a scrub left ``left``, by what it prefers."""

    names: int
    left: dict[str, int]


@cache
def load_measured() -> dict[str, Measured]:
    """By language (ISO 639-1): those in which it was measured."""
    lines = MEASURED_PATH.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {
        language: Measured(int(names), dict(zip(PREFERENCES, map(int, left), strict=True)))
        for language, names, *left in rows
    }


class Spoken(NamedTuple):
    """``conversations`` by language (ISO 639-1, or the name of a script that the network has never learned),
    without those whose words don't tell it; ``unmeasured``: the turns of those in whose language it was not
    measured how many names stay."""

    conversations: Counter[str]
    unmeasured: Counter[str]


def count_languages(conversations: Iterable[Sequence[str]]) -> Spoken:
    """In which languages conversations are; each is the texts of its turns."""
    kept = list(conversations)
    spoken = Spoken(Counter(), Counter())
    for texts, language in zip(kept, tell_languages(kept), strict=True):
        if language:
            spoken.conversations[language] += 1
            if not _is_measured(language):
                spoken.unmeasured[language] += len(texts)
    return spoken


def tell_languages(conversations: Iterable[Iterable[str]]) -> list[str]:
    """The language of each conversation, as in :class:`Spoken`; empty if its words don't tell it."""
    from datasets_app.domain.pii.network.runtime import load_network

    starts = [_read_start(texts) for texts in conversations]
    readings = load_network().read_many(starts, lambda reading: False)
    return [
        _find_unknown_script(blank_placeholders(start)) or (reading.language if reading.is_told else "")
        for start, reading in zip(starts, readings, strict=True)
    ]


def tell_main_languages(conversations: Iterable[Iterable[str]]) -> list[str]:
    """The same; one that doesn't tell it is taken to be in the most frequent language of the others."""
    told = tell_languages(conversations)
    frequent = Counter(filter(None, told)).most_common(1)
    return [language or (frequent[0][0] if frequent else ENGLISH) for language in told]


def _is_measured(language: str) -> bool:
    return language == ENGLISH or language in load_measured()


def _find_unknown_script(text: str) -> str:
    """The script of more than half of the letters, if the network has never learned it: "Amharic" is written
    in "Ethiopic"."""
    letters = [character for character in text if character.isalpha()]
    foreign = Counter(script for letter in letters if (script := read_unknown_script(letter)))
    return max(foreign, key=lambda script: foreign[script]) if 2 * foreign.total() > len(letters) else ""


def describe_unmeasured(turns_by_language: Mapping[str, int], turns: int) -> str:
    """ "Amharic (412 turns)": what a verification can't vouch for; empty if it is less than one turn in a
    hundred of all ``turns``."""
    if sum(turns_by_language.values()) <= _MAX_UNMEASURED_SHARE * turns:
        return ""
    by_number = sorted(turns_by_language.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{name_language(language)} ({format_count(count, 'turn')})" for language, count in by_number
    )


def name_language(language: str) -> str:
    """ "German"; "Ethiopic script"; of the empty one "Other languages"."""
    return NAMES.get(language, f"{language} script") if language else "Other languages"


def describe_shares(counts: Mapping[str, tuple[int, int]]) -> str:
    """ "German 2 of 40, Thai 3 of 12": by language how many, of how many; empty for a single language."""
    if len(counts) < 2:
        return ""
    by_number = sorted(counts, key=lambda language: (-counts[language][1], language))
    parts = [(name_language(language), *counts[language]) for language in by_number[:_MAX_NAMED]]
    if rest := [counts[language] for language in by_number[_MAX_NAMED:]]:
        name = format_count(len(rest), "other language")
        parts.append((name, sum(part for part, _ in rest), sum(whole for _, whole in rest)))
    return ", ".join(f"{name} {part:,} of {whole:,}" for name, part, whole in parts)


def describe_languages(value: object, prefer: str) -> str:
    """In which languages names were looked for, as a verification stored them, and how many stay if a scrub
    prefers recall or precision.

    "names of people looked for in German (2 of 44 left in test chats), Icelandic (not measured)"; empty where
    it stored none.
    """
    counts = _read_counts(value)
    by_number = sorted(counts, key=lambda language: (-counts[language], language))
    parts = [_describe_language(language, prefer) for language in by_number[:_MAX_NAMED]]
    if len(by_number) > _MAX_NAMED:
        parts.append(f"{len(by_number) - _MAX_NAMED} more")
    return f"names of people looked for in {', '.join(parts)}" if parts else ""


def say_languages(value: object, prefer: str) -> str:
    """:func:`describe_languages` as a sentence."""
    said = describe_languages(value, prefer)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _read_counts(value: object) -> dict[str, int]:
    pairs: Sequence[tuple[object, object]] = list(value.items()) if isinstance(value, dict) else []
    return {str(language): count for language, count in pairs if isinstance(count, int)}


def _describe_language(language: str, prefer: str) -> str:
    name, measured = NAMES.get(language, language), load_measured().get(language)
    if language == ENGLISH:
        return name
    if language not in NAMES:
        return f"{name_language(language)} (never learned)"
    if measured is None:
        return f"{name} (not measured)"
    return f"{name} ({measured.left[prefer]} of {measured.names} left in test chats)"


def _read_start(texts: Iterable[str]) -> str:
    start = ""
    for text in texts:
        start += f"{text[:_CHARACTERS_READ]}\n"
        if len(start) > _CHARACTERS_READ:
            break
    return start[:_CHARACTERS_READ]
