"""Add and remove reviewer corrections: "not personal" and "missed"."""

import re

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from datasets_app.catalog import gates, raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, parse_pk
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.pii.detector import KINDS, PATTERN_KINDS
from datasets_app.domain.pii.policy import OTHER, Policy
from datasets_app.domain.wording import format_count
from datasets_app.jobs.runs import request_text_scan
from datasets_app.models import Dataset, ScrubFinding, ScrubMark, Turn
from datasets_app.scrubbing import marks
from datasets_app.scrubbing.proposals import MAX_VALUES
from datasets_app.templatetags.datasets_display import turn_url

NEXT_SCRUB_NOTE = "It applies to the whole dataset at the next preview or scrub."
MAX_CHARACTERS = 500


@require_POST
def mark_not_personal(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    findings = ScrubFinding.objects.filter(scrub__dataset=dataset).select_related("scrub")
    finding = get_object_or_404(findings, pk=parse_pk(request.POST.get("finding", "")))
    if finding.kind in PATTERN_KINDS and gates.can_override(request.user):
        return redirect(f"{dataset_url(dataset, 'exempt')}?finding={finding.pk}")
    with show_refusal(request):
        raw_access.check_may_read(request.user, dataset)
        marks.mark_not_personal(dataset, finding=finding, actor=request.user)
        request_text_scan(dataset, actor=request.user)
        messages.success(request, f"Marked as not personal. {NEXT_SCRUB_NOTE}")
    return redirect(turn_url(finding.session_id, finding.turn_index))


@require_POST
def keep_values(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the values of several findings of a preview as not personal; each stays wherever it stands."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    keys = [parse_pk(key) for key in request.POST.getlist("finding")[:MAX_VALUES]]
    findings = ScrubFinding.objects.filter(scrub__dataset=dataset, pk__in=keys).select_related("scrub")
    kept = 0
    with show_refusal(request):
        raw_access.check_may_read(request.user, dataset)
        for finding in findings.exclude(kind__in=PATTERN_KINDS):
            marks.mark_not_personal(dataset, finding=finding, actor=request.user)
            kept += 1
    if kept:
        request_text_scan(dataset, actor=request.user)
        messages.success(request, f"Kept {format_count(kept, 'value')}. {NEXT_SCRUB_NOTE}")
    return redirect(dataset_url(dataset, "scrub") + "?view=values#findings")


@require_POST
def mark_missed(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark words of a turn that no detector found, after finding their position."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    turns = Turn.objects.filter(dataset=dataset)
    turn = get_object_or_404(turns, pk=parse_pk(request.POST.get("turn", "")))
    with show_refusal(request):
        # The answer tells whether the turn contains the words.
        raw_access.check_may_read(request.user, dataset)
        mark_words(request, dataset, turn)
        messages.success(request, f"Marked as missed. {NEXT_SCRUB_NOTE}")
    return redirect(turn_url(turn.session_id, turn.turn_index))


@require_POST
def remove_mark(request: HttpRequest, pk: int, mark_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubmark")
    mark = get_object_or_404(ScrubMark.objects.select_related("dataset"), pk=mark_pk, dataset=dataset)
    marks.remove_mark(mark, actor=request.user)
    request_text_scan(dataset, actor=request.user)
    messages.success(request, "Removed the correction. The next preview or scrub ignores it.")
    return redirect(dataset_url(dataset, "scrub") + "#marks")


def mark_words(request: HttpRequest, dataset: Dataset, turn: Turn) -> None:
    """Mark "words" of the turn as missed, as of the "kind"."""
    words = " ".join(request.POST.get("words", "")[: MAX_CHARACTERS + 1].replace("\0", "").split())
    field, start, end = find_words(words, turn)
    kind = request.POST.get("kind", "")
    marks.mark_missed(dataset, turn=turn, field=field, start=start, end=end, kind=kind, actor=request.user)


def find_words(words: str, turn: Turn) -> tuple[str, int, int]:
    """(field, start, end) of the first occurrence of the whole words; searches the text first."""
    if not words or len(words) > MAX_CHARACTERS:
        raise UserError(f"Enter the words that were missed: 1 to {MAX_CHARACTERS} characters.")
    pattern = re.compile(
        r"(?<!\w)" + r"\s+".join(re.escape(word) for word in words.split()) + r"(?!\w)", re.IGNORECASE
    )
    matches = [
        (field, *match.span()) for field, text in marks.list_strings(turn) if (match := pattern.search(text))
    ]
    if not matches:
        raise UserError(
            f"Turn {turn.turn_index} doesn't contain these words. Enter whole words exactly as shown."
        )
    return matches[0]


def kind_choices(dataset: Dataset) -> list[str]:
    """The types for a missed value: the built-in ones, OTHER, and the labels of custom patterns."""
    last = dataset.scrubs.first()
    custom = Policy.from_json(last.policy).custom_labels if last else ()
    return list(dict.fromkeys((*sorted(KINDS), OTHER, *custom)))
