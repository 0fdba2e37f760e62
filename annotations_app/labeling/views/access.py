"""Who may come to a queue: members of an open campaign with the permission to annotate."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.vary import vary_on_headers

from annotations_app.models import CampaignMember

ANNOTATE_PERMISSION = "annotations_app.annotate"
# Sent by the script: the primary key of the user whose decisions it has kept.
QUEUE_HEADER = "X-Queue"
# What it is answered: "refused", what was sent need not be kept; "held", not now, so keep it.
REFUSED_HEADERS, HELD_HEADERS = {QUEUE_HEADER: "refused"}, {QUEUE_HEADER: "held"}
NOT_PERMITTED_MESSAGE = "Your account may not label any more."

View = Callable[..., HttpResponse]


def require_annotator(view: View) -> View:
    """Asks for signing in and for the permission. The script gets a status instead of a page: 401 if
    someone else, or nobody, is signed in."""

    @never_cache
    @vary_on_headers(QUEUE_HEADER)
    @wraps(view)
    def asked(request: Any, *arguments: Any, **named: Any) -> HttpResponse:
        if not request.user.is_authenticated or _is_other_user(request):
            if is_script_request(request):
                return HttpResponse("You are not logged in any more.", "text/plain", status=401)
            return redirect_to_login(request.get_full_path())
        if not request.user.has_perm(ANNOTATE_PERMISSION):
            if is_script_request(request):
                return HttpResponse(NOT_PERMITTED_MESSAGE, "text/plain", status=403, headers=HELD_HEADERS)
            return render(request, "annotations_app/queue_refused.html", status=403)
        return view(request, *arguments, **named)

    return asked


def require_member(view: View) -> View:
    """For annotators who are members of the campaign ``name``; the view is given the membership."""
    return _load_membership(view, active=True)


def require_past_or_present_member(view: View) -> View:
    """For those who were members as well: what they pressed before they went is still to come in."""
    return _load_membership(view)


def _load_membership(view: View, **conditions: bool) -> View:
    @require_annotator
    @wraps(view)
    def asked(request: Any, name: str, *arguments: Any, **named: Any) -> HttpResponse:
        if "\0" in name:
            raise Http404
        members = CampaignMember.objects.select_related("campaign__persona", "campaign__dataset")
        member = get_object_or_404(members, campaign__name=name, user=request.user, **conditions)
        member.user = request.user
        return view(request, member, *arguments, **named)

    return asked


def is_script_request(request: HttpRequest) -> bool:
    return QUEUE_HEADER in request.headers or "HX-Request" in request.headers


def refuse_submission(message: str) -> HttpResponse:
    """For the script: what was sent is not wanted, and need not be sent again."""
    return HttpResponse(message, "text/plain; charset=utf-8", status=409, headers=REFUSED_HEADERS)


def _is_other_user(request: Any) -> bool:
    kept_for = request.headers.get(QUEUE_HEADER)
    return kept_for is not None and kept_for != str(request.user.pk)
