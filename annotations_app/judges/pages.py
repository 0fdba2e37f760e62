"""The pages of judges of one campaign: how far each can be trusted, and the replies that it gets wrong."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotations_app.campaigns.pages_common import (
    campaign_url,
    may_read_replies,
    record_replies,
    render_campaign_page,
    visible_campaign,
)
from annotations_app.judges.alternative import ASSUMPTIONS
from annotations_app.judges.certify import (
    certify_judge,
    list_certifiable,
    list_certificates,
    name_criterion,
    state_certificate,
)
from annotations_app.judges.forms import CertifyForm, ImproveForm, JudgeForm, JuryForm
from annotations_app.judges.improve_judge import count_tries, is_draft, list_comparable, list_proposals
from annotations_app.judges.measure import find_replies, measure_judge
from annotations_app.judges.replies import read_replies
from annotations_app.judges.reveal import reveal_judge
from annotations_app.models import Campaign, Judge, JudgeCertificate, JudgeRun, Verdict
from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.policies import LOCKED_SPLIT
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.packages.quality_statement import StatedCertificate, describe_certificate
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset

_QUERY = ("criterion", "tag", "judge", "people")
MAX_RUNS, MAX_TEXT_CHARACTERS = 20, 4000


class _Test(NamedTuple):
    """A certificate, its question, what it states, that in sentences, and whether it is of the page's
    dataset: how good a judge is on one tells little of another."""

    certificate: JudgeCertificate
    question: str
    stated: StatedCertificate
    sentences: list[str]
    is_own: bool


def judges(request: HttpRequest, pk: int) -> HttpResponse:
    """GET measures the run that the query names, or the latest that isn't of a draft. POST starts one."""
    campaign = visible_campaign(request, pk, "view_annotation")
    form = JudgeForm(request.POST or None, **_form_options(request, campaign))
    if request.method == "POST" and _may_run(request) and form.is_valid():
        return start_and_show_job(request, "run_judge", campaign.dataset, form.make_parameters(campaign))
    return _render_judges(request, campaign, form=form)


def _render_judges(
    request: HttpRequest, campaign: Campaign, *, judge: Judge | None = None, **filled_in: Form
) -> HttpResponse:
    """``filled_in`` are forms with errors; ``judge`` is the one that they are about."""
    may_run, options = _may_run(request), _form_options(request, campaign)
    may_read = raw_access.may_read(request.user, campaign.dataset)
    runs = list(_runs(campaign)[:MAX_RUNS])
    chosen = parse_pk(request.GET.get("run", ""))
    of_judges = [one for one in runs if not is_draft(one.judge)]
    shown = (one for one in runs if one.judge == judge or one.pk == chosen)
    run = next(shown, next(iter(of_judges or runs), None))
    tests = _list_tests(request, campaign, runs)
    context = {
        "form": JudgeForm(**options) if may_run else None,
        "jury_form": JuryForm(**options) if may_run else None,
        "runs": [(one, tests.get((one.judge_id, one.prompt_digest), [])) for one in runs],
        "report": measure_judge(run, with_tags=may_read) if run else None,
        "is_revealed": run is not None and campaign.revealed_judge_id == run.judge_id,
        "proposals": list_proposals(run) if run and run.judge.content.calls_model else [],
        "improve_form": (
            ImproveForm(campaign, may_override=options["may_override"])
            if may_run and list_comparable(campaign)
            else None
        ),
        "tries": count_tries(run.judge.name) if run else 0,
        "alternative_assumptions": ASSUMPTIONS,
        "tests": tests.get((run.judge_id, run.prompt_digest), []) if run else [],
        "is_testable": campaign.split == LOCKED_SPLIT,
        "certify_form": CertifyForm(campaign) if list_certifiable(campaign) else None,
        **(filled_in if may_run else {}),
    }
    return render_campaign_page(request, campaign, "judges", "Judges", context)


@require_POST
def jury(request: HttpRequest, pk: int) -> HttpResponse:
    """Form a jury of the posted judges."""
    campaign = visible_campaign(request, pk, "change_campaign")
    form = JuryForm(request.POST, **_form_options(request, campaign))
    if form.is_valid():
        return start_and_show_job(request, "form_jury", campaign.dataset, form.make_parameters(campaign))
    return _render_judges(request, campaign, jury_form=form)


@require_POST
def certify(request: HttpRequest, pk: int, run_pk: int) -> HttpResponse:
    """Test a judge on the test split, once."""
    campaign = visible_campaign(request, pk, "view_annotation", "change_campaign")
    run = get_object_or_404(_runs(campaign), pk=run_pk)
    form = CertifyForm(campaign, request.POST)
    with show_refusal(request):
        if not form.is_valid():
            raise UserError("Choose a criterion and a threshold from 50 to 99 %.")
        certificate = certify_judge(run, actor=request.user, **form.options)
        said = "certified" if certificate.certified else "not certified"
        question = name_criterion(certificate)
        messages.success(request, f"{run.judge} was tested, and is {said} for “{question}”.")
    return redirect(f"{campaign_url(campaign, 'judges')}?run={run.pk}")


