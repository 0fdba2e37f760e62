"""Lead people whose role needs a second factor to setting one up; they reach nothing else before."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy

from alignmenter_site.middleware.base import Middleware
from alignmenter_site.middleware.staff_only import is_own_account

SUPERUSER = "superuser"
# In the session: whether the company's provider required a second factor.
SECOND_FACTOR_USED = "second_factor_used"
MESSAGE = gettext_lazy(
    "Your role needs a second factor. Set up an authenticator app or a passkey to continue."
)


class SecondFactorMiddleware(Middleware):
    def process_view(self, request: Any, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        if is_own_account(request) or not request.user.is_authenticated or not lacks_second_factor(request):
            return None
        if request.method != "GET" or request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate":
            return HttpResponse(MESSAGE, "text/plain; charset=utf-8", status=403)
        messages.warning(request, MESSAGE)
        return redirect("mfa_index")


def lacks_second_factor(request: Any) -> bool:
    user = request.user
    if not needs_second_factor(user) or request.session.get(SECOND_FACTOR_USED):
        return False
    return not has_second_factor(user)


def needs_second_factor(user: Any) -> bool:
    roles = settings.SECOND_FACTOR_ROLES
    if not roles:
        return False
    return (user.is_superuser and SUPERUSER in roles) or user.groups.filter(name__in=roles).exists()


def has_second_factor(user: Any) -> bool:
    """An authenticator app or a passkey; recovery codes alone are none."""
    types = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return Authenticator.objects.filter(user=user, type__in=types).exists()
