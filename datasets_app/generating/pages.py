"""The "Generate" page: the form, its preview, and the start of the job."""

from decimal import Decimal
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    parse_pk,
    render_fragment,
    render_page,
    require_permissions,
)
from datasets_app.domain.generation.plan import OFF_BRAND, ON_BRAND
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.generating.forms import GenerateForm, initial_from_parameters
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.generating.preview import GenerationPreview
from datasets_app.jobs import queue
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.parameters import read_parameters
from datasets_app.model_calls.requests import OFFLINE
from datasets_app.models import Dataset, JobRun

OPERATION = "bootstrap_dataset"
# Of one session, and of several.
KIND_LABELS = {
    "scenario": ("Ordinary", "Ordinary"),
    "safety_trap": ("Safety trap", "Safety traps"),
    "brand_trap": ("Brand trap", "Brand traps"),
    "edge_case": ("Over-refusal probe", "Over-refusal probes"),
}
_MILLION = 1_000_000


def generate(request: HttpRequest) -> HttpResponse:
    """GET shows the form. POST starts the job or, with "look", updates the preview."""
    require_permissions(request, "generate_dataset", "view_dataset")
    if request.method == "POST":
        is_draft = "look" in request.POST
        form = GenerateForm(request.POST, user=request.user, is_draft=is_draft)
        if form.is_valid() and not is_draft:
            name = form.cleaned_data["dataset_name"]
            dataset = Dataset.objects.filter(name=name).first()
            return start_and_show_job(request, OPERATION, dataset, form.parameters(), dataset_name=name)
    else:
        form = GenerateForm(user=request.user, initial=_initial_values(request))
    context = {
        "form": form,
        "queue_is_up": queue.is_reachable(),
        **(_preview_context(form) if form.is_bound else _initial_preview_context(request, form)),
    }
    crumbs = dataset_breadcrumbs(None, ("Generate", None))
    return render_page(request, "datasets_app/generate.html", crumbs, context)


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Preview the form as far as it is filled in. Writes nothing and calls no model."""
    require_permissions(request, "generate_dataset", "view_dataset")
    form = GenerateForm(request.POST, user=request.user, is_draft=True)
    form.is_valid()
    context = {**_preview_context(form), "is_live_update": True}
    return render_fragment(request, "datasets_app/_generate_preview.html", context)


def _initial_values(request: HttpRequest) -> dict[str, Any]:
    """The dataset name, or the answers of an earlier job, that the link names."""
    job_pk, dataset_name = parse_pk(request.GET.get("again", "")), request.GET.get("dataset", "")[:100]
    if job_pk is not None:
        mine = Q(actor=request.user.pk)
        may_see = Q() if request.user.has_perm("datasets_app.view_jobrun") else mine
        job = JobRun.objects.visible_to(request.user).filter(may_see, operation=OPERATION, pk=job_pk).first()
        if job is None:
            return {}
        return initial_from_parameters(job.dataset_name, read_parameters(job, GenerationParameters))
    suggested: dict[str, Any] = {"persona": request.GET["persona"]} if request.GET.get("persona") else {}
    return suggested | ({"dataset_name": dataset_name, "append": True} if dataset_name else {})


# --- the preview -------------------------------------------------------------------------------


def _initial_preview_context(request: HttpRequest, form: GenerateForm) -> dict[str, Any]:
    """The preview of the unchanged form."""
    shown = {name: form[name].value() for name in form.fields}
    answers = {name: value for name, value in shown.items() if value not in (None, False)}
    return _preview_context(GenerateForm(answers, user=request.user, is_draft=True))


def _preview_context(form: GenerateForm) -> dict[str, Any]:
    """The preview of a bound form, or its problems."""
    if not form.is_valid() or form.preview is None:
        labels = {name: form[name].label for name in form.fields}
        errors = form.errors.items()
        return {"problems": [(labels.get(name, ""), text) for name, texts in errors for text in texts]}
    plan_preview = form.preview
    cleaned = form.cleaned_data
    return {
        "plan_preview": plan_preview,
        "kinds": [(label, plan_preview.plan.counts[kind]) for kind, (_, label) in KIND_LABELS.items()],
        "sessions": [_session_context(session) for session in plan_preview.sessions],
        "uses_model": cleaned["writer"] != OFFLINE,
        "budget": cleaned.get("max_tokens_total"),
        "cost": _estimate_cost(plan_preview.tokens, cleaned.get("price_prompt"), cleaned.get("price_answer")),
        "within_budget": _sessions_within_budget(plan_preview, cleaned.get("max_tokens_total")),
    }


def _session_context(session: WrittenSession) -> dict[str, Any]:
    """A session for the page, with the intended brand of each reply apart from the other tags."""
    planned = session.planned
    return {
        "id": planned.session_id,
        "kind": KIND_LABELS[planned.kind][0],
        "is_trap": planned.trap_category is not None,
        "tags": planned.tags,
        "turns": [
            {
                "role": turn.role,
                "turn_index": turn.turn_index,
                "text": turn.text,
                "on": ON_BRAND in turn.tags,
                "off": OFF_BRAND in turn.tags,
            }
            for turn in session.turns
        ],
    }


def _estimate_cost(
    tokens: TokensUsed | None, prompt: Decimal | None, answer: Decimal | None
) -> Decimal | None:
    """The cost of the tokens at these prices per million; None without a price."""
    if tokens is None or (prompt is None and answer is None):
        return None
    cost = (tokens.prompt * (prompt or 0) + tokens.completion * (answer or 0)) / Decimal(_MILLION)
    return cost.quantize(Decimal("0.01"))


def _sessions_within_budget(plan_preview: GenerationPreview, budget: int | None) -> int | None:
    """About how many sessions the budget covers; None if it covers all."""
    if not plan_preview.tokens or not budget or budget >= plan_preview.tokens.total:
        return None
    return budget * len(plan_preview.plan) // max(1, plan_preview.tokens.total)
