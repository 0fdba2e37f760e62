"""What people of a language call personal data, and the sentences they put it in.

Texts that are planted in a dataset use the nouns that its own texts use, where they use some.
"""

import re
from functools import cache

from datasets_app.domain.pii import detector
from datasets_app.domain.pii.canary.language_files import OTHER, read_sections, read_words
from datasets_app.domain.pii.network.words import has_lone_characters


def list_nouns(kind: str, language: str) -> tuple[str, ...]:
    """What people call values of a class; none for those that nobody announces."""
    return _read_nouns(language).get(kind) or _read_nouns(OTHER).get(kind, ())


@cache
def _read_nouns(language: str) -> dict[str, tuple[str, ...]]:
    """By class: lines "PHONE: phone number | mobile"."""
    pairs = (line.split(": ", 1) for line in read_sections(language)["nouns"])
    return {kind: tuple(nouns.split(" | ")) for kind, nouns in pairs}


def list_sentences(kind: str, language: str, *, by_assistant: bool, with_noun: bool) -> tuple[str, ...]:
    """Sentences with ``{value}``, and with ``{noun}`` if there is one."""
    sections = read_sections(language)
    general = sections["assistant" if by_assistant else "user"] if with_noun else ()
    own = sections.get(kind, ())
    return (*general, *(() if by_assistant else own)) or own or sections["any"]


@cache
def compile_question_pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Matches a turn that asks for values of a class: "may I have your phone number?"."""
    nouns = list_nouns(kind, language)
    return re.compile(f"{_name_any(nouns)}[^?？؟.\n]{{0,60}}[?？؟;]", re.IGNORECASE) if nouns else None


@cache
def compile_mention_pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Matches where people speak of their own: "my phone number"."""
    nouns, mine = list_nouns(kind, language), read_words(language, "mine")
    if not nouns or not mine or kind == detector.NAME:
        return None
    return re.compile(rf"{_name_any(mine)} {_name_any(nouns)}(?! (?:of|on|for)\b)", re.IGNORECASE)


def _name_any(words: tuple[str, ...]) -> str:
    """An expression for any of these, as words of their own where a script has spaces."""
    before, after = ("", "") if has_lone_characters("".join(words)) else (r"(?<!\w)", r"(?!\w)")
    return f"{before}(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))}){after}"


@cache
def compile_nouns_pattern(language: str) -> re.Pattern[str]:
    """Matches what people call values of any class, in small letters."""
    nouns = {noun.lower() for kind in detector.KINDS for noun in list_nouns(kind, language)}
    return re.compile(_name_any(tuple(sorted(nouns))))
