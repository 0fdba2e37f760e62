"""The company's own sign-in (OpenID Connect): who gets in, and with which roles.

Those who sign in there can't sign in here any other way: a person who leaves the company must not keep a
password. Their roles are set from the provider's groups each time. An account is created only for people
with a mapped role; an existing one is connected once an administrator has allowed it.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from alignmenter_site.sign_in_settings import PROVIDER_ID
from datasets_app.access.accounts import CONNECT_PREFIX
from datasets_app.access.demo_accounts import ANNOTATOR_ROLE
from datasets_app.core import audit


class CompanyProvider(OpenIDConnectProvider):  # type: ignore[misc]
    """Sends a nonce, which django-allauth doesn't: the provider's answer then is one to this browser, also if
    the provider doesn't check PKCE."""

    def redirect(
        self, request: Any, process: Any, next_url: Any = None, data: Any = None, **options: Any
    ) -> Any:
        nonce = secrets.token_urlsafe(32)
        auth_params = {**(options.pop("auth_params", None) or self.get_auth_params()), "nonce": nonce}
        return super().redirect(
            request, process, next_url, data, auth_params=auth_params, nonce=nonce, **options
        )


def is_answer(extra_data: Mapping[str, Any], nonce: Any) -> bool:
    """Whether the provider's tokens answer the request with this nonce, and are of one person (OpenID Connect
    Core 3.1.3.7 and 5.3.2)."""
    token, user = extra_data.get("id_token") or {}, extra_data.get("userinfo") or {}
    sent = token.get("nonce")
    is_ours = isinstance(nonce, str) and isinstance(sent, str) and secrets.compare_digest(sent, nonce)
    return is_ours and user.get("sub") == token.get("sub")


def has_company_sign_in(user: Any) -> bool:
    accounts = SocialAccount.objects.filter(user=user, provider=PROVIDER_ID)
    return accounts.exclude(uid__startswith=CONNECT_PREFIX).exists()


def map_roles(claims: dict[str, Any]) -> list[str]:
    """The roles of a person with these claims, from the groups in COMPANY_GROUPS_CLAIM."""
    groups = claims.get(settings.COMPANY_GROUPS_CLAIM) or []
    groups = groups if isinstance(groups, list) else [groups]
    known = settings.COMPANY_ROLES
    # A provider may send anything, such as objects.
    return sorted({known[group] for group in groups if isinstance(group, str) and group in known})


def get_claims(extra_data: dict[str, Any]) -> dict[str, Any]:
    """What the provider says about a person; its answer about the user goes before the token."""
    return {**(extra_data.get("id_token") or {}), **(extra_data.get("userinfo") or {})}


def is_fresh(claims: dict[str, Any]) -> bool:
    """Whether the provider has just asked the person to sign in, and not only remembered them.

    It must say so: the address that asks it for that can be changed by the person at the keyboard.
    """
    signed_in_at = claims.get("auth_time")
    return isinstance(signed_in_at, int) and time.time() - signed_in_at < settings.RECENT_SIGN_IN_SECONDS


def used_second_factor(claims: dict[str, Any]) -> bool:
    """Whether the provider says that the person signed in with several factors (RFC 8176)."""
    methods = claims.get("amr")
    return isinstance(methods, list) and "mfa" in methods


def find_allowed_account(claims: dict[str, Any]) -> SocialAccount | None:
    """The account that an administrator has allowed to be connected to this verified e-mail address."""
    email = str(claims.get("email") or "").lower()
    if not email or claims.get("email_verified") is not True:
        return None
    return SocialAccount.objects.filter(provider=PROVIDER_ID, uid=CONNECT_PREFIX + email).first()


def is_email_taken(email: str) -> bool:
    return (
        User.objects.filter(email__iexact=email).exists()
        or EmailAddress.objects.filter(email__iexact=email).exists()
    )


@transaction.atomic
def set_roles(user: Any, roles: list[str]) -> None:
    """Give the user exactly these roles; groups that no provider's group maps to stay as they are."""
    mapped = set(settings.COMPANY_ROLES.values())
    held = set(user.groups.filter(name__in=mapped).values_list("name", flat=True))
    with audit.acting_as(user):
        if removed := held - set(roles):
            user.groups.remove(*Group.objects.filter(name__in=removed))
        if added := set(roles) - held:
            user.groups.add(*Group.objects.filter(name__in=added))
        is_staff = user.is_superuser or user.groups.exclude(name=ANNOTATOR_ROLE).exists()
        if user.is_staff != is_staff:
            user.is_staff = is_staff
            user.save(update_fields=["is_staff"])
