"""The "Generate" page: what is asked for, what it would be like, and the start of the job."""

from decimal import Decimal
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from datasets_app.core.web.pages import dataset_breadcrumbs, render_page, require_permissions
from datasets_app.domain.generation.budget import TokensUsed
from datasets_app.domain.generation.plan import OFF_BRAND, ON_BRAND
from datasets_app.generating.factory import OFFLINE
from datasets_app.generating.forms import GenerateForm, initial_from_parameters
from datasets_app.generating.preview import GenerationPreview, SampleSession
from datasets_app.jobs import runs
from datasets_app.models import Dataset, JobRun

OPERATION = "bootstrap_dataset"
KIND_LABELS = {
    "scenario": "Ordinary",
    "safety_trap": "Safety trap",
    "brand_trap": "Brand trap",
    "edge_case": "Edge case",
}
_MILLION = 1_000_000


def generate(request: HttpRequest) -> HttpResponse:
    """GET: the form. POST: starts the job; with "look" the same page with a new preview."""
    require_permissions(request, "generate_dataset", "view_dataset")
    if request.method == "POST":
        look = "look" in request.POST
        form = GenerateForm(request.POST, user=request.user, is_draft=look)
        if form.is_valid() and not look:
            job = _start_job(request, form)
            return redirect("admin:datasets_app_jobrun_change", job.pk)
    else:
        form = GenerateForm(user=request.user, initial=_initial_values(request))
    context = {
        "form": form,
        "queue_is_up": runs.is_queue_reachable(),
        **(_preview_context(form) if form.is_bound else _initial_preview_context(request, form)),
    }
    crumbs = dataset_breadcrumbs(None, ("Generate", None))
    return render_page(request, "datasets_app/generate.html", crumbs, context)


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """What the form comes to, as far as it is filled in. Nothing is written, nobody is asked."""
    require_permissions(request, "generate_dataset", "view_dataset")
    form = GenerateForm(request.POST, user=request.user, is_draft=True)
    form.is_valid()
    response = render(
        request, "datasets_app/_generate_preview.html", {**_preview_context(form), "is_live_update": True}
    )
    response["Cache-Control"] = "no-store"
    return response


def _start_job(request: HttpRequest, form: GenerateForm) -> JobRun:
    name = form.cleaned_data["dataset_name"]
    return runs.start_job(
        OPERATION,
        actor=request.user,
        dataset=Dataset.objects.filter(name=name).first(),
        dataset_name=name,
        parameters=form.parameters(),
    )


def _initial_values(request: HttpRequest) -> dict[str, Any]:
    """From a dataset's page its name comes along, from a job's what was asked for."""
    job_pk, dataset_name = request.GET.get("again", ""), request.GET.get("dataset", "")[:100]
    if job_pk.isascii() and job_pk.isdigit() and len(job_pk) < 19:
        mine = Q(actor=request.user.pk)
        may_see = Q() if request.user.has_perm("datasets_app.view_jobrun") else mine
        job = (
            JobRun.objects.visible_to(request.user)
            .filter(may_see, operation=OPERATION, pk=int(job_pk))
            .first()
        )
        return initial_from_parameters(job.dataset_name, job.parameters) if job else {}
    suggested: dict[str, Any] = {"persona": request.GET["persona"]} if request.GET.get("persona") else {}
    return suggested | ({"dataset_name": dataset_name, "append": True} if dataset_name else {})


# --- the preview -------------------------------------------------------------------------------


def _initial_preview_context(request: HttpRequest, form: GenerateForm) -> dict[str, Any]:
    """Of the form as it is shown first, before anybody has changed it."""
    shown = {name: form[name].value() for name in form.fields}
    answers = {name: value for name, value in shown.items() if value not in (None, False)}
    return _preview_context(GenerateForm(answers, user=request.user, is_draft=True))


def _preview_context(form: GenerateForm) -> dict[str, Any]:
    """Of a bound form, valid or not."""
    if not form.is_valid() or form.preview is None:
        labels = {name: form[name].label for name in form.fields}
        told = [(labels.get(name, ""), error) for name, errors in form.errors.items() for error in errors]
        return {"problems": told}
    seen = form.preview
    said = form.cleaned_data
    return {
        "plan_preview": seen,
        "kinds": _kind_counts(seen),
        "sessions": [_session_context(session) for session in seen.sessions],
        "uses_model": said["writer"] != OFFLINE,
        "budget": said.get("max_tokens_total"),
        "cost": _estimate_cost(seen.tokens, said.get("price_prompt"), said.get("price_answer")),
        "within_budget": _sessions_within_budget(seen, said.get("max_tokens_total")),
    }


def _kind_counts(seen: GenerationPreview) -> list[tuple[str, int]]:
    counts = seen.counts
    return [
        ("Ordinary", counts.scenarios),
        ("Safety traps", counts.safety_traps),
        ("Brand traps", counts.brand_traps),
        ("Edge cases", counts.edge_cases),
    ]


def _session_context(session: SampleSession) -> dict[str, Any]:
    """A session for the page; what each reply was meant as is told apart from the other tags."""
    planned = session.planned
    return {
        "id": planned.session_id,
        "kind": KIND_LABELS[planned.kind],
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
    """What the tokens cost at these prices of a million; None without a price."""
    if tokens is None or (prompt is None and answer is None):
        return None
    cost = (tokens.prompt * (prompt or 0) + tokens.completion * (answer or 0)) / Decimal(_MILLION)
    return cost.quantize(Decimal("0.01"))


def _sessions_within_budget(seen: GenerationPreview, budget: int | None) -> int | None:
    """About how many sessions a budget is enough for; None if for all."""
    if not seen.tokens or not budget or budget >= seen.tokens.total:
        return None
    return budget * len(seen.plan) // max(1, seen.tokens.total)
