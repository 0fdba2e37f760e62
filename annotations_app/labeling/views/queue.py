"""The page on which replies are judged, and the news of it that the script asks for."""

from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations_app.domain.flag_reasons import FLAG_REASONS
from annotations_app.domain.guidelines import rendered
from annotations_app.domain.submission import LONGEST_NOTE
from annotations_app.labeling.lease_next import Serving, serve
from annotations_app.labeling.progress import Progress, last_decisions, progress
from annotations_app.labeling.views.access import for_members, for_members_once
from annotations_app.labeling.views.conversation import read_raw, reply_of
from annotations_app.labeling.views.persona_card import card_of
from annotations_app.labeling.views.recent import RecentDecision, recent_decision
from annotations_app.models import Assignment, CampaignMember

RECENT = 10
# More replies than a page ever holds: what it says it has is not read beyond.
MOST_HELD = 100


@require_safe
@for_members
def queue(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    return page(request, member)


def page(request: Any, member: CampaignMember, revisited: Assignment | None = None) -> HttpResponse:
    """The whole page; with ``revisited``, a reply that is decided stands in it to be changed."""
    campaign = member.campaign
    serving, recent = serve(member.campaign, member.user), _recent(member)
    given = _given(serving)
    if revisited is not None:
        given = [revisited, *(assignment for assignment in given if assignment.pk != revisited.pk)]
    replies = [reply_of(assignment, campaign) for assignment in given]
    if replies:
        read_raw(member, replies=len(replies))
    context = {
        **_news(member, serving, recent),
        "replies": replies,
        "current": replies[0] if replies else None,
        "decided": next((row for row in recent if revisited and row.pk == revisited.pk), None),
        "revisited": revisited,
        "persona": card_of(campaign.persona),
        "guidelines": rendered(campaign.guidelines),
        "key": uuid4(),
        "undo_key": uuid4(),
        "lease_seconds": 60 * campaign.lease_minutes,
        "flag_reasons": FLAG_REASONS,
        "longest_note": LONGEST_NOTE,
        "several": request.user.campaign_memberships.filter(active=True).count() > 1,
    }
    return render(request, "annotations_app/queue.html", context)


@require_safe
@for_members_once
def upcoming(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    """What has changed, for a page that looks again by itself or keeps its replies."""
    return update(request, member)


def update(request: Any, member: CampaignMember, told: str = "") -> HttpResponse:
    """Replies that the page hasn't got yet, its last decisions, progress, and the persona if it is
    another. ``told`` is a sentence about what was sent."""
    sent = request.POST if request.method == "POST" else request.GET
    held = set(sent.get("have", "").split(",")[:MOST_HELD])
    campaign = member.campaign
    serving = serve(member.campaign, member.user)
    lacking = [assignment for assignment in _given(serving) if str(assignment.pk) not in held]
    is_other = sent.get("persona", "") != campaign.persona.digest
    if lacking:
        read_raw(member, replies=len(lacking))
    context = {
        **_news(member, serving, _recent(member)),
        "replies": [reply_of(assignment, campaign) for assignment in lacking],
        "persona": card_of(campaign.persona) if is_other else None,
        "told": told,
    }
    return render(request, "annotations_app/queue_update.html", context)


def _given(serving: Serving) -> list[Assignment]:
    return [assignment for assignment in (serving.current, *serving.ahead) if assignment]


def _recent(member: CampaignMember) -> list[RecentDecision]:
    """Nothing of the conversations for those who are members no more."""
    if not member.active:
        return []
    return [recent_decision(row) for row in last_decisions(member.campaign, member.user, limit=RECENT)]


def _news(member: CampaignMember, serving: Serving, recent: list[RecentDecision]) -> dict[str, Any]:
    known = progress(member.campaign, member.user)
    return {
        "campaign": member.campaign,
        "member": member,
        "state": serving.state,
        "message": serving.message,
        "order": [assignment.pk for assignment in _given(serving)],
        "recent": recent,
        "progress": known,
        "track": _track(known),
    }


def _track(known: Progress) -> dict[str, int]:
    """The bar, in thousandths: all labels of the campaign, and one's own among them. Gold items and repeats
    are in both: a bar that stood still for them would tell which they were."""
    mine = min(1.0, known.mine / known.all_wanted) if known.all_wanted else 0.0
    return {
        "all": round(1000 * known.share),
        "mine": round(1000 * min(mine, known.share)),
        "percent": int(100 * known.share),
    }
