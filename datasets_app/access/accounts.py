"""What administrators do for people's accounts: invitations, lost second factors, sessions."""

from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from alignmenter_site.mail import mail_is_configured
from alignmenter_site.sign_in_settings import LINK_SECONDS, PROVIDER_ID
from datasets_app.access.tokens import revoke_all
from datasets_app.core import audit
from datasets_app.core.errors import UserError

# What stands in for the provider's identifier until the person signs in there for the first time.
CONNECT_PREFIX = "email:"


def make_link(user: Any, base_url: str) -> str:
    """An address at which the user sets a password, valid for a day and until it is used."""
    arguments = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    return base_url + reverse("account_reset_password_from_key", kwargs=arguments)


def invite(user: Any, base_url: str, *, actor: Any) -> str:
    """Mail the user a link to set a password. Returns the link if no mail server is configured, else ""."""
    if not user.is_active:
        raise UserError(f"{user.get_username()} is not active. Activate the account first.")
    link = make_link(user, base_url)
    mailed = mail_is_configured()
    if mailed and not user.email:
        raise UserError(f"{user.get_username()} has no e-mail address. Add one first.")
    with transaction.atomic():
        audit.record("invite", actor=actor, account=user.get_username(), key=user.pk, mailed=mailed)
        if mailed:
            context = {"user": user, "link": link, "hours": LINK_SECONDS // 3600}
            text = render_to_string("account/email/invitation.txt", context)
            send_mail("Your account for Alignmenter Datasets", text, None, [user.email])
    return "" if mailed else link


@transaction.atomic
def remove_second_factors(user: Any, *, actor: Any) -> int:
    """For people who have lost theirs: removes all, and ends their sessions. Returns how many there were."""
    count: int = Authenticator.objects.filter(user=user).delete()[0]
    end_sessions(user)
    audit.record(
        "second_factor", actor=actor, change="removed", kind="all", account=user.get_username(), key=user.pk
    )
    return count


@transaction.atomic
def allow_company_sign_in(user: Any, *, actor: Any) -> None:
    """Connect the account at the next sign-in of a person with its verified e-mail address."""
    if not user.email:
        raise UserError(f"{user.get_username()} has no e-mail address. Add one first.")
    SocialAccount.objects.filter(user=user, provider=PROVIDER_ID).delete()
    SocialAccount.objects.create(user=user, provider=PROVIDER_ID, uid=CONNECT_PREFIX + user.email.lower())
    audit.record("allow_company_sign_in", actor=actor, account=user.get_username(), key=user.pk)


def end_sessions(user: Any) -> None:
    for session in UserSession.objects.filter(user=user):
        session.end()


def end_access(instance: User, **_: Any) -> None:
    """If a deactivated account is activated again, a stolen session or token of it stays dead."""
    if not instance.is_active:
        end_sessions(instance)
        revoke_all(instance, actor=audit.current_user())


def clear_expired_sessions() -> int:
    """Delete expired sessions, which name addresses of people; returns how many there were."""
    count, _ = Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
    return count
