"""The form of a webhook."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from datasets_app.core.web.refusals import make_invalid
from datasets_app.models import Dataset, OutgoingEvent, WebhookEndpoint
from datasets_app.webhooks.access import PERMISSIONS
from datasets_app.webhooks.send import check_url


class WebhookForm(forms.ModelForm):
    """``user`` is set by the admin."""

    user: Any = None
    # Not "dataset": unfold takes a form with a field of that name for one of its tables.
    only_dataset = forms.ModelChoiceField(
        Dataset.objects.none(),
        label="Dataset",
        required=False,
        empty_label="All datasets that you can see",
        widget=UnfoldAdminSelectWidget,
        help_text="Only events of this dataset, or of all that you can see.",
    )
    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=[(kind.value, kind.label) for kind in OutgoingEvent.Kind if kind in PERMISSIONS],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        error_messages={"required": "Choose at least one event."},
    )

    class Meta:
        model = WebhookEndpoint
        fields = ("url", "kinds", "active")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        permitted = {kind for kind, permission in PERMISSIONS.items() if self.user.has_perm(permission)}
        if "kinds" in self.fields:
            field: Any = self.fields["kinds"]
            field.choices = [choice for choice in field.choices if choice[0] in permitted]
        if "only_dataset" in self.fields:
            dataset: Any = self.fields["only_dataset"]
            dataset.queryset = Dataset.objects.visible_to(self.user).order_by("name")
            dataset.initial = self.instance.dataset_id

    def clean_only_dataset(self) -> Dataset | None:
        dataset: Dataset | None = self.cleaned_data["only_dataset"]
        self.instance.dataset = dataset
        return dataset

    def clean_url(self) -> str:
        with make_invalid():
            return check_url(self.cleaned_data["url"])
