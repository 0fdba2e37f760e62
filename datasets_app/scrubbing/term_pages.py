"""Pages of terms to keep: those of a dataset, those of all datasets, and the proposals of a preview."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from datasets_app.catalog import gates, raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web import fields
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.pages import (
    dataset_url,
    get_visible_dataset,
    parse_pk,
    render_page,
    require_permissions,
)
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal, show_refusal_in
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.pattern_kinds import find_pattern_kind
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS
from datasets_app.domain.wording import format_count
from datasets_app.jobs.runs import request_text_scan
from datasets_app.models import Dataset, ScrubFinding, ScrubMark, Turn
from datasets_app.scrubbing import marks
from datasets_app.scrubbing.mark_pages import NEXT_SCRUB_NOTE
from datasets_app.scrubbing.marks import MAX_TERM_CHARACTERS
from datasets_app.scrubbing.proposals import find_preview, list_proposals

MAX_CHARACTERS = 100_000


class TermsForm(OverrideForm):
    terms = fields.Lines(
        label="Terms to keep",
        max_length=MAX_CHARACTERS,
        attrs={"rows": "3"},
        help_text="One per line, such as names of products, in any letter case.",
    )
    override = OverrideField(
        "Why they may stay",
        "Only for values that follow a pattern, such as your own support address. Recorded in the audit log "
        "with your name.",
    )

    def clean_terms(self) -> list[str]:
        """One term a line."""
        terms = [" ".join(line.split()) for line in self.cleaned_data["terms"].splitlines()]
        errors = [
            f"Line {number}: a term has at most {MAX_TERM_CHARACTERS} characters."
            for number, term in enumerate(terms, 1)
            if len(term) > MAX_TERM_CHARACTERS
        ]
        if errors:
            raise forms.ValidationError(errors)
        return list(filter(None, terms))

    def list_patterns(self) -> list[str]:
        """What to say of each line that a pattern class matches."""
        lines = enumerate(self.data["terms"].splitlines(), 1)
        return [
            f"Line {number} is one of the {KIND_DESCRIPTIONS[kind]} that a scrub replaces."
            for number, line in lines
            if (kind := find_pattern_kind(line))
        ]


# --- of one dataset -------------------------------------------------------------------------------------


@require_POST
def keep_terms(request: HttpRequest, pk: int) -> HttpResponse:
    """Add terms to a dataset's list. Values that follow a pattern are exempted one by one."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubmark")
    form = TermsForm(request.POST, may_override=False)
    with show_refusal(request):
        # A count of occurrences tells whether the text contains a term.
        raw_access.check_may_read(request.user, dataset)
        if not form.is_valid():
            raise UserError(" ".join(str(error) for errors in form.errors.values() for error in errors))
        if patterns := form.list_patterns():
            raise UserError(f"{' '.join(patterns)} To keep it, exempt the value, which takes a reason.")
        added = form.cleaned_data["terms"]
        _request_scans(marks.keep_terms(added, dataset=dataset, actor=request.user), request.user)
        messages.success(request, f"Keeps {format_count(len(added), 'term')}. {NEXT_SCRUB_NOTE}")
    return redirect(dataset_url(dataset, "scrub") + "#marks")


