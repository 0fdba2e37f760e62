"""The form of a webhook."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, OutgoingEvent, WebhookEndpoint
from datasets_app.webhooks.access import PERMISSIONS
from datasets_app.webhooks.send import check_url


class WebhookForm(forms.ModelForm):
    """``user`` is set by the admin."""

    user: Any = None
    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=[(kind, OutgoingEvent.Kind(kind).label) for kind in PERMISSIONS],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        error_messages={"required": "Choose at least one event."},
    )

    class Meta:
        model = WebhookEndpoint
        fields = ("url", "dataset", "kinds", "active")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        permitted = {kind for kind, permission in PERMISSIONS.items() if self.user.has_perm(permission)}
        if "kinds" in self.fields:
            field: Any = self.fields["kinds"]
            field.choices = [choice for choice in field.choices if choice[0] in permitted]
        if "dataset" in self.fields:
            dataset: Any = self.fields["dataset"]
            dataset.queryset = Dataset.objects.visible_to(self.user).order_by("name")
            dataset.empty_label = "All datasets that you can see"

    def clean_url(self) -> str:
        try:
            return check_url(self.cleaned_data["url"])
        except UserError as error:
            raise forms.ValidationError(error.message) from None
