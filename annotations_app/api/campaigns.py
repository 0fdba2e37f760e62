"""Campaigns and their agreement."""

import io
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from ninja import Query, Router

from annotations_app.agreement import measure
from annotations_app.agreement.criteria import measure_criteria
from annotations_app.agreement.measure import measure_agreement
from annotations_app.api.schemas import (
    AgreementOut,
    CalibrationOut,
    CampaignIn,
    CampaignOut,
    CampaignPage,
    CertificateIn,
    CertificateOut,
    DatasetQualityOut,
    JudgeIn,
    JudgeProposalsIn,
    JudgesOut,
    JuryIn,
    LabelExportIn,
    OrderOut,
    QualityOut,
    ReviewIn,
    ReviewOut,
)
from annotations_app.calibrating.assess import calibration_ready
from annotations_app.campaigns.create import prepare_campaign
from annotations_app.campaigns.pages_common import visible_campaigns
from annotations_app.campaigns.parameters import CampaignParameters
from annotations_app.campaigns.sides import find_side
from annotations_app.criteria.schemas import get_schema, preference_schema
from annotations_app.domain.estimates.alternative import DEFAULT_EPSILON
from annotations_app.domain.to_json import to_json
from annotations_app.estimates.measure import MAX_WIDTH, MIN_WIDTH, estimate_quality, find_runs
from annotations_app.estimates.order_replies import order_replies
from annotations_app.estimates.statement import build_quality_statement
from annotations_app.judges.alternative import MAX_EPSILON
from annotations_app.judges.certify import certify_judge, state_certificate
from annotations_app.judges.judges import get_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.judges.parameters import ImproveParameters, JudgeParameters, JuryParameters
from annotations_app.labels.label_counts import list_personas
from annotations_app.labels.parameters import LabelExportParameters
from annotations_app.models import Campaign, JudgeRun
from annotations_app.review.estimate import estimate_review
from annotations_app.review.export import export_review
from datasets_app.api.datasets import VIEW_DATASET, After, Limit
from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.problems import ApiError, not_found
from datasets_app.api.routing import get_dataset, make_page, read_cursor, route
from datasets_app.catalog import gates, raw_access
from datasets_app.models import Dataset, Persona

MAX_RUNS = 20
router = Router(tags=["Campaigns and labels"])

Width: Any = Query(None, ge=MIN_WIDTH, le=MAX_WIDTH)
Epsilon: Any = Query(DEFAULT_EPSILON, ge=0, le=MAX_EPSILON)
AlphaWidth: Any = Query(None, ge=measure.MIN_WIDTH, le=measure.MAX_WIDTH)
Judges: Any = Query([], max_length=20)

VIEW_CAMPAIGNS = (*VIEW_DATASET, "annotations_app.view_campaign")
VIEW_LABELS = (*VIEW_CAMPAIGNS, "annotations_app.view_annotation")
CHANGE_CAMPAIGNS = (*VIEW_CAMPAIGNS, "annotations_app.change_campaign")
EXPORT_LABELS = (*VIEW_CAMPAIGNS, "annotations_app.export_annotation")


@route(router, "GET", "/campaigns", CampaignPage, needs=VIEW_CAMPAIGNS)
def list_campaigns(request: Any, after: str = After, limit: int = Limit) -> Any:
    """The latest first."""
    campaigns = visible_campaigns(request.person).order_by("-id")
    if after:
        campaigns = campaigns.filter(pk__lt=read_cursor(after))
    rows = list(campaigns[: limit + 1])
    withheld = raw_access.find_withheld(request.person, [row.dataset for row in rows])
    return make_page(rows, limit, lambda row: _describe(request, row, row.dataset_id in withheld))


@route(router, "GET", "/campaigns/{name}", CampaignOut, needs=VIEW_CAMPAIGNS)
def get_campaign(request: Any, name: str) -> Any:
    return describe_campaign(request, find_campaign(request, name))


@route(
    router,
    "POST",
    "/campaigns",
    CampaignOut,
    needs=(*VIEW_CAMPAIGNS, "annotations_app.add_campaign", "datasets_app.view_persona"),
    status=201,
    errors=(409,),
)
def create_campaign(request: Any, options: CampaignIn) -> Any:
    """A job then selects its replies, and opens it. A release that isn't loaded as a dataset yet takes the
    permission to import."""
    persona = Persona.objects.filter(persona_id=options.persona).first()
    if persona is None:
        raise ApiError(422, "invalid", "There is no persona with this id.")
    chosen = options.dict()
    schema, compare, _ = chosen.pop("label_schema"), chosen.pop("compare"), chosen.pop("annotators")
    find_dataset = partial(get_dataset, request)
    # A release that is loaded for a campaign that is refused doesn't stay.
    with transaction.atomic():
        dataset = find_side(options.dataset, find_dataset, actor=request.person)
        other = find_side(compare, find_dataset, actor=request.person) if compare else None
        asked = get_schema(schema) if schema else preference_schema(actor=request.person) if other else None
        named = {"dataset": dataset, "persona": persona, "schema": asked, "other_dataset": other}
        campaign = prepare_campaign(Campaign(**chosen | named), options.annotators, actor=request.person)
        start_job(request, "create_campaign", dataset, CampaignParameters(campaign=campaign.pk))
    return describe_campaign(request, campaign)


