"""Erase one session: preview the erasure and the recipients of copies, then start the job."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from datasets_app.catalog import raw_access
from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.errors import UserError
from datasets_app.core.web import fields
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    dataset_url,
    get_visible_dataset,
    render_page,
)
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset, Release, Session
from datasets_app.retention.erasure_preview import preview_erasure
from datasets_app.retention.pages import ReasonForm
from datasets_app.retention.parameters import EraseParameters
from datasets_app.retention.session_identity import find_copies

# With more turns in releases, the job finds which versions contain the session, not this page.
MAX_TURNS_SEARCHED = 200_000


class EraseForm(ReasonForm):
    everywhere = fields.Switch(
        label="Also erase copies in other datasets",
        help_text="Samples and loaded releases are copies, too. Erases copies in datasets you can access.",
    )


def erase(request: HttpRequest, pk: int, session_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "erase_session", "view_session")
    rows = Session.objects.filter(dataset=dataset).select_related("dataset")
    session = get_object_or_404(rows, pk=session_pk)
    copies = _find_copies(request, session)
    form = EraseForm(request.POST or None)
    if not copies:
        del form.fields["everywhere"]
    if request.method == "POST" and form.is_valid() and not dataset.legal_hold:
        cleaned = form.cleaned_data
        selected = [copy.pk for copy in copies] if cleaned.get("everywhere") else []
        parameters = EraseParameters(session=session.pk, reason=cleaned["reason"], copies=selected)
        return start_and_show_job(request, "erase_session", dataset, parameters)
    may_read = raw_access.may_read(request.user, dataset)
    if may_read:
        raw_access.record_access(dataset, request.user, place="erase", session=session.pk)
    crumbs = dataset_breadcrumbs(dataset, ("Sessions", dataset_url(dataset, "sessions")), ("Erase", None))
    context = {
        "dataset": dataset,
        "session": session,
        "session_label": session.session_id if may_read else raw_access.get_session_label(session),
        "form": form,
        **_erasure_context(session, copies),
    }
    return render_page(request, "datasets_app/session_erase.html", crumbs, context)


def _find_copies(request: HttpRequest, session: Session) -> list[Any]:
    visible = Dataset.objects.visible_to(request.user)
    return [copy for copy in find_copies(session, visible) if copy.pk != session.pk]


def _erasure_context(session: Session, copies: list[Any]) -> dict[str, Any]:
    releases = Release.objects.filter(dataset=session.dataset_id, destroyed_at=None)
    too_many = sum(release.turn_count for release in releases) > MAX_TURNS_SEARCHED
    try:
        preview = preview_erasure(session, include_releases=not too_many)
        described = _describe_releases(preview["releases"], len(releases) if too_many else 0)
    except UserError as error:  # the file of a release is missing or was changed
        preview = preview_erasure(session, include_releases=False)
        described = f"{error} Nothing is erased until it is restored."
    return {
        "contents": format_counts({key: value for key, value in preview.items() if type(value) is int}),
        "releases": described,
        "handed_out": preview["handed_out"],
        "copies": copies,
    }


def _describe_releases(versions: list[str], unsearched: int) -> str:
    if unsearched:
        return (
            f"The job searches all {unsearched:,} releases for it. Each release with the session gets a new "
            "patch version without it, and its old file is destroyed."
        )
    if not versions:
        return "No release contains it."
    gets = f"Release {versions[0]} gets" if len(versions) == 1 else f"Releases {', '.join(versions)} each get"
    return f"{gets} a new patch version without it. The old files are destroyed."
