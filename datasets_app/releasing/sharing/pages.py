"""The sharing checklist of a dataset, and the form that signs its legal review."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset, SharingReview
from datasets_app.releasing.parameters import SignParameters
from datasets_app.releasing.sharing.checklist import YES, build_checklist, current_review
from datasets_app.releasing.sharing.sign_review import (
    MAX_STATEMENT_CHARACTERS,
    describe_end,
    format_signer,
    get_state,
    sign_review,
)

MAX_REVIEWS_SHOWN = 20


class SignReviewForm(forms.Form):
    statement = fields.LongText(
        required=False,
        max_length=MAX_STATEMENT_CHARACTERS,
        attrs={"rows": 3},
        help_text="What you reviewed, for which case, with which limits.",
    )


def sharing(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    may_sign = request.user.has_perm("datasets_app.sign_review")
    form = SignReviewForm(request.POST or None)
    if request.method == "POST":
        require_permissions(request, "sign_review")
        require_recent_sign_in(request)
        if form.is_valid() and settings.FOUR_EYES:
            parameters = SignParameters(**form.cleaned_data, **get_state(dataset)._asdict())
            return start_and_show_job(request, "sign_review", dataset, parameters)
        if form.is_valid():
            with show_refusal_in(form):
                sign_review(dataset, actor=request.user, **form.cleaned_data)
                messages.success(request, "Signed.")
                return redirect(dataset_url(dataset, "sharing"))
    items = build_checklist(dataset)
    can_be_signed = dataset.turn_count > 0 and dataset.status != Dataset.Status.EXPIRED
    context = {
        "items": items,
        "met_count": sum(item.answer == YES for item in items),
        # A refused form is shown with the reason.
        "form": form if may_sign and (form.is_bound or can_be_signed) else None,
        "signer": format_signer(request.user),
        "review": current_review(dataset),
        "end": describe_end(dataset),
        "reviews": SharingReview.objects.filter(dataset=dataset).select_related("signed_by")[
            :MAX_REVIEWS_SHOWN
        ],
    }
    return render_dataset_page(request, dataset, "sharing", "Sharing", context)
