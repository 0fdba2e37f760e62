"""The queue page, and the updates that its script asks for."""

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotations_app.domain.flag_reasons import FLAG_REASONS
from annotations_app.domain.guidelines import render_guidelines
from annotations_app.domain.submission import MAX_NOTE_LENGTH
from annotations_app.labeling.lease_next import QueueState, campaign_state, lease_next
from annotations_app.labeling.progress import MAX_RECENT_DECISIONS, annotator_progress, recent_decisions
from annotations_app.labeling.reveal import list_revealed
from annotations_app.labeling.views.access import (
    is_script_request,
    redirect_to_queue,
    require_member,
    require_past_or_present_member,
)
from annotations_app.labeling.views.conversation import load_reply, record_raw_read
from annotations_app.labeling.views.decision_form import MAX_COMMENT_LENGTH, NO_GUIDELINES
from annotations_app.labeling.views.persona_card import build_persona_card
from annotations_app.labeling.views.recent import RecentDecision, build_recent_decision
from annotations_app.models import Assignment, CampaignMember
from datasets_app.domain.labels.on_brand import ON_BRAND

# More replies than a page ever holds; the rest of the list that it sends is ignored.
MAX_HELD = 100


@require_safe
@require_member
def show_queue(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    """Show the replies that are leased already; the page itself asks for more."""
    return render_queue(request, member)


@require_POST
@require_past_or_present_member
def lease(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    """Renew the leases and fill the queue. The script asks at load and from time to time."""
    return lease_more(request, member)


def render_queue(request: Any, member: CampaignMember, revisited: Assignment | None = None) -> HttpResponse:
    """Render the page; with ``revisited``, its first reply is a decided one, to be changed."""
    campaign = member.campaign
    queue = campaign_state(member)
    recent = _recent_decisions(member, queue.is_raw)
    shown = queue.leased
    if revisited is not None:
        shown = [revisited, *(assignment for assignment in shown if assignment.pk != revisited.pk)]
    replies = [load_reply(assignment, campaign) for assignment in shown]
    if replies or recent:
        record_raw_read(member, queue.is_raw, replies=len(replies), recent=len(recent))
    context = {
        **_update_context(member, queue, recent),
        "replies": replies,
        "current": replies[0] if replies else None,
        "filled": replies[0].staying if replies else {},
        "decided": next((row for row in recent if revisited and row.pk == revisited.pk), None),
        "revisited_assignment": revisited,
        "persona": build_persona_card(campaign.persona),
        "criterion": ON_BRAND,
        "guidelines": render_guidelines(campaign.guidelines),
        "key": uuid4(),
        "undo_key": uuid4(),
        "lease_seconds": 60 * campaign.lease_minutes,
        "flag_reasons": FLAG_REASONS,
        "max_note_length": MAX_NOTE_LENGTH,
        "max_comment_length": MAX_COMMENT_LENGTH,
        "max_recent": MAX_RECENT_DECISIONS,
        "has_other_campaigns": request.user.campaign_memberships.filter(active=True).count() > 1,
    }
    return render(request, "annotations_app/queue.html", context)


def lease_more(request: Any, member: CampaignMember, notice: str = "") -> HttpResponse:
    """Lease, then send the script what changed: replies it lacks, decisions, progress, a changed persona
    and the ``notice``. Without the script, go back to the queue."""
    campaign = member.campaign
    queue = lease_next(campaign, member.user)
    if not is_script_request(request):
        if queue.message and member.active:
            messages.info(request, gettext(queue.message))
        return redirect_to_queue(member)
    held = set(request.POST.get("have", "").split(",")[:MAX_HELD])
    lacking = [assignment for assignment in queue.leased if str(assignment.pk) not in held]
    if lacking:
        record_raw_read(member, queue.is_raw, replies=len(lacking))
    shown = campaign.guidelines_digest or NO_GUIDELINES
    persona_changed = request.POST.get("persona", "") != campaign.persona.digest
    context = {
        **_update_context(member, queue, _recent_decisions(member, queue.is_raw)),
        "replies": [load_reply(assignment, campaign) for assignment in lacking],
        "persona": build_persona_card(campaign.persona) if persona_changed else None,
        "guidelines_changed": request.POST.get("guidelines", shown) != shown,
        "guidelines": render_guidelines(campaign.guidelines),
        "notice": notice,
    }
    return render(request, "annotations_app/queue_update.html", context)


def _recent_decisions(member: CampaignMember, is_raw: bool) -> list[RecentDecision]:
    """The last decisions, with the start of each reply. None for removed members, who no longer see the
    conversations, and where text is raw and no override lets annotators read it."""
    campaign = member.campaign
    if not member.active or (is_raw and not campaign.overridden):
        return []
    rows = recent_decisions(campaign, member.user)
    recent = [build_recent_decision(row, campaign.schema_content) for row in rows]
    revealed = list_revealed(campaign, [row for row in rows if row.state == Assignment.State.LABELLED])
    for one in recent:
        one.verdict = revealed.get(one.pk)
    return recent


def _update_context(
    member: CampaignMember, queue: QueueState, recent: list[RecentDecision]
) -> dict[str, Any]:
    progress = annotator_progress(member.campaign, member.user)
    return {
        "campaign": member.campaign,
        "schema": member.campaign.schema_content,
        "queue": queue,
        "order": ",".join(str(assignment.pk) for assignment in queue.leased),
        "recent": recent,
        "progress": progress,
        # In thousandths: gold items and repeats move the bar like any other reply.
        "bar": {"all": round(1000 * progress.share), "mine": round(1000 * progress.own_share)},
        "percent": int(100 * progress.share),
    }
