"""The pages of schemas: the list, one version, and the form that makes the next, with a live preview."""

from collections import Counter
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from annotations_app.campaigns.pages_common import (
    admin_url,
    campaign_crumbs,
    render_fragment,
    require_permissions,
    visible_campaigns,
)
from annotations_app.criteria.schemas import READY_MADE_NAMES, import_schema, read_ready_made
from annotations_app.criteria.versions import latest_versions
from annotations_app.models import LabelSchema
from datasets_app.core.web import fields
from datasets_app.core.web.pages import parse_pk, render_page
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.domain.labels.schema_document import (
    MAX_CHARACTERS,
    InvalidSchema,
    dump_schema,
    parse_schema,
)

_EXAMPLE = """\
schema: my_schema
description: What it is for
criteria:
  - key: correct
    question: Is what the reply says correct?
    kind: yes_no
  - key: helpful
    question: How helpful is the reply?
    kind: ordinal
    answers: [1, 2, 3, 4, 5]
  - key: faults
    question: What is wrong?
    kind: tags
    answers: [facts, tone, too long]
    when: {correct: 0}
"""


class SchemaForm(forms.Form):
    text = fields.LongText(
        label="Schema",
        max_length=MAX_CHARACTERS,
        strip=False,
        attrs={"class": "ad-low ad-guidelines lead-code", "rows": "24", "spellcheck": "false"},
        help_text="YAML. Saving another text under a known name makes its next version.",
    )


@require_safe
def list_schemas(request: HttpRequest) -> HttpResponse:
    """The latest version of each, and those that come with the application."""
    require_permissions(request, "view_campaign")
    schemas = list(latest_versions(LabelSchema))
    campaigns = Counter(visible_campaigns(request.user).values_list("schema__name", flat=True))
    known = {schema.name for schema in schemas}
    context = {
        "schemas": [(schema, campaigns[schema.name]) for schema in schemas],
        "ready_made": [read_ready_made(name) for name in READY_MADE_NAMES if name not in known],
        "may_add": request.user.has_perm("annotations_app.add_campaign"),
    }
    return render_page(
        request, "annotations_app/schema_list.html", campaign_crumbs(None, ("Schemas", None)), context
    )


@require_safe
def show_schema(request: HttpRequest, pk: int) -> HttpResponse:
    """One version, as annotators see it and as YAML."""
    require_permissions(request, "view_campaign")
    schema = get_object_or_404(LabelSchema, pk=pk)
    context = {
        "saved": schema,
        "schema": schema.content,
        "yaml": dump_schema(schema.content),
        "versions": LabelSchema.objects.filter(name=schema.name).order_by("-version"),
        "campaigns": visible_campaigns(request.user).filter(schema=schema).count(),
        "may_add": request.user.has_perm("annotations_app.add_campaign"),
    }
    crumbs = campaign_crumbs(None, ("Schemas", admin_url("campaign_schemas")), (str(schema), None))
    return render_page(request, "annotations_app/schema_page.html", crumbs, context)


def edit_schema(request: HttpRequest) -> HttpResponse:
    """A new schema, or from ``?of=`` (a key) or ``?ready_made=`` (a name) the next version or a copy."""
    require_permissions(request, "add_campaign")
    if request.method == "POST":
        form = SchemaForm(request.POST)
        if form.is_valid() and (saved := _save(request, form)):
            return redirect(admin_url("campaign_schema", saved.pk))
    else:
        form = SchemaForm(initial={"text": _initial_text(request)})
    title = "New version of a schema" if request.GET.get("of") else "New schema"
    crumbs = campaign_crumbs(None, ("Schemas", admin_url("campaign_schemas")), (title, None))
    return render_page(request, "annotations_app/schema_edit.html", crumbs, {"form": form, "title": title})


def _save(request: HttpRequest, form: SchemaForm) -> LabelSchema | None:
    with show_refusal_in(form, "text"):
        imported = import_schema(form.cleaned_data["text"], actor=request.user)
        said = "didn't change" if imported.change == "unchanged" else f"is {imported.change}"
        messages.success(request, f"{imported.schema} {said}.")
        return imported.schema
    return None


def _initial_text(request: HttpRequest) -> str:
    if name := request.GET.get("ready_made"):
        if name not in READY_MADE_NAMES:
            raise Http404
        return dump_schema(read_ready_made(name))
    pk = parse_pk(request.GET.get("of", ""))
    return _EXAMPLE if pk is None else dump_schema(get_object_or_404(LabelSchema, pk=pk).content)


@require_POST
def preview_schema(request: HttpRequest) -> HttpResponse:
    """What annotators will see of the YAML in the form, or what is wrong with it."""
    require_permissions(request, "add_campaign")
    context: dict[str, Any]
    try:
        context = {"schema": parse_schema(request.POST.get("text", ""))}
    except InvalidSchema as error:
        context = {"problem": str(error)}
    return render_fragment(request, "_schema_preview", context)
