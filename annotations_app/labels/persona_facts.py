"""A persona by its id."""

from datasets_app.core.errors import UserError
from datasets_app.models import Persona


def get_persona(persona_id: str) -> Persona:
    """The persona with that id. Raises UserError with the known ids if it doesn't exist."""
    persona: Persona | None = Persona.objects.filter(persona_id=persona_id).first()
    if persona is not None:
        return persona
    there = list(Persona.objects.values_list("persona_id", flat=True)[:10])
    hint = f"There are: {', '.join(there)}." if there else "Import one with import_persona FILE."
    raise UserError(f"There is no persona {persona_id!r}. {hint}")