@require_POST
def decide_proposal(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep a proposed term ("keep"), or have it replaced wherever it occurs ("scrub"); each is the key of its
    finding. Leads to the proposal behind it."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    verdict = "keep" if "keep" in request.POST else "scrub"
    findings = ScrubFinding.objects.filter(scrub__dataset=dataset, kind=NAME, field="text")
    key = parse_pk(request.POST.get(verdict, ""))
    finding = get_object_or_404(findings.select_related("scrub"), pk=key)
    with show_refusal(request):
        raw_access.check_may_read(request.user, dataset)
        if verdict == "keep":
            marks.mark_not_personal(dataset, finding=finding, actor=request.user)
            request_text_scan(dataset, actor=request.user)
        else:
            _mark_for_scrub(dataset, finding, request.user)
        done = "Kept" if verdict == "keep" else "Always scrubbed"
        messages.success(request, f"{done}. {NEXT_SCRUB_NOTE}")
    following = parse_pk(request.POST.get(f"after-{finding.pk}", ""))
    anchor = f"#proposal-{following}" if following else "#proposals"
    return redirect(dataset_url(dataset, "scrub") + anchor)


@require_POST
def scrub_proposals(request: HttpRequest, pk: int) -> HttpResponse:
    """Have all terms that a "preview" (its key) proposes, and nobody has decided, replaced everywhere."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    preview = find_preview(dataset)
    with show_refusal(request):
        raw_access.check_may_read(request.user, dataset)
        if preview is None or preview.pk != parse_pk(request.POST.get("preview", "")):
            raise UserError("There is a newer preview or scrub. Read its proposals first.")
        keys = [proposal.finding for proposal in list_proposals(preview)]
        with transaction.atomic():
            for finding in ScrubFinding.objects.filter(pk__in=keys):
                _mark_for_scrub(dataset, finding, request.user)
        messages.success(request, f"Always scrubs {format_count(len(keys), 'more term')}. {NEXT_SCRUB_NOTE}")
    return redirect(dataset_url(dataset, "scrub") + "#marks")


def _mark_for_scrub(dataset: Dataset, finding: ScrubFinding, actor: Any) -> None:
    turn = get_object_or_404(Turn, dataset=dataset, session=finding.session_id, turn_index=finding.turn_index)
    end = finding.start + finding.length
    marks.mark_missed(dataset, turn=turn, field="text", start=finding.start, end=end, kind=NAME, actor=actor)


# --- of all datasets ------------------------------------------------------------------------------------


def terms(request: HttpRequest) -> HttpResponse:
    """The terms that stay in all datasets; POST adds some."""
    require_permissions(request, "view_scrubmark")
    may_override = gates.can_override(request.user)
    form = TermsForm(request.POST or None, may_override=may_override, override_required=False)
    if request.method == "POST":
        require_permissions(request, "keep_terms_everywhere")
        if form.is_valid() and _add_everywhere(request, form, may_override):
            return redirect("admin:datasets_app_dataset_terms")
    listed = ScrubMark.objects.filter(dataset=None).select_related("created_by").order_by("term", "pk")
    context = {"form": form, "terms": listed, "withheld": not gates.can_read_raw(request.user)}
    return render_page(request, "datasets_app/dataset_terms.html", [("Terms to keep", None)], context)


def _add_everywhere(request: HttpRequest, form: TermsForm, may_override: bool) -> bool:
    """Whether the terms of a valid form were added; otherwise it has errors."""
    patterns, reason = form.list_patterns(), form.cleaned_data.get("override", "")
    if patterns and not may_override:
        form.add_error("terms", [*patterns, "To keep it takes the permission to override."])
        return False
    if patterns and not reason:
        form.add_error("override", [*patterns, "Enter a reason."])
        return False
    if patterns:
        require_recent_sign_in(request)
    with show_refusal_in(form):
        added = form.cleaned_data["terms"]
        _request_scans(marks.keep_terms(added, actor=request.user, override=reason), request.user)
        count = format_count(len(added), "term")
        messages.success(request, f"Keeps {count} in all datasets from the next preview, check or scrub on.")
        return True
    return False


@require_POST
def remove_term(request: HttpRequest, mark_pk: int) -> HttpResponse:
    require_permissions(request, "view_scrubmark", "keep_terms_everywhere")
    mark = get_object_or_404(ScrubMark.objects.filter(dataset=None), pk=mark_pk)
    if mark.kind and not gates.can_override(request.user):
        raise PermissionDenied
    _request_scans(marks.remove_mark(mark, actor=request.user), request.user)
    messages.success(request, "Removed the term. The next preview or scrub ignores it.")
    return redirect("admin:datasets_app_dataset_terms")


def _request_scans(datasets: Iterable[Dataset], user: Any) -> None:
    for dataset in datasets:
        request_text_scan(dataset, actor=user)
