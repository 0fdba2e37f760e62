"""Who may use a queue: members of a campaign who have the permission to annotate."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.vary import vary_on_headers

from annotations_app.labeling.views.decision_form import TYPED_PREFIX
from annotations_app.models import CampaignMember
from datasets_app.core.web.pages import wants_fragment

ANNOTATE_PERMISSION = "annotations_app.annotate"
# The script sends the primary key of the user whose decisions it keeps. It is answered "refused" (discard
# the decision) or "held" (keep it and try again later).
QUEUE_HEADER = "X-Queue"
NOT_PERMITTED_MESSAGE = gettext_noop("Your account doesn't have the permission to label.")

View = Callable[..., HttpResponse]
_PLAIN_TEXT = "text/plain; charset=utf-8"


def require_annotator(view: View) -> View:
    """Ask for a login and the permission. The script gets a status instead of a page: 401 if nobody, or
    somebody else, is logged in."""

    @vary_on_headers(QUEUE_HEADER)
    @wraps(view)
    def guarded_view(request: Any, *arguments: Any, **options: Any) -> HttpResponse:
        from_script = is_script_request(request)
        own_key = str(request.user.pk)
        if not request.user.is_authenticated or request.headers.get(QUEUE_HEADER, own_key) != own_key:
            if from_script:
                return HttpResponse(gettext("You are no longer logged in."), _PLAIN_TEXT, status=401)
            return _ask_to_log_in(request, options.get("name"))
        if not request.user.has_perm(ANNOTATE_PERMISSION):
            if from_script:
                return _plain_response(gettext(NOT_PERMITTED_MESSAGE), 403, "held")
            if list_typed(request):
                return _show_typed(request, gettext(NOT_PERMITTED_MESSAGE), 403)
            return render(request, "annotations_app/queue_refused.html", status=403)
        return view(request, *arguments, **options)

    return guarded_view


def require_member(view: View) -> View:
    """Load the membership in the campaign ``name`` and pass it to the view; 404 for everybody else."""
    return _load_membership(view, active=True)


def require_past_or_present_member(view: View) -> View:
    """Like :func:`require_member`, also for removed members: their browser may still hold decisions."""
    return _load_membership(view)


def _load_membership(view: View, **conditions: bool) -> View:
    @require_annotator
    @wraps(view)
    def guarded_view(request: Any, name: str, *arguments: Any, **options: Any) -> HttpResponse:
        if "\0" in name:
            raise Http404
        members = CampaignMember.objects.select_related(
            "campaign__persona", "campaign__dataset", "campaign__schema"
        )
        member = get_object_or_404(members, campaign__name=name, user=request.user, **conditions)
        member.user = request.user
        return view(request, member, *arguments, **options)

    return guarded_view


def is_script_request(request: HttpRequest) -> bool:
    return QUEUE_HEADER in request.headers or wants_fragment(request)


def refuse(request: Any, member: CampaignMember, message: str) -> HttpResponse:
    """Tell the script not to send this again; without the script, go back to the queue with the message."""
    if is_script_request(request):
        return _plain_response(message, 409, "refused")
    if list_typed(request):
        campaign = member.campaign if member.active else None
        return _show_typed(request, message, 409, campaign=campaign)
    messages.error(request, message)
    return redirect_to_queue(member)


def list_typed(request: Any) -> list[str]:
    """What somebody typed into the form of a decision."""
    names = ("notes", "words", *(name for name in request.POST if name.startswith(TYPED_PREFIX)))
    return [text for name in names if (text := request.POST.get(name, "").strip())]


def _ask_to_log_in(request: Any, campaign_name: str | None) -> HttpResponse:
    if request.method == "GET":
        return redirect_to_login(request.get_full_path())
    # There is no page at the address of a decision to come back to.
    queue = (
        reverse("annotate:queue", args=[campaign_name]) if campaign_name else reverse("annotate:campaigns")
    )
    if not list_typed(request):
        return redirect_to_login(queue)
    message = gettext("You are no longer logged in. Your decision wasn't saved.")
    log_in = f"{reverse('login')}?{urlencode({'next': queue})}"
    return _show_typed(request, message, 401, log_in=log_in)


def _show_typed(request: Any, message: str, status: int, **context: Any) -> HttpResponse:
    """For a browser without scripts: nothing that somebody typed is lost."""
    context = {"message": message, "typed": list_typed(request), **context}
    return render(request, "annotations_app/queue_not_saved.html", context, status=status)


def redirect_to_queue(member: CampaignMember) -> HttpResponse:
    if member.active:
        return redirect("annotate:queue", member.campaign.name)
    return redirect("annotate:campaigns")


def _plain_response(message: str, status: int, answer: str) -> HttpResponse:
    headers = {QUEUE_HEADER: answer}
    return HttpResponse(message, _PLAIN_TEXT, status=status, headers=headers)
