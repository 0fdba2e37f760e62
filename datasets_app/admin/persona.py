"""Edit personas as YAML; their other fields are derived from it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.widgets import UnfoldAdminTextareaWidget

from datasets_app.admin import persona_pages
from datasets_app.admin.resources import PERSONA_FORMATS, PersonaResource, validate_persona
from datasets_app.catalog.import_persona import import_persona
from datasets_app.core import audit
from datasets_app.core.web.model_admin import ModelAdmin
from datasets_app.domain.personas.persona import PersonaError, check_persona, parse_persona
from datasets_app.models import Persona
from datasets_app.tables.admin import TableAdminMixin
from datasets_app.templatetags.values import ago

NEW_PERSONA_YAML = """\
# Labels and sessions refer to the persona by this id. Required; can't be changed later.
id:
display_name:
description: >-
  Who is speaking, in two or three sentences.
# A few replies in the persona's voice, each on its own line:
#   - You can undo that; open the activity list and choose Restore.
exemplars: []
# Single words only: entries with several words never match.
lexicon:
  preferred: []
  avoid: []
# For example sentence_length: {max_avg: 18}, tone: [calm, direct]
style_rules: {}
safety_rules:
  disallowed_topics: []
"""


class PersonaForm(forms.ModelForm):
    class Meta:
        model = Persona
        fields = ["yaml"]
        labels = {"yaml": "YAML"}
        widgets = {
            "yaml": UnfoldAdminTextareaWidget(
                attrs={
                    "rows": 30,
                    "spellcheck": "false",
                    "class": "ad-yaml",
                    "wrap": "off",
                    "autocomplete": "off",
                    "autocapitalize": "off",
                }
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "yaml" in self.fields:
            self.fields["yaml"].strip = False  # type: ignore[attr-defined]

    def clean_yaml(self) -> str:
        # Browsers send line ends as CR LF, which must not count as a change.
        submitted = str(self.cleaned_data["yaml"]).replace("\r\n", "\n")
        stored = self.instance.yaml
        return stored if stored.replace("\r\n", "\n") == submitted else submitted

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "yaml" in cleaned:
            document = validate_persona(cleaned["yaml"])
            if self.instance.pk and document.id != self.instance.persona_id:
                self.add_error(
                    "yaml",
                    f"id: can't be changed from {self.instance.persona_id}. Add a new persona instead.",
                )
            elif not self.instance.pk and Persona.objects.filter(persona_id=document.id).exists():
                self.add_error("yaml", f"id: the persona {document.id} already exists. Edit that one.")
            self.instance.persona_id = document.id
            self.instance.display_name = document.display_name
            self.instance.description = document.description
        return cleaned


@admin.register(Persona)
class PersonaAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    form = PersonaForm
    resource_classes = [PersonaResource]
    formats = PERSONA_FORMATS
    list_display = ["persona_id", "display_name", "show_findings", "show_updated"]
    search_fields = ["persona_id", "display_name"]
    list_per_page = 50
    show_full_result_count = False
    readonly_fields = ["persona_id", "show_yaml", "show_digest", "show_updated"]
    compressed_fields = False
    change_form_template = "admin/datasets_app/persona/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(persona_pages.preview)
        return [path("beside/", page, name="datasets_app_persona_beside"), *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["yaml"]
        text = "yaml" if self.has_change_permission(request, obj) else "show_yaml"
        return ["persona_id", text, "show_digest", "show_updated"]

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
        request.crumbs = [("Personas", reverse("admin:datasets_app_persona_changelist")), (here, None)]  # type: ignore[attr-defined]  # see core/web/pages.py
        context |= {
            "title": f"{here} · Personas",
            "subtitle": None,
            "may_edit": may_edit,
            "is_untouched": text == NEW_PERSONA_YAML and not form.is_bound,
            **persona_pages.preview_context(str(text or ""), stored, request.user),
        }
        return super().render_change_form(request, context, *args, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"yaml": NEW_PERSONA_YAML, **super().get_changeform_initial_data(request)}

    @admin.display(description="Updated", ordering="updated_at")
    def show_updated(self, persona: Persona) -> str:
        return ago(persona.updated_at)

    @admin.display(description="YAML")
    def show_yaml(self, persona: Persona) -> str:
        """For users who may only read it."""
        return format_html('<pre class="ad-json" tabindex="0">{}</pre>', persona.yaml)

    @admin.display(description="SHA-256")
    def show_digest(self, persona: Persona) -> str:
        return format_html('<code class="ad-hash ad-anywhere">{}</code>', persona.digest)

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
