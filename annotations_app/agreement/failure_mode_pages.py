"""The page on which a lead groups the notes of a campaign into failure modes."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotations_app.agreement.failure_modes import (
    MAX_NAME_LENGTH,
    group_notes,
    list_modes,
    list_notes,
    needs_wording,
    promote_mode,
)
from annotations_app.agreement.shown_replies import list_shown_replies
from annotations_app.campaigns.pages_common import (
    check_may_read_replies,
    may_read_replies,
    record_replies,
    render_campaign_page,
    require_permissions,
    visible_campaign,
)
from annotations_app.domain.richness import estimate_richness
from annotations_app.models import Campaign, FailureMode
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk
from datasets_app.core.web.paging import paginate_newest_first
from datasets_app.core.web.refusals import show_refusal

MAX_TEXT_CHARACTERS = 500


def show_notes(request: HttpRequest, pk: int) -> HttpResponse:
    """``?mode=`` lists the notes of one mode, ``?mode=none`` those in none. POST changes modes."""
    campaign = visible_campaign(request, pk, "view_annotation")
    if request.method == "POST":
        require_permissions(request, "change_campaign")
        _change(request, campaign)
        return redirect(request.get_full_path())
    modes = list(list_modes(campaign))
    notes, chosen = list_notes(campaign), request.GET.get("mode", "")
    ungrouped = notes.filter(grouped=None).count()
    if chosen:
        notes = notes.filter(grouped__mode=None if chosen == "none" else parse_pk(chosen))
    page = paginate_newest_first(notes.filter(turn__dataset=campaign.dataset_id), request.GET)
    withheld = not may_read_replies(request.user, campaign)
    turns = () if withheld else [note.turn for note in page.rows]
    shown = list_shown_replies(campaign, turns, MAX_TEXT_CHARACTERS)
    for note in page.rows:
        note.replies = shown.get(note.turn_id, [])
        if withheld:
            note.notes = raw_access.WITHHELD
            raw_access.withhold_session(note.turn.session)
    for mode in modes if withheld else ():
        mode.name = f"{raw_access.WITHHELD} ({mode.pk})"
    record_replies(request, campaign, "notes", len(turns))
    context = {
        "page": page,
        "withheld": withheld,
        "modes": modes,
        "chosen": chosen,
        "ungrouped": ungrouped,
        "richness": estimate_richness(mode.noted for mode in modes),
        "max_name_length": MAX_NAME_LENGTH,
        "needs_wording": needs_wording(campaign),
    }
    return render_campaign_page(request, campaign, "notes", "Notes", context)


def _change(request: Any, campaign: Campaign) -> None:
    with show_refusal(request):
        messages.success(request, _do(request, campaign))


def _do(request: Any, campaign: Campaign) -> str:
    """What was done, which names modes. Raises UserError."""
    check_may_read_replies(request.user, campaign)
    action, _, key = request.POST.get("action", "group").partition(":")
    if action in ("tag", "criterion", "delete"):
        mode = get_object_or_404(FailureMode, campaign=campaign, pk=parse_pk(key) or 0)
        if action == "delete":
            mode.delete()
            return f"{mode.name} was deleted; its notes are in no mode."
        wording = request.POST.get(f"wording:{mode.pk}", "")
        saved = promote_mode(mode, as_tag=action == "tag", actor=request.user, wording=wording)
        where = "Choose it in the settings." if campaign.schema else "Create a campaign with it."
        return f"{saved.schema} asks about {mode.name}. {where}"
    name = request.POST.get("name", "")
    if action == "into":
        name = get_object_or_404(FailureMode, campaign=campaign, pk=parse_pk(key) or 0).name
    elif action == "group" and not name.strip():
        raise UserError("Name the failure mode.")
    labels = [pk for said in request.POST.getlist("note") if (pk := parse_pk(said))]
    grouped = group_notes(campaign, labels, "" if action == "out" else name, actor=request.user)
    return f"Grouped into {grouped.name}." if grouped else "Taken out of their modes."
