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

MAY_ANNOTATE = "annotations_app.annotate"
# Sent by the script: the primary key of the user whose decisions it has kept.
OF_THE_SCRIPT = "X-Queue"
# What it is answered: "refused", what was sent need not be kept; "held", not now, so keep it.
REFUSED, HELD = {OF_THE_SCRIPT: "refused"}, {OF_THE_SCRIPT: "held"}
MAY_NOT = "Your account may not label any more."

View = Callable[..., HttpResponse]


def for_annotators(view: View) -> View:
    """Asks for signing in and for the permission. The script gets a status instead of a page: 401 if
    someone else, or nobody, is signed in."""

    @never_cache
    @vary_on_headers(OF_THE_SCRIPT)
    @wraps(view)
    def asked(request: Any, *arguments: Any, **named: Any) -> HttpResponse:
        if not request.user.is_authenticated or _is_someone_else(request):
            if is_script(request):
                return HttpResponse("You are not logged in any more.", "text/plain", status=401)
            return redirect_to_login(request.get_full_path())
        if not request.user.has_perm(MAY_ANNOTATE):
            if is_script(request):
                return HttpResponse(MAY_NOT, "text/plain", status=403, headers=HELD)
            return render(request, "annotations_app/queue_refused.html", status=403)
        return view(request, *arguments, **named)

    return asked


def for_members(view: View) -> View:
    """For annotators who are members of the campaign ``name``; the view is given the membership."""
    return _with_membership(view, active=True)


def for_members_once(view: View) -> View:
    """For those who were members as well: what they pressed before they went is still to come in."""
    return _with_membership(view)


def _with_membership(view: View, **asked_of_it: bool) -> View:
    @for_annotators
    @wraps(view)
    def asked(request: Any, name: str, *arguments: Any, **named: Any) -> HttpResponse:
        if "\0" in name:
            raise Http404
        members = CampaignMember.objects.select_related("campaign__persona", "campaign__dataset")
        member = get_object_or_404(members, campaign__name=name, user=request.user, **asked_of_it)
        member.user = request.user
        return view(request, member, *arguments, **named)

    return asked


def is_script(request: HttpRequest) -> bool:
    return OF_THE_SCRIPT in request.headers or "HX-Request" in request.headers


def refused(sentence: str) -> HttpResponse:
    """For the script: what was sent is not wanted, and need not be sent again."""
    return HttpResponse(sentence, "text/plain; charset=utf-8", status=409, headers=REFUSED)


def _is_someone_else(request: Any) -> bool:
    kept_for = request.headers.get(OF_THE_SCRIPT)
    return kept_for is not None and kept_for != str(request.user.pk)
