"""Erasing one session: what goes with it and who holds a copy, then a reason, then the job."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from unfold.widgets import UnfoldBooleanSwitchWidget

from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    dataset_url,
    get_visible_dataset,
    render_page,
    require_permissions,
)
from datasets_app.jobs import runs
from datasets_app.models import Dataset, Release, Session
from datasets_app.retention.erasure_preview import preview_erasure
from datasets_app.retention.pages import ReasonForm
from datasets_app.retention.session_identity import find_copies

# Of more turns than these in releases, which versions hold the session is found by the job, and not here.
MAX_TURNS_SEARCHED = 200_000


class EraseForm(ReasonForm):
    everywhere = forms.BooleanField(
        label="Also from the other datasets that have it",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Samples are copies. It goes from those that you may see.",
    )


def erase(request: HttpRequest, pk: int, session_pk: int) -> HttpResponse:
    require_permissions(request, "erase_session", "view_session")
    dataset = get_visible_dataset(request, pk)
    rows = Session.objects.filter(dataset=dataset).select_related("dataset")
    session = get_object_or_404(rows, pk=session_pk)
    copies = _find_copies(request, session)
    form = EraseForm(request.POST or None)
    if not copies:
        del form.fields["everywhere"]
    if request.method == "POST" and form.is_valid() and not dataset.legal_hold:
        asked = form.cleaned_data
        chosen = [copy.pk for copy in copies] if asked.get("everywhere") else []
        job = runs.start_job(
            "erase_session",
            actor=request.user,
            dataset=dataset,
            # Never the id: it is what is to be forgotten.
            parameters={"session": session.pk, "reason": asked["reason"], "copies": chosen},
        )
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    crumbs = dataset_breadcrumbs(dataset, ("Sessions", dataset_url(dataset, "sessions")), ("Erase", None))
    context = {"dataset": dataset, "session": session, "form": form, **_erasure_context(session, copies)}
    return render_page(request, "datasets_app/session_erase.html", crumbs, context)


def _find_copies(request: HttpRequest, session: Session) -> list[Any]:
    visible = Dataset.objects.visible_to(request.user)
    return list(find_copies(session).filter(dataset__in=visible).exclude(pk=session.pk))


def _erasure_context(session: Session, copies: list[Any]) -> dict[str, Any]:
    releases = Release.objects.filter(dataset=session.dataset_id, destroyed_at=None)
    many = sum(release.turn_count for release in releases) > MAX_TURNS_SEARCHED
    said = preview_erasure(session, include_releases=not many)
    return {
        "contents": format_counts({key: value for key, value in said.items() if type(value) is int}),
        "release_versions": said["releases"],
        "unsearched_release_count": len(releases) if many else 0,
        "handed_out": said["handed_out"],
        "copies": copies,
    }