@route(router, "GET", "/campaigns/{name}/agreement", AgreementOut, needs=VIEW_LABELS)
def get_campaign_agreement(
    request: Any, name: str, version: int = 0, width: float | None = AlphaWidth
) -> Any:
    """Under a schema, `report` has the agreement on each criterion. With `version`, from 1: only of labels
    made under the first, second … persona, guidelines and schema of the campaign. With `width`, `plan` says
    how many more labels bring the interval of alpha to it."""
    campaign = find_campaign(request, name)
    if campaign.schema is None:
        report = measure_agreement(campaign=campaign, version=version, width=width)
        return _measure(campaign.dataset.name, campaign.name, report)
    labels = campaign.judgments.filter(kind="label").count()
    report = None
    if labels:
        readable = raw_access.may_read(request.person, campaign.dataset)
        measured = measure_criteria(campaign, version=version, width=width, by_tag=readable)
        if tags := max(len(one.preference_by_tag) for one in measured.criteria):
            raw_access.record_access(campaign.dataset, request.person, place="agreement by tag", tags=tags)
        report = to_json(measured)
    return {"dataset": campaign.dataset.name, "campaign": campaign.name, "labels": labels, "report": report}


@route(router, "GET", "/campaigns/{name}/quality", QualityOut, needs=VIEW_LABELS)
def get_campaign_quality(
    request: Any, name: str, judge: list[str] = Judges, width: float | None = Width
) -> Any:
    """How many replies have each answer, with 95 % intervals, helped by judges (all that judged the campaign,
    or those named); with `width` (a share) how many more labels bring them to it."""
    return to_json(estimate_quality(find_campaign(request, name), judges=judge, width=width))


@route(router, "GET", "/datasets/{name}/quality", DatasetQualityOut, needs=VIEW_LABELS)
def get_dataset_quality(request: Any, name: str) -> Any:
    """Which judges are certified for which criterion, and how good the assistant is by each campaign."""
    dataset = get_dataset(request, name)
    return {"dataset": dataset.name, **build_quality_statement(dataset).as_json()}


@route(router, "POST", "/campaigns/{name}/order", OrderOut, needs=CHANGE_CAMPAIGNS, errors=(409,))
def order_campaign_replies(request: Any, name: str) -> Any:
    """Ask the most useful replies next: where judges and people differ, or judges are unsure. Chances are
    recorded, and rates weigh labels by them."""
    campaign = find_campaign(request, name)
    return {"campaign": campaign.name, "replies": order_replies(campaign, actor=request.person)}


@route(router, "GET", "/datasets/{name}/agreement", AgreementOut, needs=VIEW_LABELS, errors=(409,))
def get_dataset_agreement(request: Any, name: str, persona: str = "") -> Any:
    """Of all labels of a dataset, for one persona or for all."""
    dataset = get_dataset(request, name)
    readable = raw_access.filter_personas(request.person, dataset, [persona])
    if persona and not readable:
        raise not_found()
    return _measure(dataset.name, None, measure_agreement(dataset=dataset, persona_id=persona or None))


@route(router, "POST", "/datasets/{name}/review", ReviewOut, needs=EXPORT_LABELS, errors=(409,))
def export_reviewed_tasks(request: Any, name: str, options: ReviewIn) -> Any:
    """Review tasks of Alignmenter with what people judged, and an estimate for all answers."""
    dataset = get_dataset(request, name)
    with tempfile.TemporaryDirectory() as folder:
        tasks, previous = Path(folder) / "tasks.jsonl", Path(folder) / "previous.jsonl"
        tasks.write_text(options.tasks, encoding="utf-8")
        previous.write_text(options.previous, encoding="utf-8")
        out = io.BytesIO()
        before = previous if options.previous else None
        done = export_review(tasks, dataset, out=out, previous=before, actor=request.person)
        estimates = [one.as_json() for one in estimate_review(tasks, dataset).criteria]
    return {**done._asdict(), "tasks": out.getvalue().decode(), "estimates": estimates}


@route(router, "GET", "/datasets/{name}/calibration", CalibrationOut, needs=VIEW_LABELS, errors=(409,))
def get_calibration(request: Any, name: str, persona: str = "") -> Any:
    """Whether the labels for a persona, or for the first that has some, are ready for Alignmenter's
    `calibrate-persona` and `calibrate validate`."""
    dataset = get_dataset(request, name)
    known = [persona] if persona else list_personas(dataset.pk)
    readable = raw_access.filter_personas(request.person, dataset, known)
    if persona and not readable:
        raise not_found()
    if not persona and readable and raw_access.may_read(request.person, dataset):
        raw_access.record_access(dataset, request.person, place="calibration", personas=1)
    return {"dataset": dataset.name, **calibration_ready(dataset, next(iter(readable), "")).as_json()}


