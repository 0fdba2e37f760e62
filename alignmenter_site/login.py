"""Log in on one page for all accounts, and send each account to its own home."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


class LoginForm(AuthenticationForm):
    """Gives one message for every failure, so that nobody learns which user names exist."""

    error_messages: dict[str, Any] = {
        **AuthenticationForm.error_messages,
        "invalid_login": "Wrong user name or password.",
        "inactive": "Wrong user name or password.",
    }


class SignInView(LoginView):
    authentication_form = LoginForm
    template_name = "login.html"
    redirect_authenticated_user = True

    def get_redirect_url(self) -> str:
        """Drop the ``next`` URL of annotators if it leads to a page that would refuse them."""
        url = super().get_redirect_url()
        user: Any = self.request.user
        is_annotator = user.is_authenticated and not user.is_staff
        return "" if is_annotator and not url.startswith(reverse("annotate:campaigns")) else url


@login_required
def home(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    return redirect("admin:index" if user.is_staff else "annotate:campaigns")


def redirect_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect the admin's own login page to the one for all accounts."""
    url = request.GET.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    return redirect_to_login(url if is_safe else resolve_url("admin:index"))
