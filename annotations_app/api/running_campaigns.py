"""Campaigns while people label: changed settings, the calibration round, notes and failure modes."""

from typing import Any

from ninja import Router

from annotations_app.agreement.calibration import end_round, list_differences, measure_round
from annotations_app.agreement.failure_modes import (
    group_notes,
    list_modes,
    list_notes,
    promote_mode,
)
from annotations_app.api.campaigns import CHANGE_CAMPAIGNS, VIEW_LABELS, describe_campaign, find_campaign
from annotations_app.api.schemas import (
    CampaignChangesIn,
    CampaignOut,
    FailureModesOut,
    GroupedNotesIn,
    NotePage,
    PromotedModeIn,
    PromotedModeOut,
    RequeuedOut,
    RequeueIn,
    RoundEndIn,
    RoundOut,
)
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.campaigns.pages_common import check_may_read_replies
from annotations_app.criteria.schemas import get_schema
from annotations_app.domain.richness import estimate_richness
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.models import Campaign, FailureMode
from datasets_app.api.datasets import After, Limit
from datasets_app.api.problems import not_found
from datasets_app.api.routing import page_latest, route
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import parse_pk

router = Router(tags=["Campaigns and labels"])


@route(router, "PATCH", "/campaigns/{name}/settings", CampaignOut, needs=CHANGE_CAMPAIGNS, errors=(409,))
def change_campaign(request: Any, name: str, changes: CampaignChangesIn) -> Any:
    """Change what is given: another schema version applies to the labels that follow."""
    campaign = find_campaign(request, name)
    given = changes.dict(exclude_unset=True)
    if schema := given.pop("label_schema", None):
        given["schema"] = get_schema(schema)
    edit_campaign(campaign, changes=given, actor=request.person)
    return describe_campaign(request, find_campaign(request, name))


@route(router, "POST", "/campaigns/{name}/requeue", RequeuedOut, needs=CHANGE_CAMPAIGNS, errors=(409,))
def requeue_stale_labels(request: Any, name: str, options: RequeueIn) -> Any:
    """Queue replies again whose labels were made before the persona, the guidelines or the schema changed."""
    campaign = find_campaign(request, name)
    return {"labels": requeue_stale(campaign, causes=options.causes, actor=request.person)}


@route(router, "GET", "/campaigns/{name}/calibration", RoundOut, needs=VIEW_LABELS)
def get_calibration_round(request: Any, name: str) -> Any:
    """How far the annotators agree on the replies that all of them label first. The differences name replies
    by their keys; their texts are on the page."""
    campaign = find_campaign(request, name)
    state = measure_round(campaign) if campaign.is_calibrating else None
    agreement = [
        {"criterion": one.title, "agrees": one.agrees, **one.headline.as_json()}
        for one in (state.agreement if state else [])
    ]
    return {
        "calibrating": campaign.is_calibrating,
        "missing": state.missing if state else 0,
        "agreed": state is not None and state.is_agreed,
        "agreement": agreement,
        "differences": len(list_differences(campaign)),
    }


@route(
    router, "POST", "/campaigns/{name}/calibration/end", CampaignOut, needs=CHANGE_CAMPAIGNS, errors=(409,)
)
def end_calibration_round(request: Any, name: str, options: RoundEndIn) -> Any:
    """Open the other replies. A `reason` is needed while the annotators don't agree as far as was asked."""
    campaign = find_campaign(request, name)
    end_round(campaign, reason=options.reason, actor=request.person)
    return describe_campaign(request, find_campaign(request, name))


@route(router, "GET", "/campaigns/{name}/notes", NotePage, needs=VIEW_LABELS, errors=(409,))
def list_campaign_notes(request: Any, name: str, after: str = After, limit: int = Limit) -> Any:
    """Labels with notes, the latest first, with the failure mode that each is in."""
    campaign = find_campaign(request, name)
    check_may_read_replies(request.person, campaign)
    notes = list_notes(campaign).filter(turn__dataset=campaign.dataset_id)
    page = page_latest(notes, after, limit, _describe_note)
    if turns := len(page["items"]):
        raw_access.record_access(
            campaign.dataset, request.person, place="api", campaign=campaign.pk, turns=turns
        )
    return page


@route(router, "GET", "/campaigns/{name}/failure-modes", FailureModesOut, needs=VIEW_LABELS, errors=(409,))
def list_failure_modes(request: Any, name: str) -> Any:
    """With the number of their notes, and an estimate (Chao1) of how many modes there are in all."""
    campaign = find_campaign(request, name)
    check_may_read_replies(request.person, campaign)
    return _describe_modes(campaign)


@route(
    router, "POST", "/campaigns/{name}/failure-modes", FailureModesOut, needs=CHANGE_CAMPAIGNS, errors=(409,)
)
def group_campaign_notes(request: Any, name: str, options: GroupedNotesIn) -> Any:
    """Put notes into the mode of this name, made if there is none; an empty name takes them out of theirs."""
    campaign = find_campaign(request, name)
    check_may_read_replies(request.person, campaign)
    group_notes(campaign, options.notes, options.mode, actor=request.person)
    return _describe_modes(campaign)


@route(
    router,
    "DELETE",
    "/campaigns/{name}/failure-modes/{number}",
    FailureModesOut,
    needs=CHANGE_CAMPAIGNS,
    errors=(409,),
)
def delete_failure_mode(request: Any, name: str, number: str) -> Any:
    """Its notes are in none then."""
    campaign = find_campaign(request, name)
    check_may_read_replies(request.person, campaign)
    _find_mode(campaign, number).delete()
    return _describe_modes(campaign)


@route(
    router,
    "POST",
    "/campaigns/{name}/failure-modes/{number}/promote",
    PromotedModeOut,
    needs=CHANGE_CAMPAIGNS,
    errors=(409,),
)
def promote_failure_mode(request: Any, name: str, number: str, options: PromotedModeIn) -> Any:
    """The next version of the campaign's schema asks about the mode; the campaign keeps its version until it
    is changed."""
    campaign = find_campaign(request, name)
    check_may_read_replies(request.person, campaign)
    mode = _find_mode(campaign, number)
    saved = promote_mode(mode, as_tag=options.kind == "tag", actor=request.person, wording=options.wording)
    return {"label_schema": saved.schema.full_name}


def _find_mode(campaign: Campaign, number: str) -> FailureMode:
    mode = FailureMode.objects.filter(campaign=campaign, pk=parse_pk(number) or 0).first()
    if mode is None:
        raise not_found()
    return mode


def _describe_modes(campaign: Campaign) -> dict[str, Any]:
    modes = list(list_modes(campaign))
    richness = estimate_richness(mode.noted for mode in modes)
    return {
        "modes": [{"id": mode.pk, "name": mode.name, "notes": mode.noted} for mode in modes],
        "ungrouped": list_notes(campaign).filter(grouped=None).count(),
        "richness": richness._asdict() if richness else None,
    }


def _describe_note(label: Any) -> dict[str, Any]:
    grouped = getattr(label, "grouped", None)
    return {
        "id": label.pk,
        "session_id": label.turn.session.session_id,
        "turn_index": label.turn.turn_index,
        "notes": label.notes,
        "mode": grouped.mode.name if grouped else None,
    }
