"""The page on which replies are judged, and the news of it that the script asks for."""

from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations_app.domain.flag_reasons import FLAG_REASONS
from annotations_app.domain.guidelines import render_guidelines
from annotations_app.domain.submission import MAX_NOTE_LENGTH
from annotations_app.labeling.lease_next import LeaseResult, lease_next
from annotations_app.labeling.progress import AnnotatorProgress, annotator_progress, recent_decisions
from annotations_app.labeling.views.access import require_member, require_past_or_present_member
from annotations_app.labeling.views.conversation import load_reply, record_raw_read
from annotations_app.labeling.views.persona_card import build_persona_card
from annotations_app.labeling.views.recent import RecentDecision, build_recent_decision
from annotations_app.models import Assignment, CampaignMember

MAX_RECENT = 10
# More replies than a page ever holds: what it says it has is not read beyond.
MAX_HELD = 100


@require_safe
@require_member
def show_queue(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    return render_queue(request, member)


def render_queue(request: Any, member: CampaignMember, revisited: Assignment | None = None) -> HttpResponse:
    """The whole page; with ``revisited``, a reply that is decided stands in it to be changed."""
    campaign = member.campaign
    serving, recent = lease_next(member.campaign, member.user), _recent_decisions(member)
    given = _leased_assignments(serving)
    if revisited is not None:
        given = [revisited, *(assignment for assignment in given if assignment.pk != revisited.pk)]
    replies = [load_reply(assignment, campaign) for assignment in given]
    if replies:
        record_raw_read(member, replies=len(replies))
    context = {
        **_update_context(member, serving, recent),
        "replies": replies,
        "current": replies[0] if replies else None,
        "decided": next((row for row in recent if revisited and row.pk == revisited.pk), None),
        "revisited_assignment": revisited,
        "persona": build_persona_card(campaign.persona),
        "guidelines": render_guidelines(campaign.guidelines),
        "key": uuid4(),
        "undo_key": uuid4(),
        "lease_seconds": 60 * campaign.lease_minutes,
        "flag_reasons": FLAG_REASONS,
        "max_note_length": MAX_NOTE_LENGTH,
        "several": request.user.campaign_memberships.filter(active=True).count() > 1,
    }
    return render(request, "annotations_app/queue.html", context)


@require_safe
@require_past_or_present_member
def queue_update(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    """What has changed, for a page that looks again by itself or keeps its replies."""
    return render_update(request, member)


def render_update(request: Any, member: CampaignMember, notice: str = "") -> HttpResponse:
    """Replies that the page hasn't got yet, its last decisions, progress, and the persona if it is
    another. ``told`` is a sentence about what was sent."""
    sent = request.POST if request.method == "POST" else request.GET
    held = set(sent.get("have", "").split(",")[:MAX_HELD])
    campaign = member.campaign
    serving = lease_next(member.campaign, member.user)
    lacking = [assignment for assignment in _leased_assignments(serving) if str(assignment.pk) not in held]
    is_other = sent.get("persona", "") != campaign.persona.digest
    if lacking:
        record_raw_read(member, replies=len(lacking))
    context = {
        **_update_context(member, serving, _recent_decisions(member)),
        "replies": [load_reply(assignment, campaign) for assignment in lacking],
        "persona": build_persona_card(campaign.persona) if is_other else None,
        "told": notice,
    }
    return render(request, "annotations_app/queue_update.html", context)


def _leased_assignments(lease_result: LeaseResult) -> list[Assignment]:
    return [assignment for assignment in (lease_result.current, *lease_result.ahead) if assignment]


def _recent_decisions(member: CampaignMember) -> list[RecentDecision]:
    """Nothing of the conversations for those who are members no more."""
    if not member.active:
        return []
    return [
        build_recent_decision(row) for row in recent_decisions(member.campaign, member.user, limit=MAX_RECENT)
    ]


def _update_context(
    member: CampaignMember, serving: LeaseResult, recent: list[RecentDecision]
) -> dict[str, Any]:
    known = annotator_progress(member.campaign, member.user)
    return {
        "campaign": member.campaign,
        "member": member,
        "state": serving.state,
        "message": serving.message,
        "order": [assignment.pk for assignment in _leased_assignments(serving)],
        "recent": recent,
        "progress": known,
        "track": _progress_bar(known),
    }


def _progress_bar(progress_counts: AnnotatorProgress) -> dict[str, int]:
    """The bar, in thousandths: all labels of the campaign, and one's own among them. Gold items and repeats
    are in both: a bar that stood still for them would tell which they were."""
    mine = (
        min(1.0, progress_counts.mine / progress_counts.overall_target)
        if progress_counts.overall_target
        else 0.0
    )
    return {
        "all": round(1000 * progress_counts.share),
        "mine": round(1000 * min(mine, progress_counts.share)),
        "percent": int(100 * progress_counts.share),
    }
