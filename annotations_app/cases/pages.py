"""The page that makes a test case of a reply."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotations_app.campaigns.forms import users_who_can_annotate
from annotations_app.cases.forms import CaseForm
from annotations_app.cases.make_case import CaseOptions, make_case
from annotations_app.cases.parameters import CaseParameters
from annotations_app.models import FailureMode
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.partitions import find_visible
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    dataset_url,
    parse_pk,
    render_page,
    require_permissions,
)
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.domain.generation.families import Variant
from datasets_app.domain.wording import format_count
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Session, Turn

MAX_TURNS_OFFERED, MAX_MODES = 200, 100
TITLE = "Make a test case"


def show_case(request: HttpRequest, session_pk: int) -> HttpResponse:
    """``?turn=`` is the reply; the last one without. Posting makes the case, and starts the job that scrubs
    it and sends it to people."""
    require_permissions(request, "view_session", "view_turn", "import_dataset")
    user = request.user
    session = get_object_or_404(find_visible(Session, session_pk, user).select_related("dataset"))
    dataset = session.dataset
    if not raw_access.may_read(user, dataset):
        messages.error(request, "You don't have access to raw text, so you can't make a case of it.")
        return redirect("admin:datasets_app_session_change", session.pk)
    turns = list(
        Turn.objects.filter(dataset=dataset, session=session).order_by("turn_index")[:MAX_TURNS_OFFERED]
    )
    replies = [turn for turn in turns if turn.role == "assistant"]
    if not replies or turns[0] == replies[0] == turns[-1]:
        messages.error(request, "This conversation has no reply to a user, so there is no case in it.")
        return redirect("admin:datasets_app_session_change", session.pk)
    chosen = parse_pk(request.GET.get("turn", ""))
    reply = next(
        (turn for turn in reversed(replies) if chosen is None or turn.turn_index <= chosen), replies[0]
    )
    form = CaseForm(
        request.POST or None,
        turns=turns,
        reply=reply,
        modes=_list_modes(user),
        dataset=f"{dataset.name[:90]}-cases",
        annotators=users_who_can_annotate() if user.has_perm("annotations_app.add_campaign") else None,
    )
    raw_access.record_access(dataset, user, place="case", session=session.pk, turns=len(turns))
    if request.method == "POST" and form.is_valid() and (answer := _make(request, session, form)):
        return answer
    crumbs = dataset_breadcrumbs(
        dataset,
        ("Sessions", dataset_url(dataset, "sessions")),
        (session.session_id, reverse("admin:datasets_app_session_change", args=[session.pk])),
        (TITLE, None),
    )
    context = {"form": form, "session": session, "reply": reply, "title": TITLE}
    return render_page(request, "annotations_app/case.html", crumbs, context)


def _make(request: HttpRequest, session: Session, form: CaseForm) -> HttpResponse | None:
    chosen = form.cleaned_data
    options = CaseOptions(
        int(chosen["first"]),
        chosen["rubric"],
        chosen["failure_mode"],
        [Variant(*said) for said in form.read_variants()],
        [user.get_username() for user in chosen.get("annotators", [])],
    )
    with show_refusal_in(form):
        made = make_case(session, int(chosen["reply"]), chosen["dataset"], options, actor=request.user)
        variants, readers = format_count(made.sessions - 1, "variant"), ", ".join(made.seen_by) or "nobody"
        messages.success(
            request,
            f"{made.family} is in {made.dataset.name}, with {variants}. Its raw text was seen by {readers}.",
        )
        parameters = CaseParameters(case=made.family, annotators=",".join(options.annotators))
        return start_and_show_job(request, "send_case", made.dataset, parameters)
    return None


def _list_modes(user: Any) -> Iterator[str]:
    readable = raw_access.list_readable(user)
    modes = FailureMode.objects.filter(campaign__dataset__in=readable).order_by("name")
    return iter(modes.values_list("name", flat=True).distinct()[:MAX_MODES])
