"""A single reply of one's own: to decide on it anew, or to read on around it."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotations_app.labeling.lease_next import serve
from annotations_app.labeling.progress import last_decisions
from annotations_app.labeling.views.access import for_members, is_script, refused
from annotations_app.labeling.views.conversation import (
    MORE_TURNS,
    WHOLE_CHARACTERS,
    beginnings,
    in_pieces,
    read_raw,
    reply_of,
)
from annotations_app.labeling.views.queue import RECENT, page
from annotations_app.models import Assignment, CampaignMember
from datasets_app.models import Turn

NOT_SHOWN = {"paused", "closed"}
# A mark in a longer text would be found by nobody.
HIGHLIGHTED_CHARACTERS = 200_000


@require_safe
@for_members
def reply(request: HttpRequest, member: CampaignMember, pk: int) -> HttpResponse:
    """One of the last decisions, to be changed; one's own and no other."""
    assignment = _own(member, pk)
    if _is_shut(member):
        return _shut(request, member)
    if pk not in {row.pk for row in last_decisions(member.campaign, member.user, limit=RECENT)}:
        return _gone(request, member)
    if not is_script(request):
        return page(request, member, assignment)
    read_raw(member, replies=1)
    context = {"reply": reply_of(assignment, member.campaign), "campaign": member.campaign}
    return render(request, "annotations_app/queue_reply.html", context)


@require_safe
@for_members
def turns(request: HttpRequest, member: CampaignMember, pk: int) -> HttpResponse:
    """Turns ``before`` a turn of the session, or ``after`` it, with a way to further ones."""
    assignment = _own(member, pk)
    if _is_shut(member):
        return _shut(request, member)
    before, after = _number(request, "before"), _number(request, "after")
    around = beginnings(assignment.item.session_id)
    if before:
        shown = list(around.filter(turn_index__lt=before).order_by("-turn_index")[:MORE_TURNS])[::-1]
    else:
        shown = list(around.filter(turn_index__gt=after).order_by("turn_index")[:MORE_TURNS])
    read_raw(member, session=assignment.item.session_id, turns=len(shown))
    context = {
        "assignment": assignment,
        "campaign": member.campaign,
        "turns": shown,
        "earlier": shown[0].turn_index if before and shown and shown[0].turn_index > 1 else 0,
        "later": shown[-1].turn_index if not before and len(shown) == MORE_TURNS else 0,
    }
    return _fragment(request, member, "annotations_app/queue_turns.html", context)


@require_safe
@for_members
def whole_turn(request: HttpRequest, member: CampaignMember, pk: int, turn_index: int) -> HttpResponse:
    """The whole text of a turn of the session, of which only the beginning was shown."""
    assignment = _own(member, pk)
    if _is_shut(member):
        return _shut(request, member)
    turn = get_object_or_404(Turn, session=assignment.item.session_id, turn_index=turn_index)
    read_raw(member, session=assignment.item.session_id, turn=turn_index)
    text = turn.text[:WHOLE_CHARACTERS]
    is_judged = turn.pk == assignment.item.turn_id and len(text) <= HIGHLIGHTED_CHARACTERS
    context = {
        "pieces": in_pieces(text, member.campaign) if is_judged else None,
        "text": text,
        "cut": len(turn.text) > WHOLE_CHARACTERS,
    }
    return _fragment(request, member, "annotations_app/queue_whole_turn.html", context)


def _fragment(request: HttpRequest, member: CampaignMember, name: str, context: Any) -> HttpResponse:
    """For the script as it is; a browser without it gets a page."""
    context |= {"campaign": member.campaign, "fragment": name}
    return render(request, name if is_script(request) else "annotations_app/queue_text_page.html", context)


def _own(member: CampaignMember, pk: int) -> Assignment:
    """Raises Http404 for those of others."""
    own = Assignment.objects.select_related("item__turn__session", "annotation")
    own = own.filter(campaign=member.campaign_id, annotator=member.user_id)
    return get_object_or_404(own, pk=pk)


def _is_shut(member: CampaignMember) -> bool:
    return serve(member.campaign, member.user).state in NOT_SHOWN


def _shut(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    if is_script(request):
        return refused("The campaign is not open at the moment.")
    return redirect("annotate:queue", member.campaign.name)


def _gone(request: HttpRequest, member: CampaignMember) -> HttpResponse:
    if is_script(request):
        return refused("Only the last ten decisions can be changed.")
    return redirect("annotate:queue", member.campaign.name)


def _number(request: Any, name: str) -> int:
    given = request.GET.get(name, "0")
    if not given.isdecimal() or len(given) > 9:
        raise Http404
    return int(given)
