"""A session, shown as the conversation it is."""

from collections import defaultdict
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from datasets_app import hooks
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    dataset_url,
    persona_urls,
    render_page,
    require_permissions,
)
from datasets_app.core.web.paging import parse_numbers
from datasets_app.core.web.read_only import ReadOnlyAdmin
from datasets_app.models import CheckFinding, CheckReport, Dataset, Session, Turn
from datasets_app.scrubbing.highlights import Highlights, take_first

TURNS_PER_PAGE = 200
# A turn is folded beyond this many characters, and beyond the second number only its own page
# shows the whole of it: two hundred texts of a megabyte are no page.
FOLD_AFTER_CHARACTERS = 1_200
MAX_CHARACTERS_SHOWN = 20_000
MAX_FINDINGS_SHOWN = 500


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """For the pages that the framework adds of itself."""
        return super().get_queryset(request).filter(dataset__in=Dataset.objects.visible_to(request.user))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Sessions belong to their dataset, and are listed on its page."""
        require_permissions(request, "view_session")
        return redirect("admin:datasets_app_dataset_changelist")

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        require_permissions(request, "view_dataset", "view_session", "view_turn")
        place = parse_numbers(object_id, 1)
        session = get_object_or_404(
            self.get_queryset(request).select_related("dataset"),
            pk=place[0] if place else None,
        )
        return _render_session(request, session)


def _render_session(request: HttpRequest, session: Session) -> HttpResponse:
    dataset = session.dataset
    turns, previous_from, next_from = _load_turns(session, _parse_first_turn(request))
    neighbours = Session.objects.filter(dataset=dataset)
    report = CheckReport.objects.filter(dataset=dataset).first()
    of_turns, of_session = _load_findings(report, session)
    highlights = _make_highlights(request, session, turns)
    notes = _collect_notes(session, turns, request.user)
    for turn in turns:
        turn.findings = of_turns.get(turn.turn_index, [])
        turn.notes = notes.get(turn.pk, [])
        if highlights:
            turn.pieces = highlights.pieces(turn)
            turn.first_pieces = take_first(turn.pieces)
            turn.other_findings = highlights.findings_outside_text(turn.turn_index)
    context = {
        "dataset": dataset,
        "session": session,
        "turns": turns,
        "previous_page_turn": previous_from,
        "next_page_turn": next_from,
        "session_findings": of_session,
        "highlights": highlights,
        "may_erase": request.user.has_perm("datasets_app.erase_session"),
        "persona": persona_urls([session.persona_id], request.user).get(session.persona_id or ""),
        "previous_session": neighbours.filter(id__lt=session.pk).order_by("-id").first(),
        "next_session": neighbours.filter(id__gt=session.pk).order_by("id").first(),
        "folded": FOLD_AFTER_CHARACTERS,
        "shown": MAX_CHARACTERS_SHOWN,
    }
    raw_access.record_access(dataset, request.user, place="session", session=session.pk, turns=len(turns))
    sessions = ("Sessions", dataset_url(dataset, "sessions"))
    crumbs = dataset_breadcrumbs(dataset, sessions, (session.session_id, None))
    return render_page(request, "datasets_app/session.html", crumbs, context)


def _make_highlights(request: HttpRequest, session: Session, turns: list[Any]) -> Highlights | None:
    """What scrubs have found here, for those who may know it."""
    has = request.user.has_perm
    if not has("datasets_app.view_scrubfinding"):
        return None
    return Highlights(session, turns, may_mark=has("datasets_app.scrub_dataset"))


def _collect_notes(session: Session, turns: list[Any], user: Any) -> dict[int, list[str]]:
    """What other apps have to say of these turns."""
    notes: dict[int, list[str]] = defaultdict(list)
    for notes_of in hooks.turn_notes:
        for turn, said in notes_of(session, turns, user).items():
            notes[turn] += said
    return notes


def _parse_first_turn(request: HttpRequest) -> int:
    """``turn`` is one to be seen, with what was said before it; ``from`` begins a page."""
    turn = parse_numbers(request.GET.get("turn", ""), 1)
    if turn:
        return max(1, turn[0] - 20) if turn[0] > TURNS_PER_PAGE else 1
    begin = parse_numbers(request.GET.get("from", ""), 1)
    return begin[0] if begin else 1


def _load_turns(session: Session, first: int) -> tuple[list[Any], int | None, int | None]:
    """A page of turns, and the first turn of the page before and of the page after."""
    turns: QuerySet[Any] = Turn.objects.filter(session=session)
    rows = list(
        turns.filter(turn_index__gte=first)
        .with_text_start(MAX_CHARACTERS_SHOWN)
        .order_by("turn_index")[: TURNS_PER_PAGE + 1]
    )
    before = list(
        turns.filter(turn_index__lt=first)
        .order_by("-turn_index")
        .values_list("turn_index", flat=True)[:TURNS_PER_PAGE]
    )
    following = rows[TURNS_PER_PAGE].turn_index if len(rows) > TURNS_PER_PAGE else None
    return rows[:TURNS_PER_PAGE], before[-1] if before else None, following


def _load_findings(report: CheckReport | None, session: Session) -> tuple[dict[int, list[Any]], list[Any]]:
    """What the last checks found here: by turn, and for the session as a whole."""
    by_turn: dict[int, list[Any]] = defaultdict(list)
    whole: list[Any] = []
    if report:
        found = CheckFinding.objects.filter(report=report, session=session)[:MAX_FINDINGS_SHOWN]
        for finding in found:
            (whole if finding.turn_index is None else by_turn[finding.turn_index]).append(finding)
    return by_turn, whole
