"""Edit personas as YAML, or in fields beside it; what the row has is derived from it."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from datasets_app.admin import persona_pages
from datasets_app.admin.persona_forms import NEW_PERSONA_YAML, PersonaFields, PersonaForm
from datasets_app.admin.resources import PERSONA_FORMATS, PersonaResource
from datasets_app.catalog.import_persona import import_persona
from datasets_app.core import audit
from datasets_app.core.web.model_admin import ModelAdmin, Pages
from datasets_app.domain.personas.persona import PersonaError, check_persona, parse_persona
from datasets_app.models import Persona
from datasets_app.tables.admin import TableAdminMixin
from datasets_app.templatetags.values import ago


@admin.register(Persona)
class PersonaAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    form = PersonaForm
    resource_classes = [PersonaResource]
    formats = PERSONA_FORMATS
    list_display = ["persona_id", "display_name", "show_findings", "show_updated"]
    search_fields = ["persona_id", "display_name"]
    list_per_page = 50
    show_full_result_count = False
    change_form_template = "admin/datasets_app/persona/change_form.html"

    def get_pages(self) -> Pages:
        return [("beside/", persona_pages.preview, "beside")]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["yaml"] if obj is None or self.has_change_permission(request, obj) else []

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add the findings and the preview of the YAML that the form shows."""
        form, persona = context["adminform"].form, kwargs.get("obj")
        may_edit = "yaml" in form.fields
        text = form["yaml"].value() if may_edit else persona.yaml if persona else ""
        # Validating the form changed the persona that it is bound to.
        stored = Persona.objects.filter(pk=persona.pk).first() if persona else None
        here = stored.persona_id if stored else "New persona"
        beside = f"{reverse('admin:datasets_app_persona_beside')}?persona={stored.pk if stored else ''}"
        request.crumbs = [("Personas", reverse("admin:datasets_app_persona_changelist")), (here, None)]  # type: ignore[attr-defined]  # see core/web/pages.py
        context |= {
            "title": f"{here} · Personas",
            "subtitle": None,
            "may_edit": may_edit,
            "persona": stored,
            "beside_url": beside,
            "fields": PersonaFields(str(text or ""), may_change_id=stored is None) if may_edit else None,
            "is_untouched": text == NEW_PERSONA_YAML and not form.is_bound,
            **persona_pages.preview_context(str(text or ""), stored, request.user),
        }
        return super().render_change_form(request, context, *args, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"yaml": NEW_PERSONA_YAML, **super().get_changeform_initial_data(request)}

    @admin.display(description="Updated", ordering="updated_at")
    def show_updated(self, persona: Persona) -> str:
        return ago(persona.updated_at)

    @admin.display(description="Findings")
    def show_findings(self, persona: Persona) -> str:
        return ", ".join(sorted({item.code for item in _find_problems(persona)})) or "–"

    def save_model(self, request: HttpRequest, obj: Persona, form: Any, change: bool) -> None:
        saved = import_persona(obj.yaml, actor=request.user)
        obj.pk, obj.digest = saved.persona.pk, saved.persona.digest
        for item in saved.findings:
            messages.warning(request, f"{item.code} {item.field}: {item.message}")

    def delete_model(self, request: HttpRequest, obj: Persona) -> None:
        audit.record("delete_persona", actor=request.user, persona_id=obj.persona_id, sha256=obj.digest)
        super().delete_model(request, obj)


def _find_problems(persona: Persona) -> list[Any]:
    try:
        return check_persona(parse_persona(persona.yaml))
    except PersonaError:
        return []
