"""The page of a session, shown as a conversation."""

from collections import defaultdict
from itertools import chain
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from datasets_app import hooks
from datasets_app.browsing.comment_pages import load_comments
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.partitions import find_visible
from datasets_app.core.web.model_admin import ReadOnlyAdmin
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    dataset_url,
    parse_pk,
    persona_urls,
    render_page,
    require_permissions,
)
from datasets_app.core.web.turns import format_turns
from datasets_app.domain.conversations.cases import describe_case
from datasets_app.domain.conversations.turn_metadata import arrange_metadata, list_steps
from datasets_app.models import CheckFinding, CheckReport, Dataset, Session, Turn
from datasets_app.scrubbing.highlights import Highlights, Piece, take_first
from datasets_app.templatetags.scrub_display import render_pieces

TURNS_PER_PAGE, MAX_CHARACTERS_PER_PAGE = 200, 150_000
# Longer turns are folded; beyond the second limit only the turn's own page shows its full text.
FOLD_AFTER_CHARACTERS = 1_200
MAX_CHARACTERS_SHOWN = 20_000
MAX_FINDINGS_SHOWN = 500


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Limits the pages that Django adds, too."""
        return super().get_queryset(request).filter(dataset__in=Dataset.objects.visible_to(request.user))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Redirect: sessions are listed on the page of their dataset."""
        require_permissions(request, "view_session")
        return redirect("admin:datasets_app_dataset_changelist")

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        require_permissions(request, "view_dataset", "view_session", "view_turn")
        sessions = find_visible(Session, parse_pk(object_id), request.user).select_related("dataset")
        return _render_session(request, get_object_or_404(sessions))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Redirect: Django's page has no history to show, but the id as its title."""
        require_permissions(request, "view_session")
        return redirect("admin:datasets_app_session_change", object_id)


def _render_session(request: HttpRequest, session: Session) -> HttpResponse:
    dataset = session.dataset
    turns, previous_from, next_from = _load_turns(session, _parse_first_turn(request))
    neighbors = Session.objects.filter(dataset=dataset)
    report = CheckReport.objects.filter(dataset=dataset).first()
    turn_findings, session_findings = _load_findings(report, session)
    withheld = not raw_access.may_read(request.user, dataset)
    if withheld:
        _withhold(session, turns, [*session_findings, *chain.from_iterable(turn_findings.values())])
    highlights = None if withheld else _make_highlights(request, session, turns)
    notes = hooks.panels.turn_label_notes(session, turns, request.user)
    for turn in turns:
        turn.findings = turn_findings.get(turn.turn_index, [])
        turn.notes = notes.get(turn.pk, [])
        turn.url = f"?turn={turn.turn_index}#turn-{turn.turn_index}"
        turn.steps = list_steps(turn.metadata, turn.extra)
        turn.case = describe_case(turn.metadata, turn.extra)
        if highlights:
            turn.other_findings = highlights.findings_outside_text(turn.turn_index)
    is_raw_view = "raw" in request.GET
    _render_texts(turns, highlights, is_raw_view)
    context = {
        "dataset": dataset,
        "session": session,
        "is_raw_view": is_raw_view,
        "raw_query": "?raw=1" if is_raw_view else "",
        "has_formatted_turns": is_raw_view or any(getattr(turn, "html", "") for turn in turns),
        **({} if withheld else _place_comments(session, turns, request.user)),
        "metadata": arrange_metadata((turn.turn_index, turn.metadata, turn.extra) for turn in turns),
        "turns_with_findings": [turn for turn in turns if turn.findings],
        "withheld": withheld,
        "turns": turns,
        "previous_page_turn": previous_from,
        "next_page_turn": next_from,
        "session_findings": session_findings,
        "highlights": highlights,
        "persona": persona_urls([session.persona_id], request.user).get(session.persona_id or ""),
        "previous_session": neighbors.filter(id__lt=session.pk).order_by("-id").first(),
        "next_session": neighbors.filter(id__gt=session.pk).order_by("id").first(),
        "links": [] if withheld else hooks.panels.list_session_links(session, request.user),
        "turns_url": reverse("admin:datasets_app_turn_changelist"),
        "max_characters": MAX_CHARACTERS_SHOWN,
    }
    if not withheld:
        raw_access.record_access(dataset, request.user, place="session", session=session.pk, turns=len(turns))
    sessions = ("Sessions", dataset_url(dataset, "sessions"))
    crumbs = dataset_breadcrumbs(dataset, sessions, (session.session_id, None))
    return render_page(request, "datasets_app/session.html", crumbs, context)


