"""The persona as annotators see it next to a reply."""

from dataclasses import dataclass
from functools import lru_cache

from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, parse_persona
from datasets_app.domain.personas.wording import describe_rules, format_value
from datasets_app.models import Persona


@dataclass
class PersonaCard:
    """``rules`` are sentences or "name: value". Lists hold text, whatever type YAML gave an entry."""

    name: str
    digest: str
    description: str
    exemplars: list[str]
    preferred: list[str]
    avoid: list[str]
    rules: list[str]
    never: list[str]
    brand_notes: str


def build_persona_card(persona: Persona) -> PersonaCard:
    """From the persona's YAML; if it can't be read, only the name and description."""
    document = parse_persona_cached(persona.yaml) or PersonaDocument(id=persona.persona_id)
    return PersonaCard(
        name=document.display_name or persona.display_name or persona.persona_id,
        digest=persona.digest,
        description=document.description or persona.description,
        exemplars=list(document.exemplars),
        preferred=[format_value(entry) for entry in document.preferred],
        avoid=[format_value(entry) for entry in document.avoid],
        rules=list(describe_rules(document.style_rules)),
        never=list(document.safety_rules.get("disallowed_topics") or []),
        brand_notes=format_value(document.safety_rules.get("brand_notes") or ""),
    )


@lru_cache(maxsize=32)
def parse_persona_cached(yaml: str) -> PersonaDocument | None:
    try:
        return parse_persona(yaml)
    except PersonaError:
        return None
