"""A single reply of one's own: to change its decision, or to read more of its conversation."""

from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotations_app.labeling.lease_next import load_campaign_facts, stop_reason
from annotations_app.labeling.progress import MAX_RECENT_DECISIONS, recent_decisions
from annotations_app.labeling.views.access import View, is_script_request, refuse, require_member
from annotations_app.labeling.views.conversation import (
    MAX_WHOLE_TURN_CHARACTERS,
    MORE_TURNS_COUNT,
    highlight_text,
    load_reply,
    readable_turns,
    record_raw_read,
    show_turns_around,
)
from annotations_app.labeling.views.pairs import find_side
from annotations_app.labeling.views.queue import render_queue
from annotations_app.models import Assignment, CampaignMember
from annotations_app.templatetags.annotations_display import highlight
from datasets_app.models import Turn

# Nobody would find a marked word in a longer text.
MAX_HIGHLIGHTED_CHARACTERS = 200_000


def with_own_reply(view: View) -> View:
    """Load the member's own reply, 404 for those of others, and refuse it while the campaign is not open."""

    @require_safe
    @require_member
    @wraps(view)
    def guarded_view(request: Any, member: CampaignMember, pk: int, **options: Any) -> HttpResponse:
        own = Assignment.objects.for_member(member.campaign_id, member.user_id)
        own = own.select_reply(member.campaign)
        assignment = get_object_or_404(own, pk=pk)
        facts = load_campaign_facts(member.campaign)
        if stop_reason(member, facts):
            return refuse(request, member, gettext("This campaign is not open at the moment."))
        return view(request, member, assignment, is_raw=facts.is_raw, **options)

    return guarded_view


@with_own_reply
def show_reply(
    request: HttpRequest, member: CampaignMember, assignment: Assignment, *, is_raw: bool
) -> HttpResponse:
    """Show one of the last decisions, to be changed."""
    if assignment not in recent_decisions(member.campaign, member.user):
        text = gettext("You can change only your last %(count)s decisions.")
        return refuse(request, member, text % {"count": MAX_RECENT_DECISIONS})
    if not is_script_request(request):
        return render_queue(request, member, assignment)
    record_raw_read(member, is_raw, replies=1)
    context = {"reply": load_reply(assignment, member.campaign), "campaign": member.campaign}
    return render(request, "annotations_app/queue_reply.html", context)


@with_own_reply
def show_turns(
    request: HttpRequest, member: CampaignMember, assignment: Assignment, *, is_raw: bool
) -> HttpResponse:
    """Show turns ``before`` a turn of the session, or ``after`` it, with a link to more of them."""
    before, after = _parse_turn_index(request, "before"), _parse_turn_index(request, "after")
    turns = readable_turns(assignment, member.campaign)
    if before:
        shown = list(turns.filter(turn_index__lt=before).order_by("-turn_index")[:MORE_TURNS_COUNT])[::-1]
    else:
        shown = list(turns.filter(turn_index__gt=after).order_by("turn_index")[:MORE_TURNS_COUNT])
    record_raw_read(member, is_raw, session=assignment.item.session_id, turns=len(shown))
    context = {
        "assignment": assignment,
        "turns": show_turns_around(shown, assignment, member.campaign),
        "earlier": shown[0].turn_index if before and shown and shown[0].turn_index > 1 else 0,
        "later": shown[-1].turn_index if not before and len(shown) == MORE_TURNS_COUNT else 0,
    }
    return _render_fragment(request, member, "annotations_app/queue_turns.html", context)


@with_own_reply
def show_whole_turn(
    request: HttpRequest, member: CampaignMember, assignment: Assignment, turn_index: int, *, is_raw: bool
) -> HttpResponse:
    """Show the whole text of a turn that was shown in part."""
    reply = assignment.item.turn
    if member.campaign.other_dataset_id and turn_index >= reply.turn_index:
        reply = find_side(assignment, request.GET.get("side", ""))
        turn_index = reply.turn_index
    turn = get_object_or_404(Turn, dataset=reply.dataset_id, session=reply.session_id, turn_index=turn_index)
    record_raw_read(member, is_raw, session=assignment.item.session_id, turn=turn_index)
    text = turn.text[:MAX_WHOLE_TURN_CHARACTERS]
    is_judged = turn_index == assignment.item.turn.turn_index and len(text) <= MAX_HIGHLIGHTED_CHARACTERS
    context = {
        "text_html": highlight(highlight_text(text, member.campaign)) if is_judged else text,
        "ending": gettext("… (cut off)") if len(turn.text) > MAX_WHOLE_TURN_CHARACTERS else "",
    }
    return _render_fragment(request, member, "annotations_app/queue_whole_turn.html", context)


def _render_fragment(
    request: HttpRequest, member: CampaignMember, name: str, context: dict[str, Any]
) -> HttpResponse:
    """The fragment for the script; a page around it for a browser without scripts."""
    template = name if is_script_request(request) else "annotations_app/queue_text_page.html"
    return render(request, template, {"campaign": member.campaign, "fragment": name, **context})


def _parse_turn_index(request: Any, name: str) -> int:
    value = request.GET.get(name, "0")
    if not value.isdecimal() or len(value) > 9:
        raise Http404
    return int(value)
