"""What must hold before a dataset is shared, as a page; and where the review is signed."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from datasets_app.core.errors import Refused
from datasets_app.core.web.dataset_page import dataset_page
from datasets_app.core.web.pages import dataset_address, require, visible_dataset
from datasets_app.models import Dataset, SharingReview
from datasets_app.releasing.sharing.checklist import YES, review_in_force, sharing_list
from datasets_app.releasing.sharing.sign_review import LONGEST_NAME, LONGEST_STATEMENT, sign_review

REVIEWS_SHOWN = 20


class SignForm(forms.Form):
    name = forms.CharField(
        label="Your full name",
        max_length=LONGEST_NAME,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "name"}),
        help_text="It goes on record, and into every package of this dataset.",
    )
    statement = forms.CharField(
        required=False,
        max_length=LONGEST_STATEMENT,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="What was looked at, under which case, with which limits.",
    )


def sharing(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = visible_dataset(request, pk)
    may_sign = request.user.has_perm("datasets_app.sign_review")
    form = SignForm(request.POST or None)
    if request.method == "POST":
        require(request, "sign_review")
        if form.is_valid() and _signed(request, dataset, form):
            return redirect(dataset_address(dataset, "sharing"))
    items = sharing_list(dataset)
    context = {
        "items": items,
        "held": sum(item.answer == YES for item in items),
        # What was refused is shown with the reason.
        "form": form if may_sign and (form.is_bound or _can_be_signed(dataset)) else None,
        "review": review_in_force(dataset),
        "reviews": SharingReview.objects.filter(dataset=dataset).select_related("signed_by")[:REVIEWS_SHOWN],
    }
    return dataset_page(request, dataset, "sharing", "Sharing", context)


def _can_be_signed(dataset: Dataset) -> bool:
    return dataset.turn_count > 0 and dataset.status != Dataset.Status.EXPIRED


def _signed(request: HttpRequest, dataset: Dataset, form: SignForm) -> bool:
    try:
        sign_review(dataset, actor=request.user, **form.cleaned_data)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return False
    messages.success(request, "Signed.")
    return True
