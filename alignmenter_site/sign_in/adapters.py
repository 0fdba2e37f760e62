"""Our rules for django-allauth."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.stagekit import clear_login
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import get_language, gettext, gettext_lazy, override

from alignmenter_site.client_address import client_address
from alignmenter_site.keys.derived_key import make_fernet
from alignmenter_site.sign_in import company, events
from datasets_app.core.web.reauthentication import mark_recent_sign_in, require_recent_sign_in

log = logging.getLogger(__name__)
mail_thread = ThreadPoolExecutor(1, "mail")
# One message for all failures, so that nobody learns which names exist or that an account is locked.
FAILED = format_lazy(
    gettext_lazy(
        "Wrong user name or password. After {failures} failures, nobody can log in for {minutes} minutes."
    ),
    failures=settings.SIGN_IN_FAILURES,
    minutes=settings.LOCKOUT_MINUTES,
)


class AccountAdapter(DefaultAccountAdapter):
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        **dict.fromkeys(("username_password_mismatch", "invalid_login", "account_inactive"), FAILED),
        "incorrect_password": gettext_lazy("Wrong password."),
        "too_many_login_attempts": format_lazy(
            gettext_lazy("Too many failures. Try again in {minutes} minutes."),
            minutes=settings.LOCKOUT_MINUTES,
        ),
        "invalid_password_reset": gettext_lazy("This link is invalid or has expired. Ask for a new one."),
    }

    def is_open_for_signup(self, request: Any) -> bool:
        return False

    def get_client_ip(self, request: Any) -> str:
        return client_address(request)

    def get_reset_password_from_key_url(self, key: str) -> str:
        """A link that is mailed, to BASE_URL if that is set. ALLOWED_HOSTS names its host else, but anybody
        who asks chooses the port in the Host header: only the server's own port, and those of
        CSRF_TRUSTED_ORIGINS, are kept."""
        link = urlsplit(super().get_reset_password_from_key_url(key))
        if settings.BASE_URL:
            return f"{settings.BASE_URL}{link.path}"
        # On a Unix socket, where clients have no address, SERVER_PORT is taken from the Host header.
        own = {self.request.META.get("SERVER_PORT")} if self.request.META.get("REMOTE_ADDR") else set()
        own |= {str(urlsplit(origin).port) for origin in settings.CSRF_TRUSTED_ORIGINS}
        if link.port is not None and str(link.port) not in own:
            link = link._replace(netloc=link.netloc.rpartition(":")[0])
        return urlunsplit(link)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Later: the time of the answer, or its failure, would tell which addresses have accounts."""
        run = copy_context().run
        send = override(get_language())(super().send_mail)  # a thread has no language of its own
        mail_thread.submit(run, _send, send, template_prefix, email, context)

    def _get_login_attempts_cache_key(self, request: Any, **credentials: Any) -> str:
        """By account alone: the host, which django-allauth adds, is sent by the client."""
        return str(credentials.get("username", "")).strip().casefold()

    def pre_authenticate(self, request: Any, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            events.record_lockout(credentials.get("username", ""))
            raise self.validation_error("invalid_login") from None

    def authentication_failed(self, request: Any, **credentials: Any) -> None:
        events.record_failure(credentials.get("username", ""), "password")

    def pre_login(self, request: Any, user: Any, **options: Any) -> HttpResponse | None:
        methods = {record["method"] for record in get_authentication_records(request, user)}
        if "socialaccount" not in methods and company.has_company_sign_in(user):
            clear_login(request)
            events.record_failure(user.get_username(), "not by the company's sign-in")
            messages.error(request, FAILED)
            return redirect("login")
        response: HttpResponse | None = super().pre_login(request, user, **options)
        return response

    def respond_user_inactive(self, request: Any, user: Any) -> HttpResponse:
        messages.error(request, FAILED)
        return redirect("login")

    def post_login(self, request: Any, user: Any, *, redirect_url: str | None, **options: Any) -> Any:
        """Drop the address of annotators if it leads to a page that would refuse them."""
        if not user.is_staff and not (redirect_url or "").startswith(reverse("annotate:campaigns")):
            redirect_url = reverse("home")
        return super().post_login(request, user, redirect_url=redirect_url, **options)

    def is_reauthentication_required(self, *, app: str, **options: Any) -> bool:
        """Not left to django-allauth, which believes people without a password."""
        require_recent_sign_in(self.request)
        return False

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if user.is_authenticated and company.has_company_sign_in(user):
            url = reverse("company_reauthenticate")
            methods = [
                {
                    "id": "company",
                    "description": gettext("Use your %(name)s") % {"name": settings.COMPANY_SIGN_IN},
                    "url": url,
                },
                *(method for method in methods if method["id"] != "reauthenticate"),
            ]
        return methods


def _send(send: Callable[..., None], *arguments: Any) -> None:
    try:
        send(*arguments)
    except Exception as error:
        # Not the error's own words: they may quote the address.
        log.error("A mail with a link to set a password could not be sent (%s).", type(error).__name__)


class CompanyAdapter(DefaultSocialAccountAdapter):
    def get_provider(self, request: Any, provider: Any, client_id: Any = None) -> Any:
        return company.CompanyProvider(request, app=super().get_provider(request, provider, client_id).app)

    def is_open_for_signup(self, request: Any, sociallogin: Any) -> bool:
        # pre_social_login has refused everybody without a role.
        return True

    def pre_social_login(self, request: Any, sociallogin: Any) -> None:
        if not company.is_answer(sociallogin.account.extra_data, sociallogin.state.get("nonce")):
            events.record_failure("", "an answer of the company's sign-in to another request")
            raise _refuse(request, gettext("This answer belongs to another sign-in. Sign in again."))
        claims = company.get_claims(sociallogin.account.extra_data)
        process = sociallogin.state.get("process")
        if process == AuthProcess.REDIRECT:
            return self._reauthenticate(request, sociallogin, claims)
        if process != AuthProcess.LOGIN:
            # Connecting one's own account would let another site connect it to theirs.
            raise _refuse(request, gettext("Only an administrator can connect accounts."))
        if not (roles := company.map_roles(claims)):
            if sociallogin.is_existing:
                company.set_roles(sociallogin.user, [])
            events.record_failure("", "no role for a person of the company's sign-in")
            raise _refuse(request, gettext("None of your groups has access to this application."))
        if not sociallogin.is_existing:
            self._connect_allowed(request, sociallogin, claims)
        if sociallogin.is_existing:
            company.set_roles(sociallogin.user, roles)
        request.used_second_factor = company.used_second_factor(claims)
        return None

    def _connect_allowed(self, request: Any, sociallogin: Any, claims: dict[str, Any]) -> None:
        """Connect an account that an administrator has allowed; refuse to create a second one."""
        if allowed := company.find_allowed_account(claims):
            allowed.uid, allowed.extra_data = sociallogin.account.uid, sociallogin.account.extra_data
            allowed.save()
            sociallogin.account, sociallogin.user = allowed, allowed.user
            return
        email = str(claims.get("email") or "")
        if email and company.is_email_taken(email):
            raise _refuse(
                request,
                gettext("There is an account with your e-mail address already, which isn't connected yet."),
            )

    def _reauthenticate(self, request: Any, sociallogin: Any, claims: dict[str, Any]) -> None:
        if sociallogin.is_existing and sociallogin.user == request.user and company.is_fresh(claims):
            mark_recent_sign_in(request)
            return
        raise _refuse(request, gettext("You signed in with another account, or not anew."))

    def save_user(self, request: Any, sociallogin: Any, form: Any = None) -> Any:
        user = super().save_user(request, sociallogin, form)
        company.set_roles(user, company.map_roles(company.get_claims(sociallogin.account.extra_data)))
        return user


class SecondFactorAdapter(DefaultMFAAdapter):
    """Encrypts secrets of authenticator apps and recovery codes in the database."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy("Wrong or expired code."),
    }

    def encrypt(self, text: str) -> str:
        return make_fernet("second factors").encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return make_fernet("second factors").decrypt(encrypted_text.encode()).decode()

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        return "Passkey"

    def get_totp_label(self, user: Any) -> str:
        return str(user.get_username())

    def _get_site_name(self) -> str:
        return "Alignmenter Datasets"

    def build_totp_svg(self, url: str) -> str:
        svg: str = super().build_totp_svg(url)
        return svg[svg.index("<svg") :]


def _refuse(request: Any, reason: str) -> ImmediateHttpResponse:
    return ImmediateHttpResponse(
        render(request, "socialaccount/authentication_error.html", {"reason": reason}, status=403)
    )
