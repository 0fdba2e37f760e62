"""Ask people for their password, or second factor, again before something that only they may do.

Call :func:`require_recent_sign_in` before a POST overrides, exempts, signs, deletes or erases anything::

    @require_POST
    def sign(request, pk):
        require_permissions(request, "sign_review")
        require_recent_sign_in(request)
        …

Nothing happens if the person has signed in or proved it within RECENT_SIGN_IN_SECONDS. Otherwise they are
asked, and the form is then sent again as they filled it in, through all the checks of a new request. Files
can't be kept: a page with a file calls it on GET as well, before the form is shown. Call it after permissions
are checked, so that nobody proves who they are only to be refused, and outside of ``except Exception``.
"""

import json
import time
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ReauthenticationRequired
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from alignmenter_site.keys.derived_key import make_fernet
from datasets_app.core.web.pages import wants_fragment

# In the session: when the person signed in, and when they last proved who they are (seconds since 1970).
SIGNED_IN_AT, PROVED_AT = "signed_in_at", "proved_at"
# Where django-allauth looks for what to do next, and the form that waits there, encrypted.
_STATE = "account_reauthentication_state"
_CALLBACK = f"{__name__}.resume_request"
_UNSENT = {"csrfmiddlewaretoken"}
_PURPOSE = "reauthentication"


def signed_in_recently(request: Any) -> bool:
    """Whether the person has proved who they are within RECENT_SIGN_IN_SECONDS."""
    proved_at = request.session.get(PROVED_AT, 0)
    return bool(request.user.is_authenticated and time.time() - proved_at < settings.RECENT_SIGN_IN_SECONDS)


def require_recent_sign_in(request: Any) -> None:
    """Raises ReauthenticationRequired, which a middleware answers, unless the person signed in recently."""
    if not signed_in_recently(request):
        raise ReauthenticationRequired


def mark_recent_sign_in(request: Any) -> None:
    """Note that the person has just proved who they are."""
    request.session[PROVED_AT] = time.time()


# --- the way there and back -----------------------------------------------------------------------------


def suspend_request(request: Any) -> HttpResponse:
    """Keep the form that was sent, and redirect to the page that asks for the password."""
    methods = get_adapter().get_reauthentication_methods(request.user)
    if not methods:
        return redirect_to_login(request.get_full_path())
    form = {"path": request.get_full_path(), "method": request.method, "fields": _list_fields(request)}
    sealed = make_fernet(_PURPOSE).encrypt(json.dumps(form).encode()).decode()
    request.session[_STATE] = {"callback": _CALLBACK, "state": {"form": sealed}}
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": methods[0]["url"]})
    # Only for the address bar: resume_request reads the path that was kept.
    return redirect(f"{methods[0]['url']}?{urlencode({'next': request.path})}")


def resume_request(request: Any, state: dict[str, str]) -> HttpResponse:
    """Show a page that sends the kept form again; called by django-allauth after the person proved it."""
    try:
        form = json.loads(make_fernet(_PURPOSE).decrypt(state["form"].encode()))
    except (InvalidToken, KeyError, ValueError):
        return redirect("home")
    if not url_has_allowed_host_and_scheme(form["path"], None):
        return redirect("home")
    if form["method"] != "POST":
        return redirect(form["path"])
    return render(request, "reauthenticated.html", form)


def _list_fields(request: Any) -> list[tuple[str, str]]:
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    return [(name, value) for name, value in fields if name not in _UNSENT]
