"""Personas to generate for: by the id of one that was imported, from a file, or the one that comes along."""

import hashlib
from pathlib import Path

from datasets_app.core.errors import Refused
from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, parse_persona
from datasets_app.models import Persona

DEFAULT_FILE = Path(__file__).resolve().parent.parent / "demo" / "default_v1.yaml"
DEFAULT_ID = "default_v1"

# The persona, and the SHA-256 of its text.
Read = tuple[PersonaDocument, str]


def default_persona() -> Read:
    """The voice of the demonstration data; needs no database."""
    return persona_of(DEFAULT_FILE.read_text(encoding="utf-8"), DEFAULT_FILE.name)


def named_persona(persona_id: str) -> Read:
    """The imported persona of that id. Raises Refused if there is none."""
    row = Persona.objects.filter(persona_id=persona_id).first()
    if row is not None:
        return persona_of(row.yaml, persona_id)
    if persona_id in {"", DEFAULT_ID}:
        return default_persona()
    known = ", ".join(Persona.objects.values_list("persona_id", flat=True)[:10]) or "none yet"
    raise Refused(f"There is no persona {persona_id!r}. Imported are: {known}.")


def persona_of(text: str, name: str) -> Read:
    """The persona that ``text`` describes; ``name`` is for the refusal."""
    try:
        document = parse_persona(text.removeprefix("\ufeff"))
    except PersonaError as error:
        raise Refused(f"{name} is no persona: {error}.") from None
    return document, hashlib.sha256(text.encode()).hexdigest()