@require_POST
def improve(request: HttpRequest, pk: int) -> HttpResponse:
    """Try better prompts for the posted judge."""
    campaign = visible_campaign(request, pk, "change_campaign")
    judge = get_object_or_404(Judge, pk=parse_pk(request.POST.get("judge", "")), runs__campaign=campaign)
    form = ImproveForm(campaign, request.POST, may_override=gates.can_override(request.user))
    if form.is_valid():
        parameters = form.make_parameters(campaign, judge)
        return start_and_show_job(request, "improve_judge", campaign.dataset, parameters)
    return _render_judges(request, campaign, judge=judge, improve_form=form)


@require_POST
def reveal(request: HttpRequest, pk: int) -> HttpResponse:
    """Show verdicts of the posted judge to annotators who have decided; of none without one."""
    campaign = visible_campaign(request, pk, "change_campaign")
    judge_pk = parse_pk(request.POST.get("judge", ""))
    judge = get_object_or_404(Judge, pk=judge_pk, runs__campaign=campaign) if judge_pk else None
    with show_refusal(request):
        reveal_judge(campaign, judge, actor=request.user)
        shown = f"Annotators see verdicts of {judge} once they have decided." if judge else "No longer shown."
        messages.success(request, shown)
    return redirect(campaign_url(campaign, "judges"))


def judged_replies(request: HttpRequest, pk: int, run_pk: int) -> HttpResponse:
    """Replies of which the judge says one thing and most people another, one after the other."""
    campaign = visible_campaign(request, pk, "view_annotation")
    run = get_object_or_404(_runs(campaign), pk=run_pk)
    names = ("judge", "people", "at")
    said, people, at = (parse_pk(request.GET.get(name, "0") or "0") or 0 for name in names)
    found = find_replies(run, request.GET.get("criterion", ""), request.GET.get("tag", ""), said, people)
    if found is None:
        raise Http404
    title, answers, turns = found
    at, may_read = min(at, max(0, len(turns) - 1)), may_read_replies(request.user, campaign)
    context: dict[str, Any] = {
        "run": run,
        "title": title,
        "answers": answers,
        "total": len(turns),
        "place": at + 1,
        "address": urlencode({name: request.GET.get(name, "") for name in _QUERY}),
        "previous": at - 1 if at else None,
        "next": at + 1 if at + 1 < len(turns) else None,
        "verdict": _load_verdict(request, run, turns[at]) if turns else None,
        "withheld": not may_read,
        "sides": _list_sides(campaign, turns[at]) if turns and may_read else [],
    }
    return render_campaign_page(request, campaign, "judged", "Judged replies", context)


def _list_tests(request: HttpRequest, campaign: Campaign, runs: list[JudgeRun]) -> dict[Any, list[_Test]]:
    """By judge and prompt those that the person may see."""
    visible = set(Dataset.objects.visible_to(request.user).values_list("pk", flat=True))

    def describe(one: JudgeCertificate) -> _Test:
        stated = state_certificate(one)
        is_own = one.campaign.dataset_id == campaign.dataset_id
        return _Test(one, name_criterion(one), stated, describe_certificate(stated), is_own)

    return {
        of: [describe(one) for one in found if one.campaign.dataset_id in visible]
        for of, found in list_certificates(runs).items()
    }


def _load_verdict(request: HttpRequest, run: JudgeRun, turn: int) -> Verdict:
    campaign = run.campaign
    verdict: Verdict = (
        Verdict.objects.filter(turn__dataset=campaign.dataset_id)
        .select_related("turn__session")
        .get(run=run, turn=turn, repeat=0, swapped=False)
    )
    if not may_read_replies(request.user, campaign):
        verdict.rationale = verdict.turn.text = raw_access.WITHHELD
        raw_access.withhold_session(verdict.turn.session)
    else:
        record_replies(request, campaign, "judged", 1)
    verdict.turn.text = verdict.turn.text[:MAX_TEXT_CHARACTERS]
    return verdict


def _list_sides(campaign: Campaign, turn: int) -> list[tuple[str, str]]:
    """The replies of a pair as annotators see them; of one reply none."""
    reply = read_replies(campaign, [turn]).get(turn) if campaign.other_dataset_id else None
    sides = zip("AB", reply.pair, strict=True) if reply and reply.pair else ()
    return [(name, text[:MAX_TEXT_CHARACTERS]) for name, text in sides]


def _may_run(request: HttpRequest) -> bool:
    return request.user.has_perm("annotations_app.change_campaign")


def _form_options(request: HttpRequest, campaign: Campaign) -> dict[str, bool]:
    compares = campaign.other_dataset_id is not None
    return {"compares": compares, "may_override": gates.can_override(request.user)}


def _runs(campaign: Campaign) -> Any:
    return JudgeRun.objects.filter(campaign=campaign).select_related(
        "judge", "campaign__schema", "campaign__persona", "campaign__dataset"
    )
