"""The "Audit" page of a scrub: people read a sample turn by turn, and say what is left."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.scrubbers import find_last_policy
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, parse_pk
from datasets_app.core.web.refusals import show_refusal, show_refusal_in
from datasets_app.models import AuditedTurn, Dataset, ScrubAudit, Turn
from datasets_app.scrubbing import audits
from datasets_app.scrubbing.mark_pages import kind_choices, mark_words
from datasets_app.scrubbing.pages import start_scrub

TURNS_BEFORE = 3


class SampleForm(forms.Form):
    wanted = fields.Integer(
        label="Turns to read",
        min_value=1,
        max_value=audits.MAX_SAMPLE,
        initial=audits.DEFAULT_SAMPLE,
        help_text="More turns, narrower interval: 200 clean ones leave at most about 2 in 100 in doubt.",
    )


def scrub_audit(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows a turn of the newest sample: ``?turn=`` names its position. POST draws a sample ("draw"),
    says of a turn that it is clean ("clean") or what is left in it ("leak"), or scrubs what was marked."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    if "draw" in request.POST:
        return _draw(request, dataset)
    if "scrub" in request.POST:
        return start_scrub(request, dataset, find_last_policy(dataset), sample=None)
    audit = audits.find_audit(dataset)
    if request.method == "POST" and audit:
        return _record(request, audit)
    return _render(request, dataset, audit, SampleForm())


def _draw(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    form = SampleForm(request.POST)
    if form.is_valid():
        with show_refusal_in(form):
            audits.draw_audit(dataset, wanted=form.cleaned_data["wanted"], actor=request.user)
            return redirect(dataset_url(dataset, "scrub_audit"))
    return _render(request, dataset, audits.find_audit(dataset), form)


def _record(request: HttpRequest, audit: ScrubAudit) -> HttpResponse:
    page = dataset_url(audit.dataset, "scrub_audit")
    position = parse_pk(request.POST.get("turn", ""))
    item = get_object_or_404(AuditedTurn, audit=audit, position=position)
    if "leak" not in request.POST:
        audits.record_verdict(item, AuditedTurn.Verdict.CLEAN, actor=request.user)
        following = audits.find_next(audit, item.position)
        return redirect(f"{page}?turn={following.position}#turn" if following else page)
    with show_refusal(request):
        raw_access.check_may_read(request.user, audit.dataset)
        _mark_leak(request, audit, item)
        messages.success(request, "Marked. Mark what else is left in this turn, or go on.")
    return redirect(f"{page}?turn={item.position}#turn")


def _mark_leak(request: HttpRequest, audit: ScrubAudit, item: AuditedTurn) -> None:
    turn = get_object_or_404(
        Turn, dataset=audit.dataset_id, session_id=item.session_id, turn_index=item.turn_index
    )
    with transaction.atomic():
        mark_words(request, audit.dataset, turn)
        audits.record_verdict(item, AuditedTurn.Verdict.LEAK, actor=request.user)


def _render(
    request: HttpRequest, dataset: Dataset, audit: ScrubAudit | None, form: SampleForm
) -> HttpResponse:
    withheld = not raw_access.may_read(request.user, dataset)
    context: dict[str, Any] = {
        "form": form,
        "withheld": withheld,
        "facts": gates.load_facts(dataset),
        "audit": audit,
    }
    if audit:
        context |= _audit_context(request, audit, withheld)
    return render_dataset_page(request, dataset, "scrub_audit", "Audit of the scrub", context)


def _audit_context(request: HttpRequest, audit: ScrubAudit, withheld: bool) -> dict[str, Any]:
    state = audits.describe_audit(audit)
    position = parse_pk(request.GET.get("turn", ""))
    if position is None:
        item = audits.find_next(audit)
    else:
        item = get_object_or_404(AuditedTurn, audit=audit, position=position)
    context: dict[str, Any] = {"state": state, "unread": state.wanted - state.read, "item": item}
    if item and not withheld:
        *before, turn = audits.load_turns_around(item, TURNS_BEFORE)
        raw_access.record_access(audit.dataset, request.user, place="scrub audit", turns=1 + len(before))
        following = audits.find_next(audit, item.position)
        context |= {
            "before": before,
            "turn": turn,
            "following": following if following and following.pk != item.pk else None,
            "previous": item.position - 1,
            "kinds": kind_choices(audit.dataset),
        }
    return context
