"""Erasing one session: what goes with it and who holds a copy, then a reason, then the job."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from unfold.widgets import UnfoldBooleanSwitchWidget

from datasets_app.core.deletion_summary import counts_in_words
from datasets_app.core.web.pages import dataset_address, dataset_crumbs, render_page, require, visible_dataset
from datasets_app.jobs import runs
from datasets_app.models import Dataset, Release, Session
from datasets_app.retention.erase_session import rehearse_erasure, same_session
from datasets_app.retention.pages import ReasonForm

# Of more turns than these in releases, which versions hold the session is found by the job, and not here.
TURNS_LOOKED_THROUGH = 200_000


class EraseForm(ReasonForm):
    everywhere = forms.BooleanField(
        label="Also from the other datasets that have it",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Samples are copies. It goes from those that you may see.",
    )


def erase(request: HttpRequest, pk: int, session_pk: int) -> HttpResponse:
    require(request, "erase_session", "view_session")
    dataset = visible_dataset(request, pk)
    rows = Session.objects.filter(dataset=dataset).select_related("dataset")
    session = get_object_or_404(rows, pk=session_pk)
    copies = _copies(request, session)
    form = EraseForm(request.POST or None)
    if not copies:
        del form.fields["everywhere"]
    if request.method == "POST" and form.is_valid() and not dataset.legal_hold:
        asked = form.cleaned_data
        chosen = [copy.pk for copy in copies] if asked.get("everywhere") else []
        job = runs.start(
            "erase_session",
            actor=request.user,
            dataset=dataset,
            # Never the id: it is what is to be forgotten.
            parameters={"session": session.pk, "reason": asked["reason"], "copies": chosen},
        )
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    crumbs = dataset_crumbs(dataset, ("Sessions", dataset_address(dataset, "sessions")), ("Erase", None))
    context = {"dataset": dataset, "session": session, "form": form, **_said(session, copies)}
    return render_page(request, "datasets_app/session_erase.html", crumbs, context)


def _copies(request: HttpRequest, session: Session) -> list[Any]:
    visible = Dataset.objects.visible_to(request.user)
    return list(same_session(session).filter(dataset__in=visible).exclude(pk=session.pk))


def _said(session: Session, copies: list[Any]) -> dict[str, Any]:
    releases = Release.objects.filter(dataset=session.dataset_id, destroyed_at=None)
    many = sum(release.turn_count for release in releases) > TURNS_LOOKED_THROUGH
    said = rehearse_erasure(session, look_into_releases=not many)
    return {
        "contents": counts_in_words({key: value for key, value in said.items() if type(value) is int}),
        "release_versions": said["releases"],
        "releases_unknown": len(releases) if many else 0,
        "handed_out": said["handed_out"],
        "copies": copies,
    }
