"""Describes a persona for people."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from datasets_app.domain.personas.persona import PersonaDocument

_MAX_DEPTH, _MAX_CHARACTERS = 3, 5_000


Translate = Callable[[str], str]


def describe_voice(document: PersonaDocument, translate: Translate = str) -> dict[str, Any]:
    """How a persona sounds, as text, whatever type YAML gave an entry."""
    return {
        "description": document.description,
        "exemplars": list(document.exemplars),
        "preferred": [format_value(entry) for entry in document.preferred],
        "avoid": [format_value(entry) for entry in document.avoid],
        "rules": list(describe_rules(document.style_rules, translate)),
        "disallowed_topics": list(document.safety_rules.get("disallowed_topics") or []),
        "brand_notes": format_value(document.safety_rules.get("brand_notes") or ""),
    }


def describe_rules(style: dict[str, Any], translate: Translate = str) -> Iterator[str]:
    """Style rules as sentences; what is not known here, as "name: value"."""
    for key, value in style.items():
        match key, value:
            case "sentence_length", {"max_avg": most}:
                text = translate("Sentences of at most {words} words on average")
                yield text.replace("{words}", format_value(most))
            case (("contractions" | "emojis"), {"allowed": bool() as allowed}):
                yield translate(f"{key.capitalize()} are {'allowed' if allowed else 'not allowed'}")
            case _:
                yield f"{_format_name(key)}: {format_value(value)}"


def format_value(value: Any) -> str:
    """Whatever YAML made of a value, as text, cut off: a few lines of YAML can unfold to gigabytes."""
    pieces, length = [], 0
    for piece in _format_parts(value, 0):
        pieces.append(piece)
        length += len(piece)
        if length > _MAX_CHARACTERS:
            return "".join(pieces)[:_MAX_CHARACTERS] + "…"
    return "".join(pieces)


def _format_parts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif not isinstance(value, (dict, list, set)):
        yield str(value)
    elif depth >= _MAX_DEPTH:
        yield "…"
    elif isinstance(value, dict):
        for number, (key, item) in enumerate(value.items()):
            yield f"{'; ' if number else ''}{_format_name(key)} "
            yield from _format_parts(item, depth + 1)
    else:
        yield from _format_items(value, depth)


def _format_items(values: Iterable[Any], depth: int) -> Iterator[str]:
    for number, item in enumerate(values):
        if number:
            yield ", "
        yield from _format_parts(item, depth + 1)


def _format_name(key: Any) -> str:
    return str(key).replace("_", " ").capitalize()
