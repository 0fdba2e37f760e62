"""Loads personas: imported ones by id, from files, or the default persona."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from django.db.models import OuterRef, Subquery

from datasets_app.core.errors import UserError
from datasets_app.core.limits import MAX_SUGGESTIONS
from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, parse_persona
from datasets_app.domain.pii import persona_terms
from datasets_app.models import Dataset, Persona, Session

DEFAULT_FILE = Path(__file__).resolve().parent.parent / "demo" / "default_v1.yaml"
DEFAULT_ID = "default_v1"

# The persona, and the SHA-256 of its text.
LoadedPersona = tuple[PersonaDocument, str]


def load_default_persona() -> LoadedPersona:
    """The persona of the demo data; needs no database."""
    return parse_persona_text(DEFAULT_FILE.read_text(encoding="utf-8"), DEFAULT_FILE.name)


def load_persona(persona_id: str) -> LoadedPersona:
    """The imported persona with this id, or the default one. Raises UserError if there is none."""
    if persona_id in {"", DEFAULT_ID} and not Persona.objects.filter(persona_id=persona_id).exists():
        return load_default_persona()
    return parse_persona_text(get_persona(persona_id).yaml, persona_id)


def get_persona(persona_id: str) -> Persona:
    """The imported persona with this id. Raises UserError with the known ids if it doesn't exist."""
    persona: Persona | None = Persona.objects.filter(persona_id=persona_id).first()
    if persona is not None:
        return persona
    known = ", ".join(Persona.objects.values_list("persona_id", flat=True)[:10])
    hint = f"There are: {known}." if known else "Import one with import_persona FILE."
    raise UserError(f"There is no persona {persona_id!r}. {hint}")


def suggest_persona_ids() -> list[str]:
    """The first ones, for a field that takes others, too."""
    return list(Persona.objects.order_by("persona_id").values_list("persona_id", flat=True)[:MAX_SUGGESTIONS])


def parse_persona_text(text: str, name: str) -> LoadedPersona:
    """Parse a persona's YAML; ``name`` is for the error message."""
    try:
        document = parse_persona(text.removeprefix("\ufeff"))
    except PersonaError as error:
        raise UserError(f"{name} is not a valid persona: {error}.") from None
    return document, hashlib.sha256(text.encode()).hexdigest()


def list_persona_terms(dataset: Dataset) -> Iterator[str]:
    """Names, brands, lexicons and proper nouns of the personas that a dataset's conversations name, which are
    not personal data. Those of others don't count: who may change them needn't be able to see the dataset."""
    # One look-up for each persona however many sessions there are: only the order makes PostgreSQL take the
    # index, as it doesn't know how often a persona occurs.
    following = Session.objects.filter(dataset=dataset, persona_id__gte=OuterRef("persona_id"))
    first = following.order_by("persona_id").values("persona_id")[:1]
    for persona in Persona.objects.filter(persona_id=Subquery(first)):
        yield from _list_terms(persona.persona_id, persona.display_name, persona.yaml)


@lru_cache(maxsize=1_000)
def _list_terms(persona_id: str, display_name: str, yaml: str) -> tuple[str, ...]:
    terms = [*persona_terms.list_name_terms(persona_id, display_name)]
    with suppress(PersonaError):
        terms += persona_terms.list_persona_terms(parse_persona(yaml))
    return tuple(terms)
