"""Accounts and roles, with the admin's own forms."""

import logging
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import BaseModelAdmin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from unfold.forms import AdminPasswordChangeForm, UserChangeForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminEmailInputWidget

from datasets_app.access import accounts
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.web.model_admin import ModelAdmin
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.domain.wording import format_count

admin.site.unregister(User)
admin.site.unregister(Group)
log = logging.getLogger(__name__)


class SensitiveAdmin(BaseModelAdmin):
    """Changes of accounts and roles take a recent sign-in: with a stolen session they would open all else."""

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if request.method == "POST" and self.has_view_or_change_permission(request):
            require_recent_sign_in(request)
        return super().changeform_view(request, *args, **options)

    def delete_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if request.method == "POST" and self.has_delete_permission(request):
            require_recent_sign_in(request)
        return super().delete_view(request, *args, **options)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        require_recent_sign_in(request)
        super().delete_queryset(request, queryset)


class InvitationForm(forms.ModelForm):
    """An account without a password: the person sets one with the link in the invitation."""

    email = forms.EmailField(
        label="E-mail address", help_text="The invitation is sent there.", widget=UnfoldAdminEmailInputWidget
    )
    groups = forms.ModelMultipleChoiceField(
        Group.objects.order_by("name"),
        label="Roles",
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = User
        fields = ["username", "email", "is_staff", "groups"]

    def save(self, commit: bool = True) -> User:
        self.instance.set_unusable_password()
        return super().save(commit)


@admin.register(User)
class UserAdmin(SensitiveAdmin, BaseUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = InvitationForm
    add_form_template = None
    add_fieldsets = ((None, {"fields": ["username", "email", "is_staff", "groups"]}),)
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "is_active", "is_staff", "last_login"]
    actions = ["send_link", "remove_second_factors", "end_sessions", "allow_company_sign_in"]

    def response_add(self, request: HttpRequest, obj: User, post_url_continue: Any = None) -> HttpResponse:
        _invite(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def user_change_password(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if self.has_change_permission(request):
            require_recent_sign_in(request)  # before a password is typed, which must not be kept
        return super().user_change_password(request, *args, **options)

    @admin.action(description="Send link to set a password", permissions=["change"])
    def send_link(self, request: HttpRequest, users: Any) -> None:
        require_recent_sign_in(request)
        for user in users:
            _invite(request, user)

    @admin.action(description="Remove second factors", permissions=["change"])
    def remove_second_factors(self, request: HttpRequest, users: Any) -> None:
        require_recent_sign_in(request)
        _apply(request, users, accounts.remove_second_factors, "Removed the second factors of {}.")

    @admin.action(description="End sessions", permissions=["change"])
    def end_sessions(self, request: HttpRequest, users: Any) -> None:
        for user in users:
            accounts.end_sessions(user)
            audit.record("end_sessions", actor=request.user, account=user.get_username(), key=user.pk)
        messages.success(request, f"Ended the sessions of {format_count(len(users), 'user')}.")

    @admin.action(description="Allow company sign-in", permissions=["change"])
    def allow_company_sign_in(self, request: HttpRequest, users: Any) -> None:
        require_recent_sign_in(request)
        text = "{} can sign in at the company now, with their e-mail address there."
        _apply(request, users, accounts.allow_company_sign_in, text)


def _invite(request: HttpRequest, user: User) -> None:
    try:
        link = accounts.invite(user, f"{request.scheme}://{request.get_host()}", actor=request.user)
    except UserError as error:
        messages.error(request, error.message)
    except OSError as error:
        log.error("an invitation can't be sent: %s", type(error).__name__)
        messages.error(
            request, "The mail server can't be reached. Send the link later, from the list of users."
        )
    else:
        name = user.get_username()
        text = (
            f"Give this link to {name}; it is valid for a day: {link}" if link else f"Sent a link to {name}."
        )
        messages.success(request, text)


def _apply(request: HttpRequest, users: Any, change: Callable[..., Any], text: str) -> None:
    for user in users:
        try:
            change(user, actor=request.user)
            messages.success(request, text.format(user.get_username()))
        except UserError as error:
            messages.error(request, error.message)


@admin.register(Group)
class GroupAdmin(SensitiveAdmin, BaseGroupAdmin, ModelAdmin):
    pass
