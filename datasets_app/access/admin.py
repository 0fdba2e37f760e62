"""Accounts and roles, with the admin's own forms."""

import logging
from collections.abc import Callable
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.options import BaseModelAdmin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group, User
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Greatest
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm

from datasets_app.access import accounts
from datasets_app.access.user_forms import InvitationForm, PersonForm, RoleForm
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.web.model_admin import ModelAdmin
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.wording import format_count
from datasets_app.templatetags.people_display import avatar
from datasets_app.templatetags.values import ago

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


_STATES = {"active": "success", "invited": "info", "inactive": ""}


class StateFilter(admin.SimpleListFilter):
    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(state, state.capitalize()) for state in _STATES]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        invited = Q(last_login=None) & Q(password__startswith=UNUSABLE_PASSWORD_PREFIX)
        chosen = {
            "active": Q(is_active=True) & ~invited,
            "invited": Q(is_active=True) & invited,
            "inactive": Q(is_active=False),
        }.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen)


def find_state(user: Any) -> str:
    """A key of _STATES. An invited person hasn't set a password, nor logged in at the company."""
    if not user.is_active:
        return "inactive"
    return "active" if user.last_login or user.has_usable_password() else "invited"


@admin.register(User)
class UserAdmin(SensitiveAdmin, BaseUserAdmin, ModelAdmin):
    """People: who they are, what they may do, and when they were here. Passwords are theirs."""

    form = PersonForm
    add_form = InvitationForm
    add_form_template = None
    change_form_template = "datasets_app/user_form.html"
    add_fieldsets = (
        (None, {"fields": ["username", ("first_name", "last_name"), "email", "is_staff", "groups"]}),
    )
    fieldsets = (
        (None, {"fields": ["username", ("first_name", "last_name"), "email", "is_active"]}),
        ("Role", {"fields": ["groups", "is_staff"]}),
    )
    superuser_fieldsets = (
        *fieldsets,
        ("More permissions", {"fields": ["is_superuser", "user_permissions"], "classes": ["collapse"]}),
    )
    change_password_form = AdminPasswordChangeForm
    add_label = "Invite"
    list_display = ["show_name", "show_email", "show_roles", "show_state", "show_last_seen"]
    list_filter = ["groups", StateFilter]
    list_display_links = ["show_name"]
    list_per_page = 50
    search_help_text = "Part of a name, user name or e-mail address"
    actions = ["send_link", "remove_second_factors", "end_sessions", "allow_company_sign_in"]

    def get_queryset(self, request: HttpRequest) -> Any:
        seen = UserSession.objects.filter(user=OuterRef("pk")).order_by("-last_seen_at")
        return (
            super()
            .get_queryset(request)
            .prefetch_related("groups")
            .annotate(last_seen=Greatest(Subquery(seen.values("last_seen_at")[:1]), "last_login"))
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.add_fieldsets
        return self.superuser_fieldsets if request.user.is_superuser else self.fieldsets

    @display(description="Name", ordering="username")
    def show_name(self, user: User) -> str:
        name = user.get_full_name()
        login = format_html('<span class="ad-subtle">{}</span>', user.get_username()) if name else ""
        return format_html(
            '<span class="ad-person">{}<span class="ad-anywhere"><b>{}</b> {}</span></span>',
            avatar(user),
            name or user.get_username(),
            login,
        )

    @display(description="E-mail", ordering="email")
    def show_email(self, user: User) -> str:
        return format_html('<span class="ad-anywhere">{}</span>', user.email or "–")

    @display(description="Role")
    def show_roles(self, user: User) -> str:
        names = ["superuser"] if user.is_superuser else []
        names += [group.name for group in user.groups.all()]
        return ", ".join(names).capitalize() or "None"

    @display(description="State", label=_STATES)
    def show_state(self, user: User) -> tuple[str, str]:
        state = find_state(user)
        return state, state.capitalize()

    @display(description="Last seen", ordering="last_seen")
    def show_last_seen(self, user: Any) -> str:
        return ago(user.last_seen) if user.last_seen else "Never"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        user = self.get_object(request, object_id)
        state = find_state(user) if user else ""
        may_change = self.has_change_permission(request, user)
        # The page of one person offers what the list does for several.
        actions = [(name, getattr(self, name).short_description) for name in self.actions]
        context = {"person": user, "state": state, "may_change": may_change, "person_actions": actions}
        context["state_color"] = {"active": "good", "invited": "info"}.get(state, "neutral")
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **context})

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _outranks(obj, request.user)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not _outranks(obj, request.user)

    def response_action(self, request: HttpRequest, queryset: Any) -> Any:
        """Actions see no account that the person couldn't change on its page."""
        own = queryset if request.user.is_superuser else queryset.exclude(is_superuser=True)
        return super().response_action(request, own)

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


def _outranks(user: User | None, other: Any) -> bool:
    """Who could set a superuser's password would be one."""
    return user is not None and user.is_superuser and not other.is_superuser


def _invite(request: HttpRequest, user: User) -> None:
    base_url = settings.BASE_URL or f"{request.scheme}://{request.get_host()}"
    try:
        link = accounts.invite(user, base_url, actor=request.user)
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
        with show_refusal(request):
            change(user, actor=request.user)
            messages.success(request, text.format(user.get_username()))


@admin.register(Group)
class GroupAdmin(SensitiveAdmin, BaseGroupAdmin, ModelAdmin):
    form = RoleForm
    filter_horizontal = ()
    list_display = ["show_name", "show_people"]
    list_display_links = ["show_name"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(people=Count("user"))

    @display(description="Role", ordering="name")
    def show_name(self, group: Group) -> str:
        return group.name.capitalize()

    @display(description="People", ordering="people")
    def show_people(self, group: Any) -> str:
        url = f"{reverse('admin:auth_user_changelist')}?groups__id__exact={group.pk}"
        return format_html('<a class="ad-link" href="{}">{}</a>', url, group.people)
