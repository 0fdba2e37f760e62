"""The page of variants that models write: starts a run, and shows each draft to a person."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotations_app.campaigns.pages_common import admin_url
from annotations_app.cases.drafts import count_drafts, decide_draft, list_drafts
from annotations_app.cases.parameters import VariantParameters
from datasets_app.catalog import raw_access
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import frame_context
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    get_visible_dataset,
    parse_pk,
    render_page,
    require_permissions,
)
from datasets_app.core.web.refusals import make_invalid, show_refusal
from datasets_app.domain.generation.families import ANSWERS, KINDS
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.model_calls.parameters import MODEL_PREFIX
from datasets_app.model_calls.requests import MAX_MODEL_CHARACTERS
from datasets_app.models import Dataset


class DraftingForm(forms.Form):
    model = fields.Text(
        label="Model name", max_length=MAX_MODEL_CHARACTERS, help_text="The name the endpoint uses."
    )
    base_url = fields.Choice(label="Endpoint")
    kinds = fields.Checkboxes(
        label="Kinds",
        choices=[(name, kind.label) for name, kind in KINDS.items()],
        initial=["rephrase", "language"],
        help_text="Kinds that a case has already are left out.",
    )
    max_tokens_total = fields.Integer(
        label="Token budget", min_value=1, required=False, help_text="If empty, no limit."
    )

    def __init__(self, *args: Any, endpoints: list[str], user: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        self.fields["base_url"].choices = [(url, url) for url in endpoints]  # type: ignore[attr-defined]

    def clean_base_url(self) -> str:
        with make_invalid():
            return require_endpoint(self.cleaned_data["base_url"], self.user).base_url

    def make_parameters(self) -> VariantParameters:
        chosen = self.cleaned_data
        return VariantParameters(**chosen | {"model": f"{MODEL_PREFIX}{chosen['model']}"})


def dataset_variants(request: HttpRequest, pk: int) -> HttpResponse:
    """Posting a draft decides on it; posting the form starts a run."""
    dataset = get_visible_dataset(request, pk)
    require_permissions(request, "view_session", "view_turn", "import_dataset")
    if "session" in request.POST:
        return _decide(request, dataset)
    endpoints = dataset.judge_endpoints
    form = DraftingForm(request.POST or None, endpoints=endpoints, user=request.user) if endpoints else None
    if form and request.method == "POST" and form.is_valid():
        return start_and_show_job(request, "draft_variants", dataset, form.make_parameters())
    may_read = raw_access.may_read(request.user, dataset)
    drafts = list_drafts(dataset) if may_read else []
    if drafts:
        raw_access.record_access(dataset, request.user, place="drafts", turns=len(drafts))
    context = {
        **frame_context(request, dataset, "variants"),
        "form": form,
        "drafts": drafts,
        "waiting": count_drafts(dataset),
        "withheld": not may_read,
        "answers": ANSWERS.items(),
        "may_edit": request.user.has_perm("datasets_app.change_dataset"),
    }
    crumbs = dataset_breadcrumbs(dataset, ("Variants", None))
    return render_page(request, "annotations_app/dataset_variants.html", crumbs, context)


def _decide(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    answer = request.POST.get("answer") or None
    with show_refusal(request):
        case = decide_draft(dataset, parse_pk(request.POST["session"]) or 0, answer, actor=request.user)
        messages.success(request, f"{'Discarded' if answer is None else 'Kept'}, of {case}.")
    return redirect(admin_url("campaign_dataset_variants", dataset.pk))
