"""Signing in: one page for all accounts, and where each goes from there."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


class LoginForm(AuthenticationForm):
    """Says no more than that it didn't work: not whether the name, the password or a right is missing."""

    error_messages: dict[str, Any] = {
        **AuthenticationForm.error_messages,
        "invalid_login": "Name or password is wrong.",
        "inactive": "Name or password is wrong.",
    }


class SignInView(LoginView):
    authentication_form = LoginForm
    template_name = "login.html"
    redirect_authenticated_user = True

    def get_redirect_url(self) -> str:
        """Where they wanted to go; who isn't staff is not sent to a page that would refuse them."""
        wanted = super().get_redirect_url()
        user: Any = self.request.user
        if (
            user.is_authenticated
            and not user.is_staff
            and not wanted.startswith(reverse("annotate:campaigns"))
        ):
            return ""
        return wanted


@login_required
def home(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    return redirect("admin:index" if user.is_staff else "annotate:campaigns")


def redirect_to_sign_in(request: HttpRequest) -> HttpResponse:
    """The admin sends people to a login page of its own; there is one for all."""
    wanted = request.GET.get("next", "")
    safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return redirect_to_login(wanted if safe else resolve_url("admin:index"))
