"""The forms of accounts and roles: what an administrator decides, and nothing raw."""

from typing import Any

from django import forms
from django.contrib.auth.models import Group, Permission, User
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from datasets_app.access.roles import ROLES

_STANDARD_VERBS = ("add_", "change_", "delete_", "view_")


_HELP_TEXTS = {
    "username": "For logging in: letters, digits and @ . + - _",
    "is_active": "Can log in. Turn this off instead of deleting the account.",
    "is_staff": "Can open datasets and administration; others reach only the queue for labeling.",
    "is_superuser": "Can do everything, without any role.",
}
_LABELS = {"username": "User name", "is_staff": "Not only an annotator", "is_superuser": "Superuser"}


class RolesField(forms.ModelMultipleChoiceField):
    """All roles as checkboxes."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget

    def __init__(self) -> None:
        super().__init__(Group.objects.order_by("name"), label="Roles", required=False)

    def label_from_instance(self, group: Any) -> str:
        return str(group.name).capitalize()


class PermissionsField(forms.ModelMultipleChoiceField):
    """Permissions as checkboxes, in the words of their descriptions."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget(attrs={"data-picker": True})

    def label_from_instance(self, permission: Any) -> str:
        text = str(permission.name).removeprefix("Can ")
        return text[:1].upper() + text[1:]


def _list_own_apps() -> set[str]:
    """Those with permissions that roles have."""
    return {name.partition(".")[0] for names in ROLES.values() for name in names}


def special_permissions() -> Any:
    """Those of this application that aren't about rows of one table."""
    rows = Permission.objects.filter(content_type__app_label__in=_list_own_apps())
    for verb in _STANDARD_VERBS:
        rows = rows.exclude(codename__startswith=verb)
    return rows.order_by("name")


def role_permissions() -> Any:
    """What a role can be made of: permissions of this application, and of accounts and roles."""
    own = Permission.objects.filter(content_type__app_label__in=_list_own_apps())
    accounts = Permission.objects.filter(content_type__app_label="auth").exclude(
        content_type__model="permission"
    )
    return (own | accounts).order_by("name")


class InvitationForm(forms.ModelForm):
    """An account without a password: the person sets one with the link in the invitation."""

    email = forms.EmailField(
        label="E-mail address", help_text="The invitation is sent there.", widget=UnfoldAdminEmailInputWidget
    )
    groups = RolesField()

    class Meta:
        model = User
        fields = ["username", "first_name", "last_name", "email", "is_staff", "groups"]
        labels, help_texts = _LABELS, _HELP_TEXTS

    def save(self, commit: bool = True) -> User:
        self.instance.set_unusable_password()
        return super().save(commit)


class PersonForm(forms.ModelForm):
    """One account. Superusers may also make superusers and give single permissions."""

    email = forms.EmailField(label="E-mail address", required=False, widget=UnfoldAdminEmailInputWidget)
    groups = RolesField()
    user_permissions = PermissionsField(
        Permission.objects.none(),
        label="Permissions beyond the roles",
        required=False,
        help_text="Given to this person alone; roles are easier to review.",
    )

    class Meta:
        model = User
        fields = [
            "username", "first_name", "last_name", "email", "is_active", "is_staff", "groups",
            "is_superuser", "user_permissions",
        ]  # fmt: skip
        labels, help_texts = _LABELS, _HELP_TEXTS
        widgets = {
            "username": UnfoldAdminTextInputWidget,
            "first_name": UnfoldAdminTextInputWidget,
            "last_name": UnfoldAdminTextInputWidget,
            "is_active": UnfoldBooleanWidget,
            "is_staff": UnfoldBooleanWidget,
            "is_superuser": UnfoldBooleanWidget,
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if field := self.fields.get("user_permissions"):
            held = Permission.objects.filter(user=self.instance.pk)
            field.queryset = Permission.objects.filter(
                pk__in=[
                    *special_permissions().values_list("pk", flat=True),
                    *held.values_list("pk", flat=True),
                ]
            ).order_by("name")


class RoleForm(forms.ModelForm):
    permissions = PermissionsField(Permission.objects.none(), label="Permissions", required=False)

    class Meta:
        model = Group
        fields = ["name", "permissions"]
        widgets = {"name": UnfoldAdminTextInputWidget}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["permissions"].queryset = role_permissions()
