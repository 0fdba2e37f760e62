"""The choice of people who label."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget


def users_who_can_annotate() -> QuerySet[Any]:
    """Active users with the permission to label, from whatever group."""
    backend = "django.contrib.auth.backends.ModelBackend"
    users: QuerySet[Any] = User.objects.with_perm("annotations_app.annotate", backend=backend)
    return users.order_by("username")


class UserMultipleChoiceField(forms.ModelMultipleChoiceField):
    """Checkboxes labeled with user names; the form sets ``queryset``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            User.objects.none(),
            widget=UnfoldAdminCheckboxSelectMultipleWidget(attrs={"class": "ad-check", "data-picker": True}),
            error_messages={"required": "Choose at least one person."},
            **options,
        )

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.get_username())
