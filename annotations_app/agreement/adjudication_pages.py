"""Disputed replies one by one: what everybody said of each, and how a lead settles it."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.agreement.dispute_pages import EVENLY_DIVIDED, Disputes, place_of, turns_of
from annotations_app.agreement.pages import agreement_address
from annotations_app.campaigns.pages_common import campaign_crumbs, fragment, require
from annotations_app.domain.highlighting import highlighted
from annotations_app.domain.submission import LONGEST_NOTE
from annotations_app.labeling.views.persona_card import card_of
from annotations_app.labels.history_pages import is_stale
from annotations_app.models import Annotation, Assignment, Decision
from datasets_app.catalog import raw_access
from datasets_app.core.errors import Refused
from datasets_app.core.web.pages import Crumbs, dataset_crumbs, render_page
from datasets_app.core.web.paging import whole_numbers
from datasets_app.models import Persona, Turn

# The turns around the reply that are shown, and how much of each.
TURNS_BEFORE, TURNS_AFTER = 20, 6
CHARACTERS_SHOWN = 20_000
LABELS_SHOWN = 200


def adjudicate_page(request: HttpRequest) -> HttpResponse:
    """Without ``turn`` the next one to be settled is looked for, and the browser sent to its address: so
    that going back leads to the same reply. POST settles it."""
    disputes = _allowed(request)
    asked = whole_numbers(request.GET.get("turn", ""), 1)
    if asked is None:
        return _to_the_next(request, disputes)
    turn = get_object_or_404(
        Turn.objects.select_related("session__dataset"),
        pk=asked[0],
        session__dataset=disputes.dataset,
        role=Turn.Role.ASSISTANT,
    )
    if request.method == "POST":
        return _settle(request, disputes, turn)
    return _page(request, disputes, turn, {})


def counted(request: HttpRequest) -> HttpResponse:
    """How many are settled; fetched beside the page, as counting takes longer than showing one."""
    counts = _allowed(request).counts()
    return fragment(
        request, "_adjudication_progress", {"counts": counts, "flagged": "flagged" in request.GET}
    )


def _allowed(request: HttpRequest) -> Disputes:
    require(request, "adjudicate", "view_annotation")
    if not request.user.has_perm("datasets_app.view_turn"):
        raise PermissionDenied
    return Disputes.asked(request)


def _to_the_next(request: HttpRequest, disputes: Disputes) -> HttpResponse:
    turns = disputes.unsettled(turns_of(request.GET.get("ahead", "")))
    if not turns:
        turns = disputes.following(place_of(request.GET.get("after", "")))
    if turns:
        ahead = ".".join(map(str, turns[1:]))
        return redirect(disputes.address(turn=str(turns[0]), ahead=ahead))
    counts = disputes.counts()
    context = {
        **_frame(request, disputes),
        "counts": counts,
        "left": counts.disputed - counts.settled,
        "first_address": disputes._replace(tie=False).address(),
        "agreement_address": agreement_address(disputes.dataset, disputes.persona_id, disputes.campaign),
    }
    return render_page(request, "annotations_app/adjudication_done.html", _crumbs(disputes), context)


def _settle(request: HttpRequest, disputes: Disputes, turn: Turn) -> HttpResponse:
    label, reason = request.POST.get("label", ""), request.POST.get("reason", "")
    try:
        adjudicate(
            turn,
            disputes.persona_id,
            label=int(label) if label in {"0", "1"} else -1,
            reason=reason,
            campaign=disputes.campaign,
            actor=request.user,
        )
    except Refused as refusal:
        return _page(request, disputes, turn, {"error": refusal.message, "reason": reason, "chosen": label})
    return redirect(_next_address(request.GET, disputes, turn, _votes(_labels(disputes, turn), disputes)))


# --- what is shown -----------------------------------------------------------------------------


def _page(request: HttpRequest, disputes: Disputes, turn: Turn, said: dict[str, Any]) -> HttpResponse:
    raw_access.read(
        disputes.dataset,
        request.user,
        place="adjudication",
        session=turn.session_id,
        turn=turn.turn_index,
    )
    labels = _labels(disputes, turn)
    votes = _votes(labels, disputes)
    settled = [label for label in labels if label.kind == Annotation.Kind.ADJUDICATED]
    has = request.user.has_perm
    session = reverse("admin:datasets_app_session_change", args=[turn.session_id])
    context = {
        **_frame(request, disputes),
        **_conversation(turn),
        **_persona(disputes, turn),
        **said,
        "votes": votes,
        "majority": None if votes[0] == votes[1] else int(votes[1] > votes[0]),
        "labels": [label for label in labels if label.kind != Annotation.Kind.WITHDRAWN],
        "withdrawn": [label for label in labels if label.kind == Annotation.Kind.WITHDRAWN],
        "flags": _flags(disputes, turn),
        "adjudicated": settled[0] if settled else None,
        "next_address": _next_address(request.GET, disputes, turn, votes),
        "counted_address": disputes.address("counted"),
        "longest_reason": LONGEST_NOTE,
        "session_address": f"{session}?turn={turn.turn_index}#turn-{turn.turn_index}"
        if has("datasets_app.view_session")
        else "",
    }
    response = render_page(request, "annotations_app/adjudication.html", _crumbs(disputes), context)
    # Going back must show what has been settled meanwhile.
    response["Cache-Control"] = "no-store"
    return response


def _frame(request: HttpRequest, disputes: Disputes) -> dict[str, Any]:
    return {
        "disputes": disputes,
        "may_export": request.user.has_perm("annotations_app.export_annotation"),
    }


def _crumbs(disputes: Disputes) -> Crumbs:
    here = ("Disputes", None)
    return (
        campaign_crumbs(disputes.campaign, here)
        if disputes.campaign
        else dataset_crumbs(disputes.dataset, here)
    )


def _labels(disputes: Disputes, turn: Turn) -> list[Any]:
    """Everything that was said of the reply for this persona, in whatever campaign, the earliest first."""
    found = Annotation.objects.filter(turn=turn, persona_id=disputes.persona_id)
    labels = list(found.select_related("campaign__persona").order_by("id")[:LABELS_SHOWN])
    for label in labels:
        label.stale = is_stale(label)
    return labels


def _votes(labels: list[Any], disputes: Disputes) -> tuple[int, int]:
    """(off-brand, on-brand) among the labels that count here."""
    campaign = disputes.campaign
    counting = [
        label.label
        for label in labels
        if label.kind == Annotation.Kind.LABEL and (campaign is None or label.campaign_id == campaign.pk)
    ]
    return len(counting) - sum(counting), sum(counting)


def _flags(disputes: Disputes, turn: Turn) -> list[dict[str, Any]]:
    if disputes.campaign is None:
        return []
    flagged = Assignment.objects.filter(
        campaign=disputes.campaign, item__turn=turn, state=Assignment.State.FLAGGED
    )
    last = {}
    decisions = Decision.objects.filter(assignment__in=flagged, kind=Decision.Kind.FLAG)
    for decision in decisions.select_related("assignment__annotator").order_by("id"):
        name = decision.assignment.annotator.get_username()
        last[name] = {"annotator": name, "reason": decision.notes}
    return list(last.values())


def _next_address(query: QueryDict, disputes: Disputes, turn: Turn, votes: tuple[int, int]) -> str:
    divided = 2 * EVENLY_DIVIDED * min(votes) // sum(votes) if sum(votes) else 0
    return disputes.address(after=f"{divided}.{turn.pk}", ahead=query.get("ahead", "").replace("\0", ""))


def _conversation(turn: Turn) -> dict[str, Any]:
    place = turn.turn_index
    around = Turn.objects.filter(
        session=turn.session_id, turn_index__gte=place - TURNS_BEFORE, turn_index__lte=place + TURNS_AFTER
    )
    turns = list(around.with_start(CHARACTERS_SHOWN).order_by("turn_index"))
    return {
        "turn": turn,
        "session": turn.session,
        "turns": turns,
        "earlier": max(0, turns[0].turn_index - 1),
        "later": max(0, turn.session.turn_count - turns[-1].turn_index),
        "shown": CHARACTERS_SHOWN,
    }


def _persona(disputes: Disputes, turn: Turn) -> dict[str, Any]:
    """The persona's card, and the reply with its words marked."""
    campaign = disputes.campaign
    persona = campaign.persona if campaign else Persona.objects.filter(persona_id=disputes.persona_id).first()
    if persona is None:
        return {"card": None}
    card = card_of(persona)
    pieces = highlighted(turn.text[:CHARACTERS_SHOWN], card.preferred, card.avoid)
    return {"card": card, "pieces": pieces}
