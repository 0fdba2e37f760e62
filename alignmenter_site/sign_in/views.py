"""Pages for signing in and for one's own account, on top of those of django-allauth."""

from typing import Any

from allauth.account.internal import flows
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.account.views import PasswordResetFromKeyView as BasePasswordResetFromKeyView
from allauth.account.views import PasswordResetView as BasePasswordResetView
from allauth.decorators import rate_limit
from allauth.mfa.base.views import IndexView
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.socialaccount.providers.openid_connect import views as company_sign_in
from allauth.usersessions.internal.flows import sessions as session_flows
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.urls import reverse, reverse_lazy
from django.utils import translation
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe
from django.views.i18n import JavaScriptCatalog

from alignmenter_site.mail import mail_is_configured
from alignmenter_site.middleware import language
from alignmenter_site.middleware.second_factor import lacks_second_factor
from alignmenter_site.sign_in.company import has_company_sign_in
from alignmenter_site.sign_in.forms import ChangePasswordForm
from alignmenter_site.sign_in_settings import PROVIDER_ID
from datasets_app.core import audit
from datasets_app.core.web.reauthentication import signed_in_recently
from datasets_app.models import Preferences

SIGN_IN_ANEW = urlencode({"prompt": "login", "max_age": 0})


@login_required
def home(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    return redirect("admin:index" if user.is_staff else "annotate:campaigns")


def redirect_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect the admin's own login page to the one for all accounts."""
    url = request.GET.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    return redirect_to_login(url if is_safe else resolve_url("admin:index"))


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """Sign out, and have the browser forget our pages.

    Its storage may hold decisions of other annotators who share this browser, so it is cleared only if a
    script says that nothing waits there (logout.js).
    """
    flows.logout.logout(request, show_message=False)
    response = redirect("login")
    kinds = ["cache", "storage"] if request.POST.get("storage") == "empty" else ["cache"]
    response["Clear-Site-Data"] = ", ".join(f'"{kind}"' for kind in kinds)
    return response


class PasskeyLoginView(LoginWebAuthnView):
    def form_valid(self, form: Any) -> HttpResponse:
        authenticator = form.cleaned_data["credential"]
        login = Login(user=authenticator.user, redirect_url=get_next_redirect_url(self.request))
        response: HttpResponse = perform_passwordless_login(self.request, authenticator, login)
        return response


class AccountView(IndexView):
    """One's own account: password, second factors, sessions."""

    template_name = "account/overview.html"

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**options),
            "lacks_second_factor": lacks_second_factor(self.request),
            "has_company_sign_in": has_company_sign_in(self.request.user),
            "languages": settings.LANGUAGES,
            "chosen_language": self.request.session.get(language.CHOSEN_LANGUAGE, ""),
            "session_count": len(UserSession.objects.purge_and_list(self.request.user)),
        }


@method_decorator([login_required, rate_limit(action="change_password")], name="dispatch")
class PasswordChangeView(auth_views.PasswordChangeView):
    template_name = "password_change.html"
    form_class = ChangePasswordForm

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if not request.user.has_usable_password() or has_company_sign_in(request.user):
            return redirect("account")
        return super().dispatch(request, *args, **options)

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        # Other sessions have ended; this one has got another key.
        UserSession.objects.create_from_request(self.request)
        return response


class PasswordResetView(BasePasswordResetView):
    def get_context_data(self, **options: Any) -> dict[str, Any]:
        return {**super().get_context_data(**options), "mail_is_configured": mail_is_configured()}


class PasswordResetFromKeyView(BasePasswordResetFromKeyView):
    def form_valid(self, form: Any) -> HttpResponse:
        with audit.acting_as(self.reset_user):
            response: HttpResponse = super().form_valid(form)
        return response


class SessionsView(ListUserSessionsView):
    """One's own sessions. A POST ends one (``session``) or all others."""

    success_url = reverse_lazy("usersessions_list")

    def form_valid(self, form: Any) -> HttpResponse:
        sessions = UserSession.objects.filter(user=self.request.user)
        if pk := self.request.POST.get("session", ""):
            ended = [get_object_or_404(sessions, pk=pk if pk.isdigit() else 0)]
        else:
            ended = [session for session in sessions if not session.is_current()]
        audit.record("end_sessions", actor=self.request.user, sessions=len(ended))
        ends_own = any(session.is_current() for session in ended)
        session_flows.end_sessions(self.request, ended)
        if ends_own:
            return redirect("login")
        messages.success(
            self.request, gettext("Session ended.") if pk else gettext("All other sessions ended.")
        )
        return redirect(self.get_success_url())


@require_safe
def start_company_sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Go to the provider. A link may ask it to sign people in anew, as ours does; django-allauth would let it
    replace any parameter, such as the address to come back to, or add scopes."""
    if request.GET.get("auth_params", SIGN_IN_ANEW) != SIGN_IN_ANEW or "scope" in request.GET:
        raise Http404
    response: HttpResponse = company_sign_in.login(request, provider_id)
    return response


@login_required
def reauthenticate_by_company(request: HttpRequest) -> HttpResponse:
    """Send people who sign in at their company there again; afterwards, send the waiting form."""
    if signed_in_recently(request):
        return flows.reauthentication.resume_request(request) or redirect("home")
    parameters = {
        "process": "redirect",
        "next": reverse("company_reauthenticate"),
        "auth_params": SIGN_IN_ANEW,
    }
    url = reverse("openid_connect_login", args=[PROVIDER_ID])
    context = {"url": f"{url}?{urlencode(parameters)}", "name": settings.COMPANY_SIGN_IN}
    return render(request, "account/reauthenticate_company.html", context)


@login_required
@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Choose a language for one's account, or ("") that of the browser."""
    chosen = request.POST.get("language", "")
    if chosen not in {"", *dict(settings.LANGUAGES)}:
        raise Http404
    Preferences.objects.update_or_create(user=request.user, defaults={"language": chosen})
    language.remember(request, chosen)
    return redirect("account")


@require_safe
def script_strings(request: HttpRequest, language: str) -> HttpResponse:
    """The strings of our scripts in a language, and the functions that look them up."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(language):
        catalog = JavaScriptCatalog.as_view(packages=["datasets_app"])
        response: HttpResponse = catalog(request)
    response["Cache-Control"] = "max-age=600"
    return response
