"""Persona YAML: reading it, and what stands in it that Alignmenter would stumble over."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.metadata.yaml_text import FieldError, YamlError, load_yaml

T = TypeVar("T")

MAX_NAME_CHARACTERS = 500
MAX_CHARACTERS = 1 << 20

PERSONA_CODES = {
    "E700": "file isn't a persona",
    "E701": "lexicon entry isn't text",
    "W702": "lexicon entry of several words",
    "W703": "lexicon entry with punctuation",
    "W704": "persona without exemplars",
    "W705": "word both preferred and to be avoided",
}

_KNOWN_KEYS = ("id", "display_name", "description", "exemplars", "lexicon", "style_rules", "safety_rules")
# What Alignmenter takes for a word. Anything else in an entry can't be met by one.
_WORD = re.compile(r"[\w']+")
_MAX_QUOTED_CHARACTERS = 60


class PersonaError(FieldError):
    """The text isn't a persona."""


@dataclass(frozen=True)
class PersonaDocument:
    """A persona as its YAML says it. Lexicon entries are as YAML read them, not always strings."""

    id: str
    display_name: str = ""
    description: str = ""
    exemplars: tuple[str, ...] = ()
    preferred: tuple[Any, ...] = ()
    avoid: tuple[Any, ...] = ()
    style_rules: dict[str, Any] = field(default_factory=dict)
    safety_rules: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


def parse_persona(text: str) -> PersonaDocument:
    """The text of a persona YAML file → PersonaDocument. Raises :class:`PersonaError`."""
    if len(text) > MAX_CHARACTERS:
        raise PersonaError("", f"at most {MAX_CHARACTERS:,} characters", f"{len(text):,}")
    if "\0" in text:
        raise PersonaError("", "text", "a NUL character")
    try:
        value = load_yaml(text, allow_aliases=True)
    except YamlError as error:
        raise PersonaError("", message=str(error)) from None
    if not isinstance(value, dict):
        raise PersonaError("", "a YAML mapping with at least an id", _describe_value(value))
    lexicon, safety_rules, style_rules = (
        _read(value, key, dict, "a mapping") for key in ("lexicon", "safety_rules", "style_rules")
    )
    _read_strings(safety_rules, "disallowed_topics", "safety_rules.")
    _read_strings(style_rules, "tone", "style_rules.")
    return PersonaDocument(
        id=_read_id(value.get("id")),
        display_name=_read_string(value, "display_name", MAX_NAME_CHARACTERS),
        description=_read_string(value, "description", MAX_CHARACTERS),
        exemplars=_read_strings(value, "exemplars"),
        preferred=_read_entries(lexicon, "preferred"),
        avoid=_read_entries(lexicon, "avoid"),
        style_rules=style_rules,
        safety_rules=safety_rules,
        extra={key: item for key, item in value.items() if key not in _KNOWN_KEYS},
    )


def check_persona(document: PersonaDocument) -> list[Finding]:
    """What Alignmenter would crash on (E) or pass over in silence (W); see PERSONA_CODES."""
    findings = list(_find_lexicon_problems(document))
    if not document.exemplars:
        findings.append(
            Finding("W704", "no exemplars: add a few replies in the persona's voice", field="exemplars")
        )
    preferred, avoid = (
        {entry.lower() for entry in entries if isinstance(entry, str)}
        for entries in (document.preferred, document.avoid)
    )
    for word in sorted(preferred & avoid):
        findings.append(
            Finding("W705", f"{_quote(word)} is both preferred and to be avoided", field="lexicon")
        )
    return findings


def _find_lexicon_problems(document: PersonaDocument) -> Iterator[Finding]:
    for name, entries in (("preferred", document.preferred), ("avoid", document.avoid)):
        place = f"lexicon.{name}"
        for number, entry in enumerate(entries, 1):
            if not isinstance(entry, str):
                yield Finding(
                    "E701",
                    f"entry {number} is {_describe_value(entry)}, not a string; put quotes around it",
                    field=place,
                )
            elif len(entry.split()) > 1:
                yield Finding(
                    "W702",
                    f"{_quote(entry)} has several words and never matches; list single words",
                    field=place,
                )
            elif not _WORD.fullmatch(entry):
                yield Finding(
                    "W703", f"{_quote(entry)} has punctuation or spaces and never matches", field=place
                )


def _read_id(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PersonaError("id", "a string that is not empty (quote numbers)", _describe_value(value))
    if len(value) > MAX_NAME_CHARACTERS:
        raise PersonaError("id", f"at most {MAX_NAME_CHARACTERS} characters", f"{len(value):,}")
    return value


def _read(value: dict[Any, Any], key: str, kind: type[T], expected: str, prefix: str = "") -> T:
    """What stands under a key; an empty value of its kind if nothing does."""
    given = value.get(key)
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise PersonaError(prefix + key, expected, _describe_value(given))
    return given


def _read_string(value: dict[Any, Any], key: str, max_characters: int) -> str:
    given = _read(value, key, str, "a string")
    if len(given) > max_characters:
        raise PersonaError(key, f"at most {max_characters:,} characters", f"{len(given):,}")
    return given


def _read_strings(value: dict[Any, Any], key: str, prefix: str = "") -> tuple[str, ...]:
    given = _read(value, key, list, "a list", prefix)
    for number, item in enumerate(given, 1):
        if not isinstance(item, str):
            raise PersonaError(f"{prefix}{key}, item {number}", "a string (quote it)", _describe_value(item))
    return tuple(given)


def _read_entries(lexicon: dict[Any, Any], key: str) -> tuple[Any, ...]:
    """Scalars of any type pass: that YAML made no string of one is a finding, not an unreadable file."""
    given = _read(lexicon, key, list, "a list", "lexicon.")
    for number, item in enumerate(given, 1):
        if isinstance(item, (list, dict, set)):
            raise PersonaError(f"lexicon.{key}, entry {number}", "a word", _describe_value(item))
    return tuple(given)


def _describe_value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the boolean {'yes/true/on' if value else 'no/false/off'}"
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 1e15 else "a number"
    if isinstance(value, str):
        return f"the string {_quote(value)}" if value.strip() else "an empty string"
    kinds: dict[type, str] = {dict: "a mapping", list: "a list", set: "a set"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def _quote(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTED_CHARACTERS else text[: _MAX_QUOTED_CHARACTERS - 1] + "…")
