"""Erase a person: find the sessions that name them in all datasets, list how many, then start the job."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from datasets_app.catalog import raw_access
from datasets_app.core.web import fields
from datasets_app.core.web.pages import render_page, require_permissions
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.retention.find_person import (
    MAX_CHARACTERS,
    MIN_CHARACTERS,
    FoundPerson,
    find_everywhere,
    group_by_dataset,
    make_erasure,
)
from datasets_app.retention.pages import ReasonForm


class FindPersonForm(forms.Form):
    person = fields.Text(
        label="User ID, e-mail address or name",
        min_length=MIN_CHARACTERS,
        max_length=MAX_CHARACTERS,
        attrs={"spellcheck": "false"},
        help_text="Found as whole words, in any letter case, and where a scrub hashed it. Stored nowhere.",
    )


def erase_person(request: HttpRequest) -> HttpResponse:
    """POST ``do``: "find" lists the sessions, "erase" with a reason starts the job."""
    require_permissions(request, "erase_session", "view_session")
    is_erasing = request.POST.get("do") == "erase"
    find_form = FindPersonForm(request.POST or None)
    reason_form = ReasonForm(request.POST if is_erasing else None)
    found = _find(request, find_form) if request.method == "POST" and find_form.is_valid() else None
    listed = group_by_dataset(found.sessions if found is not None else [])
    held = found.list_held() if found else []
    if found and is_erasing and reason_form.is_valid() and not held:
        if found.gap:
            messages.warning(request, found.gap)
        parameters = make_erasure(found, reason_form.cleaned_data["reason"])
        dataset, name = found.first_dataset()
        return start_and_show_job(request, "erase_session", dataset, parameters, dataset_name=name)
    for row in listed:
        raw_access.record_access(row.dataset, request.user, place="find a person", sessions=row.sessions)
    context = {
        "find_form": find_form,
        "reason_form": reason_form,
        "person": request.POST.get("person", ""),
        "found": found,
        "listed": listed,
        "has_searched": found is not None,
        "rest": found.describe_rest() if found is not None else [],
        "sessions": len(found.sessions) if found else 0,
        "held": held,
    }
    return render_page(request, "datasets_app/erase_person.html", [("Erase a person", None)], context)


def _find(request: HttpRequest, form: FindPersonForm) -> FoundPerson | None:
    """None if it can't be searched; the form says why."""
    with show_refusal_in(form, "person"):
        return find_everywhere(form.cleaned_data["person"], request.user)
    return None
