"""Adjudication: disputed replies one by one, with all labels of each."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html

from annotations_app.agreement.adjudicate import adjudicate, find_labels
from annotations_app.agreement.dispute_pages import DisputeQueue, parse_position, parse_turn_pks
from annotations_app.agreement.scope_pages import AgreementScope
from annotations_app.campaigns.pages_common import campaign_crumbs, render_fragment, require_permissions
from annotations_app.domain.answer_tallies import (
    Tally,
    agreed_answers,
    measure_dispute,
    tally_answers,
)
from annotations_app.domain.evidence import quote_evidence
from annotations_app.domain.highlighting import highlight_words
from annotations_app.domain.submission import MAX_NOTE_LENGTH
from annotations_app.labeling.views.decision_form import read_fields
from annotations_app.labeling.views.persona_card import build_persona_card
from annotations_app.models import Annotation, Assignment, Decision
from annotations_app.templatetags.annotations_display import highlight
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import Breadcrumbs, dataset_breadcrumbs, parse_pk, render_page
from datasets_app.core.web.turns import format_turns
from datasets_app.domain.conversations.cases import describe_case
from datasets_app.domain.conversations.turn_metadata import list_steps
from datasets_app.domain.labels.on_brand import ON_BRAND, ON_BRAND_SCHEMA
from datasets_app.domain.labels.schema import describe_answers
from datasets_app.domain.labels.values import name_of, opposite, parse_level
from datasets_app.domain.wording import format_count
from datasets_app.models import Persona, Turn

# The turns shown around the reply, and how much of each.
TURNS_BEFORE, TURNS_AFTER = 20, 6
MAX_TURN_CHARACTERS = 20_000
MAX_LABELS = 200


def adjudicate_reply(request: HttpRequest) -> HttpResponse:
    """Show the reply ``turn``; POST adjudicates it. Without ``turn`` redirects to the next one, so that going
    back in the browser leads to the same reply."""
    disputes = _require_disputes(request)
    turn_pk = parse_pk(request.GET.get("turn", ""))
    if turn_pk is None:
        return _redirect_to_next_dispute(request, disputes)
    turn = get_object_or_404(
        Turn.objects.select_related("session__dataset"),
        pk=turn_pk,
        dataset=disputes.dataset,
        role=Turn.Role.ASSISTANT,
    )
    if request.method == "POST":
        return _save_adjudication(request, disputes, turn)
    return _render_dispute(request, disputes, turn, {})


def adjudication_progress(request: HttpRequest) -> HttpResponse:
    """How many are resolved; fetched after the page, as counting takes longer than showing a reply."""
    counts = _require_disputes(request).counts()
    return render_fragment(
        request, "_adjudication_progress", {"counts": counts, "flagged": "flagged" in request.GET}
    )


def _require_disputes(request: HttpRequest) -> DisputeQueue:
    require_permissions(request, "adjudicate", "view_annotation")
    if not request.user.has_perm("datasets_app.view_turn"):
        raise PermissionDenied
    return DisputeQueue.from_request(request)


def _redirect_to_next_dispute(request: HttpRequest, disputes: DisputeQueue) -> HttpResponse:
    turns = disputes.without_adjudicated(parse_turn_pks(request.GET.get("ahead", "")))
    if not turns:
        turns = disputes.next_turns(parse_position(request.GET.get("after", "")))
    if turns:
        ahead = ".".join(map(str, turns[1:]))
        return redirect(disputes.address(turn=str(turns[0]), ahead=ahead))
    counts = disputes.counts()
    remaining = counts.disputed - counts.settled
    title, text = _describe_end(disputes, counts.disputed, remaining)
    context = {
        **_shared_context(request, disputes),
        "counts": counts,
        "title": title,
        "text": text,
        "remaining": remaining,
        "first_url": disputes._replace(tie=False).address(),
        "agreement_url": AgreementScope(disputes.dataset, disputes.persona_id, disputes.campaign).url(
            "agreement"
        ),
    }
    return render_page(request, "annotations_app/adjudication_done.html", _dispute_crumbs(disputes), context)


def _describe_end(disputes: DisputeQueue, disputed: int, remaining: int) -> tuple[str, str]:
    """(heading, sentence) for when no reply is next."""
    if not disputed and disputes.flagged:
        return "No flagged replies", "Replies that annotators flag appear here."
    if not disputed:
        return "No disagreements", "Replies that annotators label differently appear here."
    if not remaining:
        return f"All {disputed:,} adjudicated", "Adjudicated labels can be exported separately."
    replies = format_count(remaining, "disputed reply is", "disputed replies are")
    if disputes.tie:
        return "No more ties", f"{replies} not adjudicated, counting those with a majority."
    return "End of the queue", f"{replies} not adjudicated because you skipped them."


def _save_adjudication(request: HttpRequest, disputes: DisputeQueue, turn: Turn) -> HttpResponse:
    label, reason = request.POST.get("label", ""), request.POST.get("reason", "")
    answers = read_fields(disputes.schema, request.POST) if disputes.schema else None
    try:
        raw_access.check_may_read(request.user, disputes.dataset)
        adjudicate(
            turn,
            disputes.persona_id,
            label=parse_level(ON_BRAND, label),
            answers=answers,
            reason=reason,
            campaign=disputes.campaign,
            actor=request.user,
        )
    except UserError as refusal:
        form = {"error": refusal.message, "reason": reason, "chosen": label, "filled": answers}
        return _render_dispute(request, disputes, turn, form)
    return redirect(_next_url(request.GET, disputes, turn, _load_labels(disputes, turn)))


# --- the page --------------------------------------------------------------------------------


def _render_dispute(
    request: HttpRequest, disputes: DisputeQueue, turn: Turn, form_state: dict[str, Any]
) -> HttpResponse:
    labels, flags = _load_labels(disputes, turn), _flag_reasons(disputes, turn)
    withheld = not raw_access.may_read(request.user, disputes.dataset)
    if withheld:
        raw_access.withhold_session(turn.session)
        for row in (*labels, *flags):
            _withhold_notes(row)
    else:
        raw_access.record_access(
            disputes.dataset,
            request.user,
            place="adjudication",
            session=turn.session_id,
            turn=turn.turn_index,
        )
    for label in labels:
        label.marked = [] if withheld else quote_evidence(label.evidence, turn.text)
    adjudicated = [label for label in labels if label.kind == Annotation.Kind.ADJUDICATED]
    card = _persona_card(disputes)
    has = request.user.has_perm
    session = reverse("admin:datasets_app_session_change", args=[turn.session_id])
    context = {
        **_shared_context(request, disputes),
        **_conversation_context(turn, card, withheld=withheld),
        "withheld": withheld,
        "card": card,
        **_votes_context(disputes, labels, form_state),
        **form_state,
        "labels": [label for label in labels if label.kind != Annotation.Kind.WITHDRAWN],
        "withdrawn": [label for label in labels if label.kind == Annotation.Kind.WITHDRAWN],
        "flags": flags,
        "adjudicated": adjudicated[0] if adjudicated else None,
        "next_url": _next_url(request.GET, disputes, turn, labels),
        "progress_url": disputes.address("counted"),
        "max_reason_length": MAX_NOTE_LENGTH,
        "session_url": f"{session}?turn={turn.turn_index}#turn-{turn.turn_index}"
        if has("datasets_app.view_session")
        else "",
    }
    return render_page(request, "annotations_app/adjudication.html", _dispute_crumbs(disputes), context)


def _shared_context(request: HttpRequest, disputes: DisputeQueue) -> dict[str, Any]:
    return {
        "disputes": disputes,
        "may_export": request.user.has_perm("annotations_app.export_annotation"),
    }


def _dispute_crumbs(disputes: DisputeQueue) -> Breadcrumbs:
    here = ("Disagreements", None)
    return (
        campaign_crumbs(disputes.campaign, here)
        if disputes.campaign
        else dataset_breadcrumbs(disputes.dataset, here)
    )


def _load_labels(disputes: DisputeQueue, turn: Turn) -> list[Any]:
    """All labels of the reply for this persona, from any campaign, oldest first; under the schema of a
    campaign, with what each ``said``."""
    rows = find_labels(disputes.persona_id, disputes.campaign).filter(turn=turn)
    rows = rows.select_related("campaign__persona", *(["rater"] if disputes.schema else []))
    labels = list(rows.order_by("id")[:MAX_LABELS])
    for label in labels if disputes.schema else ():
        label.said = describe_answers(label.asked_schema, label.answers)
    return labels


def _countable(labels: list[Any], disputes: DisputeQueue) -> list[Any]:
    """Of a campaign, if there is one, its labels."""
    campaign = disputes.campaign
    return [
        label
        for label in labels
        if label.kind == Annotation.Kind.LABEL and (campaign is None or label.campaign_id == campaign.pk)
    ]


def _tally(labels: list[Any], disputes: DisputeQueue) -> list[Tally]:
    said = (label.answers for label in _countable(labels, disputes))
    return tally_answers(disputes.schema or ON_BRAND_SCHEMA, said)


def _votes_context(disputes: DisputeQueue, labels: list[Any], form_state: dict[str, Any]) -> dict[str, Any]:
    tallies = _tally(labels, disputes)
    if disputes.schema:
        return {"schema": disputes.schema, "tallies": tallies, "filled": agreed_answers(tallies)}
    [tally] = tallies
    majority = None if tally.majority is None else int(tally.majority)
    return {
        "votes": _vote_rows(tally, form_state.get("chosen", "")),
        "majority": None if majority is None else ON_BRAND.levels[majority].value,
        "minority": None if majority is None else name_of(ON_BRAND, opposite(ON_BRAND, majority)),
    }


def _vote_rows(tally: Tally, chosen: str) -> list[dict[str, Any]]:
    """The highest answer first: a full dot for each vote, for other answers an empty one."""
    votes = dict(tally.votes)
    return [
        {
            "level": level,
            "count": votes.get(code, 0),
            "sign": "●" if code == ON_BRAND.top else "○",
            "is_chosen": str(level.value) == chosen,
        }
        for code, level in ON_BRAND.downwards
    ]


def _flag_reasons(disputes: DisputeQueue, turn: Turn) -> list[dict[str, Any]]:
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


def _next_url(query: QueryDict, disputes: DisputeQueue, turn: Turn, labels: list[Any]) -> str:
    dispute = measure_dispute(_tally(labels, disputes))
    return disputes.address(after=f"{dispute}.{turn.pk}", ahead=query.get("ahead", ""))


def _withhold_notes(row: Any) -> None:
    """Of a label, or of a flag: people quote in them."""
    if isinstance(row, dict):
        row["reason"] = raw_access.WITHHELD
    elif row.notes:
        row.notes = raw_access.WITHHELD


def _conversation_context(turn: Turn, card: Any, *, withheld: bool) -> dict[str, Any]:
    index = turn.turn_index
    around = Turn.objects.filter(
        dataset=turn.dataset_id,
        session=turn.session_id,
        turn_index__gte=index - TURNS_BEFORE,
        turn_index__lte=index + TURNS_AFTER,
    )
    turns = list(around.with_text_start(MAX_TURN_CHARACTERS).order_by("turn_index"))
    for other in turns:
        if withheld:
            raw_access.withhold_turn(other)
        is_judged = other.pk == turn.pk
        # Only the reply to judge has the persona's words highlighted.
        words = (card["preferred"], card["avoid"]) if card and is_judged else ((), ())
        pieces = highlight_words(other.start, *words)
        other.text_html = format_html(
            "{}{}", highlight(pieces), "…" if other.characters > MAX_TURN_CHARACTERS else ""
        )
        other.is_raw_first = any(piece.kinds for piece in pieces)
        other.badge = "to adjudicate" if is_judged else ""
        other.steps = list_steps(other.metadata, other.extra)
        other.case, other.tags, other.timestamp = describe_case(other.metadata, other.extra), (), None
    if not withheld:
        format_turns(turns)
    return {
        "turn": turn,
        "session": turn.session,
        "turns": turns,
        "earlier": max(0, turns[0].turn_index - 1),
        "later": max(0, turn.session.turn_count - turns[-1].turn_index),
    }


def _persona_card(disputes: DisputeQueue) -> Any:
    if disputes.campaign:
        return build_persona_card(disputes.campaign.persona)
    persona = Persona.objects.filter(persona_id=disputes.persona_id).first()
    return build_persona_card(persona) if persona else None