def _measure(dataset: str, campaign: str | None, report: Any) -> dict[str, Any]:
    labels = report.headline.labels
    return {
        "dataset": dataset,
        "campaign": campaign,
        "labels": labels,
        "report": report.as_json() if labels else None,
    }


@job_route(router, "/campaigns/{name}/exports", needs=EXPORT_LABELS)
def export_campaign_labels(request: Any, name: str, options: LabelExportIn) -> Any:
    """Make a file of labels: follow the job, then download it. Labels of the test split are left out."""
    campaign = find_campaign(request, name)
    dataset = campaign.dataset
    gates.refuse_known_raw(dataset, actor=request.person)
    parameters = LabelExportParameters(
        campaign=campaign.name, persona=campaign.persona.persona_id, **options.dict()
    )
    return start_job(request, "export_annotations", dataset, parameters)


@route(router, "GET", "/campaigns/{name}/judges", JudgesOut, needs=VIEW_LABELS)
def get_campaign_judges(request: Any, name: str, epsilon: float = Epsilon) -> Any:
    """How far judges agree with people, without any text; by the alternative annotator test with `epsilon`,
    whether one may replace an annotator."""
    campaign = find_campaign(request, name)
    runs = JudgeRun.objects.filter(campaign=campaign).select_related("judge", "campaign__schema")
    may_read = raw_access.may_read(request.person, campaign.dataset)
    reports = [measure_judge(run, with_tags=may_read, epsilon=epsilon).as_json() for run in runs[:MAX_RUNS]]
    return {"campaign": campaign.name, "reports": reports}


@job_route(router, "/campaigns/{name}/judgments", needs=CHANGE_CAMPAIGNS)
def run_campaign_judge(request: Any, name: str, options: JudgeIn) -> Any:
    """Have a judge answer for every reply: follow the job. It resumes where an earlier one ended."""
    campaign = find_campaign(request, name)
    judge = get_judge(options.judge)
    chosen = options.dict() | {"judge": judge.full_name}
    parameters = JudgeParameters(campaign=campaign.name, **chosen)
    return start_job(request, "run_judge", campaign.dataset, parameters)


@job_route(router, "/campaigns/{name}/juries", needs=CHANGE_CAMPAIGNS)
def form_campaign_jury(request: Any, name: str, options: JuryIn) -> Any:
    """Form a jury of several judges, by weights learned from labels of people outside of the test split, and
    have it judge the campaign: follow the job. It is a judge from then on."""
    campaign = find_campaign(request, name)
    return start_job(
        request, "form_jury", campaign.dataset, JuryParameters(campaign=campaign.name, **options.dict())
    )


@route(
    router,
    "POST",
    "/campaigns/{name}/certificates",
    CertificateOut,
    needs=(*VIEW_LABELS, "annotations_app.change_campaign"),
    status=201,
    errors=(409,),
)
def certify_campaign_judge(request: Any, name: str, options: CertificateIn) -> Any:
    """Test a judge that has judged a campaign of the test split: once for each prompt, and kept whatever it
    says."""
    campaign, chosen = find_campaign(request, name), options.dict()
    [run] = find_runs(campaign, [chosen.pop("judge")])
    return state_certificate(certify_judge(run, **chosen, actor=request.person)).as_json()


@job_route(router, "/campaigns/{name}/judge-proposals", needs=CHANGE_CAMPAIGNS)
def improve_campaign_judge(request: Any, name: str, options: JudgeProposalsIn) -> Any:
    """Try better prompts for a judge: follow the job. One that surely agrees better with people on the
    validation split becomes its next version."""
    campaign = find_campaign(request, name)
    chosen = options.dict() | {"judge": get_judge(options.judge).full_name}
    parameters = ImproveParameters(campaign=campaign.name, **chosen)
    return start_job(request, "improve_judge", campaign.dataset, parameters)


def find_campaign(request: Any, name: str) -> Campaign:
    """A campaign of a dataset that the token may see. Raises ApiError."""
    campaign: Campaign | None = visible_campaigns(request.person).filter(name=name).first()
    if campaign is None:
        raise not_found()
    return campaign


def describe_campaign(request: Any, campaign: Campaign) -> dict[str, Any]:
    return _describe(request, campaign, not raw_access.may_read(request.person, campaign.dataset))


def _describe(request: Any, campaign: Campaign, withheld: bool) -> dict[str, Any]:
    other = campaign.other_dataset
    visible = other and Dataset.objects.visible_to(request.person).filter(pk=other.pk).exists()
    return {
        "name": campaign.name,
        "dataset": campaign.dataset.name,
        "persona": campaign.persona.persona_id,
        "label_schema": campaign.schema and campaign.schema.full_name,
        "compare": other.name if other and visible else None,
        "status": campaign.status,
        "overlap": campaign.overlap,
        "order": campaign.order,
        "tag": None if withheld else campaign.tag,
        "split": campaign.split,
        "gold_share": campaign.gold_share,
        "repeat_share": campaign.repeat_share,
        "replies": campaign.item_count,
        "gold": campaign.gold_count,
        "calibrating": campaign.is_calibrating,
        "created_at": campaign.created_at,
        "closed_at": campaign.closed_at,
    }
