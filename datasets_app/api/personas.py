"""Personas: their YAML as it was written."""

from typing import Any

from ninja import Router

from datasets_app.api.datasets import After, Limit
from datasets_app.api.problems import not_found
from datasets_app.api.routing import make_page, route
from datasets_app.api.schemas import PersonaIn, PersonaOut, PersonaPage, SavedPersonaOut
from datasets_app.catalog.import_persona import import_persona
from datasets_app.models import Persona

router = Router(tags=["Personas"])

VIEW_PERSONAS = ("datasets_app.view_persona",)


@route(router, "GET", "/personas", PersonaPage, needs=VIEW_PERSONAS)
def list_personas(request: Any, after: str = After, limit: int = Limit) -> Any:
    personas = Persona.objects.filter(persona_id__gt=after).order_by("persona_id")
    return make_page(list(personas[: limit + 1]), limit, key="persona_id")


@route(router, "GET", "/personas/{persona_id}", PersonaOut, needs=VIEW_PERSONAS)
def get_persona(request: Any, persona_id: str) -> Any:
    persona = Persona.objects.filter(persona_id=persona_id).first()
    if persona is None:
        raise not_found()
    return persona


@route(
    router,
    "POST",
    "/personas",
    SavedPersonaOut,
    needs=(*VIEW_PERSONAS, "datasets_app.add_persona", "datasets_app.change_persona"),
    errors=(409,),
)
def save_persona(request: Any, options: PersonaIn) -> Any:
    """Create a persona, or update the one with the same id."""
    saved = import_persona(options.yaml, actor=request.person)
    findings = [
        {"code": finding.code, "field": finding.field or "", "message": finding.message}
        for finding in saved.findings
    ]
    return {"persona": saved.persona, "change": saved.change, "findings": findings}
