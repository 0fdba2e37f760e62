"""Adds and deletes comments on the page of a session."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.browsing.comments import add_comment, delete_comment, split_mentions
from datasets_app.core.web.pages import get_visible_dataset, parse_pk
from datasets_app.core.web.refusals import show_refusal
from datasets_app.models import Session, SessionComment

MAX_COMMENTS_SHOWN = 200


def load_comments(session: Session, user: Any) -> list[SessionComment]:
    """The comments of a session, for people who may read its text."""
    found = list(
        SessionComment.objects.filter(dataset=session.dataset_id, session=session)[:MAX_COMMENTS_SHOWN]
    )
    for comment in found:
        comment.pieces = split_mentions(comment)
        comment.may_delete = comment.author_id == user.pk
    return found


@require_POST
def comment(request: HttpRequest, pk: int, session_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_session", "view_turn", "add_sessioncomment")
    session = get_object_or_404(Session, pk=session_pk, dataset=dataset)
    address = reverse("admin:datasets_app_session_change", args=[session.pk])
    turn = parse_pk(request.POST.get("turn", ""))
    with show_refusal(request):
        add_comment(session, request.POST.get("text", ""), turn_index=turn, actor=request.user)
    return redirect(f"{address}#comments" if turn is None else f"{address}?turn={turn}#turn-{turn}")


@require_POST
def remove_comment(request: HttpRequest, pk: int, comment_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_session", "view_turn")
    found = get_object_or_404(SessionComment, pk=comment_pk, dataset=dataset, author=request.user)
    session = found.session_id
    with show_refusal(request):
        delete_comment(found, actor=request.user)
        messages.success(request, "The comment was deleted.")
    return redirect(f"{reverse('admin:datasets_app_session_change', args=[session])}#comments")
