"""The terms of a persona that aren't people: its id, names, brand, lexicon, proper nouns of its texts.

Names of people that a text uses as an example ("Thanks, Maria!") are not among them.
"""

import re
from collections.abc import Iterator
from typing import Any

from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.domain.pii.names.gazetteer import look_up_word

MIN_PART_CHARACTERS = 3
MAX_RARE_TERMS = 300
_MAX_DEPTH = 3
_MAX_TEXT_CHARACTERS = 20_000
# Keys beyond the known ones that list brands, products and the like.
_BRAND_KEY = re.compile(
    r"brand|compan|organi[sz]ation|product|service|competitor|rival|slogan|tagline|keyword|slang|catchphrase|menu"
    r"|feature|alias|nickname|mascot|vocabular|terms",
    re.IGNORECASE,
)
_PROPER_NOUNS = re.compile(
    r"[A-Z][\w'’]*(?:(?:[ -]|\s&\s)(?:[A-Z0-9][\w'’]*))*|[a-z]+[A-Z][\w'’]*"  # iPhone
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n])[\s\"'“(]{0,5}\Z")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PART = re.compile(r"[^\W\d_]+(?:['’]s)?")
_VERSION = re.compile(r"v\d*|version|default|persona|bot|test|demo", re.IGNORECASE)


def list_persona_terms(document: PersonaDocument) -> list[str]:
    """The terms of a persona, each once: whole phrases, and their parts where these alone mean it."""
    return list(dict.fromkeys(_collect_terms(document)))


def list_rare_terms(document: PersonaDocument) -> list[str]:
    """Those with a word that is not ordinary, which may be taken for a person."""
    return [
        term
        for term in list_persona_terms(document)
        if any(look_up_word(re.sub(r"['’]s?$", "", word)).common < 2 for word in _WORD.findall(term))
    ][:MAX_RARE_TERMS]


def list_name_terms(*names: str) -> list[str]:
    """The same of a persona of which no more than its id and name are known."""
    return list(dict.fromkeys(term for name in names for term in _expand_name(name)))


def _collect_terms(document: PersonaDocument) -> Iterator[str]:
    for name in (document.id, document.display_name):
        yield from _expand_name(name)
    for key, value in document.extra.items():
        if _BRAND_KEY.search(str(key)):
            for name in _list_strings(value):
                yield from _expand_name(name)
    for entry in _list_strings([*document.preferred, *document.avoid]):
        yield entry
        yield from (word for word in _WORD.findall(entry) if _is_unknown(word))
    notes = document.safety_rules.get("brand_notes")
    for text in (*document.exemplars, document.description, *_list_strings(notes)):
        yield from _find_nouns(text[:_MAX_TEXT_CHARACTERS])


def _list_strings(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif depth < _MAX_DEPTH and isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _list_strings(item, depth + 1)


def _expand_name(name: str) -> Iterator[str]:
    """A name, and the words of it that aren't ordinary ones; in an id they have lost their capitals."""
    if name:
        yield name
    for part in _PART.findall(name.replace("_", " ")):
        if (
            len(part) >= MIN_PART_CHARACTERS
            and not _VERSION.fullmatch(part)
            and look_up_word(part).common < 2
        ):
            yield part[0].upper() + part[1:]


def _find_nouns(text: str) -> Iterator[str]:
    """Proper nouns of a text, and words that no list has; without what could be a person."""
    for match in _PROPER_NOUNS.finditer(text):
        words = match[0].split()
        starts_sentence = _SENTENCE_START.search(text, 0, match.start())
        while words and (starts_sentence or len(words) == 1) and look_up_word(words[0]).common:
            words = words[1:]  # "Try", at the beginning of a sentence
        if words and not all(map(_may_be_person, words)):
            yield " ".join(words)
    yield from (word for word in _WORD.findall(text) if _is_unknown(word))


def _may_be_person(word: str) -> bool:
    known = look_up_word(re.sub(r"['’]s?$", "", word))
    return bool(known.first or known.last)


def _is_unknown(word: str) -> bool:
    """Whether no list has a word: neither ordinary nor a name."""
    return len(word) >= MIN_PART_CHARACTERS and not any(look_up_word(re.sub(r"['’]s?$", "", word)))
