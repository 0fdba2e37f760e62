"""Test cases of replies, and the variants that models write of them."""

from typing import Any

from ninja import Router

from annotations_app.api.schemas import (
    CaseIn,
    CaseOut,
    DecidedDraftOut,
    DraftDecisionIn,
    DraftsOut,
    VariantsIn,
)
from annotations_app.cases.drafts import count_drafts, decide_draft, list_drafts
from annotations_app.cases.make_case import CaseOptions, draft_by_rules, make_case
from annotations_app.cases.parameters import CaseParameters, VariantParameters
from datasets_app.api.datasets import READ_TURNS
from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.problems import not_found
from datasets_app.api.routing import get_dataset, require_permissions, route
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import parse_pk
from datasets_app.domain.generation.families import Variant
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.models import Session

router = Router(tags=["Campaigns and labels"])

MAKE_CASES = (*READ_TURNS, "datasets_app.import_dataset")


@route(
    router,
    "POST",
    "/datasets/{name}/sessions/{session}/cases",
    CaseOut,
    needs=MAKE_CASES,
    status=201,
    errors=(409,),
)
def make_test_case(request: Any, name: str, session: str, options: CaseIn) -> Any:
    """Make a test case of a reply of the session (its number): a job then scrubs it and, with `annotators`,
    opens a campaign for them. Without `variants`, they are drafted by rules."""
    dataset = get_dataset(request, name)
    found = Session.objects.filter(dataset=dataset, pk=parse_pk(session)).select_related("dataset").first()
    if found is None:
        raise not_found()
    if options.annotators:
        require_permissions(request, "annotations_app.add_campaign")
    if options.variants is None:
        variants = draft_by_rules(found, options.turn)
    else:
        variants = [Variant(one.kind, one.answer, one.text) for one in options.variants]
    chosen = CaseOptions(options.first, options.rubric, options.failure_mode, variants, options.annotators)
    made = make_case(found, options.turn, options.into, chosen, actor=request.person)
    parameters = CaseParameters(case=made.family, annotators=",".join(options.annotators))
    return {
        "case": made.family,
        "dataset": made.dataset.name,
        "sessions": made.sessions,
        "seen_by": made.seen_by,
        "job": start_job(request, "send_case", made.dataset, parameters),
    }


@job_route(router, "/datasets/{name}/drafts", needs=MAKE_CASES)
def draft_case_variants(request: Any, name: str, options: VariantsIn) -> Any:
    """Have a model write the variants that the test cases of a dataset don't have yet: follow the job. They
    wait for a person then."""
    dataset = get_dataset(request, name)
    require_endpoint(options.base_url, request.person)
    return start_job(request, "draft_variants", dataset, VariantParameters(**options.dict()))


@route(router, "GET", "/datasets/{name}/drafts", DraftsOut, needs=READ_TURNS, errors=(409,))
def list_case_drafts(request: Any, name: str) -> Any:
    """The variants that wait for a person, the oldest first."""
    dataset = get_dataset(request, name)
    raw_access.check_may_read(request.person, dataset)
    drafts = list_drafts(dataset)
    raw_access.record_access(dataset, request.person, place="drafts", turns=len(drafts))
    return {"total": count_drafts(dataset), "drafts": [one._asdict() for one in drafts]}


@route(router, "POST", "/datasets/{name}/drafts/{session}", DecidedDraftOut, needs=MAKE_CASES, errors=(409,))
def decide_case_draft(request: Any, name: str, session: str, options: DraftDecisionIn) -> Any:
    """Keep a draft, whose answer must stay the `same` or `change`; a null `answer` discards it."""
    dataset = get_dataset(request, name)
    case = decide_draft(dataset, parse_pk(session) or 0, options.answer, actor=request.person)
    return {"case": case, "left": count_drafts(dataset)}
