"""The persona as annotators see it beside a reply."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from datasets_app.domain.persona import PersonaDocument, PersonaError, parse_persona
from datasets_app.models import Persona

_DEEPEST = 3


@dataclass
class PersonaCard:
    """``rules`` are sentences or "name: value"; lists are of text, whatever YAML made of an entry."""

    name: str
    digest: str
    description: str
    exemplars: list[str]
    preferred: list[str]
    avoid: list[str]
    rules: list[str]
    never: list[str]
    brand_notes: str


def card_of(persona: Persona) -> PersonaCard:
    """A persona whose YAML can't be read any more is shown by its name and description."""
    document = document_of(persona.yaml) or PersonaDocument(id=persona.persona_id)
    return PersonaCard(
        name=document.display_name or persona.display_name or persona.persona_id,
        digest=persona.digest,
        description=document.description or persona.description,
        exemplars=list(document.exemplars),
        preferred=[_shown(entry) for entry in document.preferred],
        avoid=[_shown(entry) for entry in document.avoid],
        rules=list(_rules(document.style_rules)),
        never=list(document.safety_rules.get("disallowed_topics") or []),
        brand_notes=_shown(document.safety_rules.get("brand_notes") or ""),
    )


@lru_cache(maxsize=32)
def document_of(yaml: str) -> PersonaDocument | None:
    try:
        return parse_persona(yaml)
    except PersonaError:
        return None


def _rules(style: dict[str, Any]) -> Iterator[str]:
    for key, value in style.items():
        match key, value:
            case "sentence_length", {"max_avg": most}:
                yield f"Sentences of at most {_shown(most)} words on average"
            case (("contractions" | "emojis"), {"allowed": bool() as allowed}):
                yield f"{key.capitalize()} are {'allowed' if allowed else 'not allowed'}"
            case _:
                yield f"{_in_words(key)}: {_shown(value)}"


def _shown(value: Any, depth: int = 0) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if depth < _DEEPEST and isinstance(value, dict):
        return "; ".join(f"{_in_words(key)} {_shown(item, depth + 1)}" for key, item in value.items())
    if depth < _DEEPEST and isinstance(value, list):
        return ", ".join(_shown(item, depth + 1) for item in value)
    return str(value)


def _in_words(key: Any) -> str:
    return str(key).replace("_", " ").capitalize()
