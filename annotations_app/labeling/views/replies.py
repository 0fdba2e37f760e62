"""A single reply of one's own: to decide on it anew, or to read on around it."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotations_app.labeling.lease_next import lease_next
from annotations_app.labeling.progress import recent_decisions
from annotations_app.labeling.views.access import is_script_request, refuse_submission, require_member
from annotations_app.labeling.views.conversation import (
    MAX_WHOLE_TURN_CHARACTERS,
    MORE_TURNS_COUNT,
    highlight_text,
    load_reply,
    record_raw_read,
    turns_with_start,
)
from annotations_app.labeling.views.queue import MAX_RECENT, render_queue
from annotations_app.models import Assignment, CampaignMember
from datasets_app.models import Turn

HIDDEN_STATES = {"paused", "closed"}
# A mark in a longer text would be found by nobody.
MAX_HIGHLIGHTED_CHARACTERS = 200_000


@require_safe
@require_member
def show_reply(request: HttpRequest, member: CampaignMember, pk: int) -> HttpResponse:
    """One of the last decisions, to be changed; one's own and no other."""
    assignment = _get_own_assignment(member, pk)
    if _is_queue_closed(member):
        return _refuse_closed_queue(request, member)
    if pk not in {row.pk for row in recent_decisions(member.campaign, member.user, limit=MAX_RECENT)}:
        return _refuse_old_decision(request, member)
    if not is_script_request(request):
        return render_queue(request, member, assignment)
    record_raw_read(member, replies=1)
    context = {"reply": load_reply(assignment, member.campaign), "campaign": member.campaign}
    return render(request, "annotations_app/queue_reply.html", context)


@require_safe
@require_member
def show_turns(request: HttpRequest, member: CampaignMember, pk: int) -> HttpResponse:
    """Turns ``before`` a turn of the session, or ``after`` it, with a way to further ones."""
    assignment = _get_own_assignment(member, pk)
    if _is_queue_closed(member):
        return _refuse_closed_queue(request, member)
    before, after = _parse_turn_index(request, "before"), _parse_turn_index(request, "after")
    around = turns_with_start(assignment.item.session_id)
    if before:
        shown = list(around.filter(turn_index__lt=before).order_by("-turn_index")[:MORE_TURNS_COUNT])[::-1]
    else:
        shown = list(around.filter(turn_index__gt=after).order_by("turn_index")[:MORE_TURNS_COUNT])
    record_raw_read(member, session=assignment.item.session_id, turns=len(shown))
    context = {
        "assignment": assignment,
        "campaign": member.campaign,
        "turns": shown,
        "earlier": shown[0].turn_index if before and shown and shown[0].turn_index > 1 else 0,
        "later": shown[-1].turn_index if not before and len(shown) == MORE_TURNS_COUNT else 0,
    }
    return _render_fragment(request, member, "annotations_app/queue_turns.html", context)


@require_safe
@require_member
def show_whole_turn(request: HttpRequest, member: CampaignMember, pk: int, turn_index: int) -> HttpResponse:
    """The whole text of a turn of the session, of which only the beginning was shown."""
    assignment = _get_own_assignment(member, pk)
    if _is_queue_closed(member):
        return _refuse_closed_queue(request, member)
    turn = get_object_or_404(Turn, session=assignment.item.session_id, turn_index=turn_index)
    record_raw_read(member, session=assignment.item.session_id, turn=turn_index)
    text = turn.text[:MAX_WHOLE_TURN_CHARACTERS]
    is_judged = turn.pk == assignment.item.turn_id and len(text) <= MAX_HIGHLIGHTED_CHARACTERS
    context = {
        "pieces": highlight_text(text, member.campaign) if is_judged else None,
        "text": text,
        "cut": len(turn.text) > MAX_WHOLE_TURN_CHARACTERS,
    }
    return _render_fragment(request, member, "annotations_app/queue_whole_turn.html", context)


def _render_fragment(request: HttpRequest, member: CampaignMember, name: str, context: Any) -> HttpResponse:
    """For the script as it is; a browser without it gets a page."""
    context |= {"campaign": member.campaign, "fragment": name}
    return render(
        request, name if is_script_request(request) else "annotations_app/queue_text_page.html", context
    )


def _get_own_assignment(member: CampaignMember, pk: int) -> Assignment:
    """Raises Http404 for those of others."""
    own = Assignment.objects.select_related("item__turn__session", "annotation")
    own = own.filter(campaign=member.campaign_id, annotator=member.user_id)
    return get_object_or_404(own, pk=pk)


def _is_queue_closed(member: CampaignMember) -> bool:
    return lease_next(member.campaign, member.user).state in HIDDEN_STATES


def _refuse_closed_queue(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    if is_script_request(request):
        return refuse_submission("The campaign is not open at the moment.")
    return redirect("annotate:queue", member.campaign.name)


def _refuse_old_decision(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    if is_script_request(request):
        return refuse_submission("Only the last ten decisions can be changed.")
    return redirect("annotate:queue", member.campaign.name)


def _parse_turn_index(request: Any, name: str) -> int:
    given = request.GET.get(name, "0")
    if not given.isdecimal() or len(given) > 9:
        raise Http404
    return int(given)