def _place_comments(session: Session, turns: list[Any], user: Any) -> dict[str, Any]:
    """Set ``comments`` of turns; returns the others, and what the page needs for new ones."""
    by_turn: dict[int | None, list[Any]] = defaultdict(list)
    for comment in load_comments(session, user):
        by_turn[comment.turn_index].append(comment)
    for turn in turns:
        turn.comments = by_turn.pop(turn.turn_index, [])
    return {
        "comments": list(chain.from_iterable(by_turn.values())),
        "turns_with_comments": [turn for turn in turns if turn.comments],
        "may_comment": user.has_perm("datasets_app.add_sessioncomment"),
    }


def _render_texts(turns: list[Any], highlights: Highlights | None, is_raw_view: bool) -> None:
    """Markdown is formatted unless something in the text is highlighted."""
    plain = []
    for turn in turns:
        pieces = highlights.pieces(turn) if highlights else [Piece(turn.start)]
        turn.text_html = render_pieces(pieces, bool(highlights and highlights.may_mark))
        if turn.characters > FOLD_AFTER_CHARACTERS:
            turn.folded_html = render_pieces(take_first(pieces), False)
        if not any(piece.state for piece in pieces):
            plain.append(turn)
    if not is_raw_view:
        format_turns(plain)


def _withhold(session: Session, turns: list[Any], findings: list[CheckFinding]) -> None:
    raw_access.withhold_session(session)
    for turn in turns:
        raw_access.withhold_turn(turn)
    for finding in findings:
        raw_access.withhold_finding(finding)


def _make_highlights(request: HttpRequest, session: Session, turns: list[Any]) -> Highlights | None:
    """The findings of scrubs; None for users who may not see them."""
    has = request.user.has_perm
    if not has("datasets_app.view_scrubfinding"):
        return None
    return Highlights(session, turns, may_mark=has("datasets_app.scrub_dataset"))


def _parse_first_turn(request: HttpRequest) -> int:
    """``?turn=`` is a turn to show with the turns before it; ``?from=`` starts a page."""
    turn = parse_pk(request.GET.get("turn", ""))
    if turn is not None:
        return max(1, turn - 20) if turn > TURNS_PER_PAGE else 1
    first = parse_pk(request.GET.get("from", ""))
    return 1 if first is None else first


def _load_turns(session: Session, first: int) -> tuple[list[Any], int | None, int | None]:
    """A page of turns, and the first turns of the previous and the next page."""
    turns: QuerySet[Any] = Turn.objects.filter(dataset=session.dataset_id, session=session)
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
    shown = _count_shown(rows[:TURNS_PER_PAGE])
    following = rows[shown].turn_index if len(rows) > shown else None
    return rows[:shown], before[-1] if before else None, following


def _count_shown(rows: list[Any]) -> int:
    """How many turns a page shows: long ones fill it sooner."""
    left = MAX_CHARACTERS_PER_PAGE
    for number, row in enumerate(rows):
        left -= len(row.start)
        if left < 0 and number:
            return number
    return len(rows)


def _load_findings(report: CheckReport | None, session: Session) -> tuple[dict[int, list[Any]], list[Any]]:
    """Findings of the last checks: by turn, and for the whole session."""
    by_turn: dict[int, list[Any]] = defaultdict(list)
    of_session: list[Any] = []
    if report:
        findings = CheckFinding.objects.filter(report=report, session=session)[:MAX_FINDINGS_SHOWN]
        for finding in findings:
            (of_session if finding.turn_index is None else by_turn[finding.turn_index]).append(finding)
    return by_turn, of_session
