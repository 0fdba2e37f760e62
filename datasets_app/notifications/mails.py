"""Mails notifications: one message for all that are due for a person."""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext

from alignmenter_site.mail import mail_is_configured
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.models import Notification, Preferences
from datasets_app.notifications.wording import describe, page_of

log = logging.getLogger(__name__)

RETRY_AFTER = timedelta(minutes=15)
MAX_LINES = 50


def list_due_mail() -> Any:
    """Notifications to be mailed now; none if no mail server is configured."""
    due = Notification.objects.filter(mail_at__lte=timezone.now())
    return due if mail_is_configured() else due.none()


def mail_due(report_progress: ProgressCallback = ignore_progress) -> int:
    """Send what is due; returns the number of messages. After an error, those of a person wait a while."""
    sent = 0
    people = list(list_due_mail().order_by().values_list("user", flat=True).distinct())
    for number, user in enumerate(people):
        report_progress(number, len(people))
        try:
            sent += _mail_person(user)
        except OSError as error:  # what smtplib raises is of this kind
            log.error("a notification can't be mailed: %s", type(error).__name__)
            list_due_mail().filter(user=user).update(mail_at=timezone.now() + RETRY_AFTER)
    return sent


@transaction.atomic
def _mail_person(user_pk: int) -> int:
    """The rows stay locked while the message is sent, so that no other worker sends it as well."""
    due = list_due_mail().filter(user=user_pk).select_for_update(of=("self",), skip_locked=True)
    keys = list(due.order_by("pk").values_list("pk", flat=True))
    user = get_user_model().objects.filter(pk=user_pk, is_active=True).exclude(email="").first()
    rows: list[Notification] = []
    if user is not None:
        visible = Notification.objects.visible_to(user).filter(pk__in=keys, read_at=None)
        rows = list(visible.select_related("event").order_by("pk"))
    if user is not None and rows:
        with translation.override(_find_language(user)):
            EmailMessage(_subject(rows), _text(rows), None, [user.email]).send()
    Notification.objects.filter(pk__in=keys).update(mail_at=None)
    return int(bool(rows))


def _find_language(user: Any) -> str:
    """The one chosen for the account: a mail has no browser to ask."""
    chosen = Preferences.objects.filter(user=user).values_list("language", flat=True).first()
    return chosen or settings.LANGUAGE_CODE


def _subject(rows: list[Notification]) -> str:
    if len(rows) > 1:
        return gettext("%(count)s notifications from Alignmenter Datasets") % {"count": len(rows)}
    words = describe(rows[0].event)
    return f"{words.title}: {words.subject}" if words.subject else words.title


def _text(rows: list[Notification]) -> str:
    lines = []
    for row in rows[:MAX_LINES]:
        words = describe(row.event)
        lines += [words.text or words.title, *(_link(page_of(row.event))), ""]
    if len(rows) > MAX_LINES:
        lines += [gettext("And %(count)s more.") % {"count": len(rows) - MAX_LINES}, ""]
    settings_page = _link(reverse("notification_settings"))
    where = settings_page or [f"  {gettext('in your account of Alignmenter Datasets')}"]
    return "\n".join([*lines, gettext("Change what is mailed to you:"), *where, ""])


def _link(path: str) -> list[str]:
    """Mail is written where no request tells the address of the application."""
    return [f"  {settings.BASE_URL}{path}"] if settings.BASE_URL else []
