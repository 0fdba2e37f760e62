"""The persona as annotators see it next to a reply."""

from functools import lru_cache
from typing import Any

from django.utils.translation import gettext

from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, parse_persona
from datasets_app.domain.personas.wording import describe_voice
from datasets_app.models import Persona


def build_persona_card(persona: Persona) -> dict[str, Any]:
    """From the persona's YAML; if it can't be read, only the name and description."""
    document = parse_persona_cached(persona.yaml) or PersonaDocument(id=persona.persona_id)
    return {
        **describe_voice(document, translate=gettext),
        "name": document.display_name or persona.display_name or persona.persona_id,
        "digest": persona.digest,
        "description": document.description or persona.description,
    }


@lru_cache(maxsize=32)
def parse_persona_cached(yaml: str) -> PersonaDocument | None:
    try:
        return parse_persona(yaml)
    except PersonaError:
        return None
