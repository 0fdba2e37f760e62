"""A person's notifications, and what they want to hear of."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from alignmenter_site.mail import mail_is_configured
from datasets_app.core.web.pages import Breadcrumbs, parse_pk, render_fragment, render_page
from datasets_app.models import Notification, NotificationPreference, OutgoingEvent
from datasets_app.notifications.audience import read_preferences
from datasets_app.notifications.wording import describe, page_of
from datasets_app.templatetags.notifications import count_unread

PAGE_SIZE = 25


@login_required
def list_notifications(request: HttpRequest) -> HttpResponse:
    rows = _visible_notifications(request).select_related("event")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "items": [{"row": row, "words": describe(row.event)} for row in page],
        "unread": rows.filter(read_at=None).count(),
    }
    return _render(request, "notifications", context)


@login_required
def show_bell(request: HttpRequest) -> HttpResponse:
    """The bell, if ``?unread=`` is another number now; then a list of notifications follows as well."""
    if count_unread(request.user) == request.GET.get("unread", ""):
        return HttpResponse(status=204)
    response = render_fragment(request, "datasets_app/_bell.html", {})
    response["HX-Trigger"] = "notifications"
    return response


@login_required
@require_POST
def open_notification(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark it as read, and go to the page where one acts."""
    row = get_object_or_404(_visible_notifications(request).select_related("event"), pk=pk)
    Notification.objects.filter(pk=row.pk, read_at=None).update(read_at=timezone.now(), mail_at=None)
    return redirect(page_of(row.event))


@login_required
@require_POST
def mark_read(request: HttpRequest) -> HttpResponse:
    """One (``notification``), or all."""
    rows = Notification.objects.filter(user=request.user.pk, read_at=None)
    if chosen := request.POST.get("notification", ""):
        rows = rows.filter(pk=parse_pk(chosen) or 0)
    rows.update(read_at=timezone.now(), mail_at=None)
    return redirect("notifications")


@login_required
def notification_settings(request: HttpRequest) -> HttpResponse:
    """For each kind: in the application or not, and when by mail."""
    preferences = read_preferences(request.user)
    if request.method == "POST":
        _save_preferences(request)
        messages.success(request, gettext("Saved."))
        return redirect("notification_settings")
    context = {
        "rows": [
            {"kind": kind, "label": OutgoingEvent.Kind(kind).label, "preference": preference}
            for kind, preference in preferences.items()
        ],
        "mails": NotificationPreference.Mail.choices,
        "mail_is_configured": mail_is_configured(),
    }
    return _render(request, "notification_settings", context)


def _render(request: HttpRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    """With the navigation, for people who have it; for others a card of its own, in their language."""
    if not request.user.is_staff:
        return render(request, f"account/{page}.html", context)
    crumbs: Breadcrumbs = [("Notifications", reverse("notifications")), ("Settings", None)]
    if page == "notifications":
        crumbs = [("Notifications", None)]
    return render_page(request, f"datasets_app/{page}.html", crumbs, context)


@transaction.atomic
def _save_preferences(request: HttpRequest) -> None:
    for kind, present in read_preferences(request.user).items():
        mail = request.POST.get(f"mail-{kind}", present.mail)
        if mail not in NotificationPreference.Mail.values:
            continue
        NotificationPreference.objects.update_or_create(
            user=request.user, kind=kind, defaults={"shown": f"shown-{kind}" in request.POST, "mail": mail}
        )


def _visible_notifications(request: HttpRequest) -> Any:
    return Notification.objects.visible_to(request.user).filter(shown=True)
