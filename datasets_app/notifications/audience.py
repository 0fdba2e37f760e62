"""Who is notified of an event, and how."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.utils import timezone

from datasets_app.jobs.approvals import can_decide
from datasets_app.models import Dataset, JobRun, Notification, NotificationPreference, OutgoingEvent

Kind, Mail = OutgoingEvent.Kind, NotificationPreference.Mail
# The hour at which daily mail is sent, in TIME_ZONE.
DIGEST_HOUR = 7

# Those with this permission who see the dataset are told, besides those whom the event names.
PERMISSIONS: dict[str, str] = {
    Kind.RELEASE_CREATED: "datasets_app.sign_review",
    Kind.DELETION_AHEAD: "datasets_app.hold_dataset",
}
# Of jobs that nobody started.
_NIGHTLY_PERMISSION = "datasets_app.apply_retention"

DEFAULT_MAIL: dict[str, str] = {
    Kind.IMPORT_FINISHED: Mail.OFF,
    Kind.SCRUB_FINISHED: Mail.OFF,
    Kind.CHECK_FINISHED: Mail.OFF,
    Kind.CAMPAIGN_ASSIGNED: Mail.IMMEDIATE,
    Kind.CAMPAIGN_FINISHED: Mail.DAILY,
    Kind.DISPUTES_WAITING: Mail.DAILY,
    Kind.CHECKS_CHANGED: Mail.DAILY,
    Kind.RELEASE_CREATED: Mail.OFF,
    Kind.JOB_FAILED: Mail.DAILY,
    Kind.DELETION_AHEAD: Mail.DAILY,
    Kind.APPROVAL_REQUESTED: Mail.IMMEDIATE,
    Kind.STEP_REQUESTED: Mail.IMMEDIATE,
    Kind.COMMENT_MENTION: Mail.DAILY,
}


class Preference(NamedTuple):
    """``shown``: in the application; ``mail``: off, daily or immediate."""

    shown: bool
    mail: str


def read_preferences(user: Any) -> dict[str, Preference]:
    """By kind, in the order of the kinds."""
    stored = {row.kind: row for row in NotificationPreference.objects.filter(user=user)}
    return {
        kind: Preference(stored[kind].shown, stored[kind].mail) if kind in stored else Preference(True, mail)
        for kind, mail in DEFAULT_MAIL.items()
    }


def notify(event: OutgoingEvent) -> None:
    """Write the event down for the people whom it concerns."""
    if event.kind not in DEFAULT_MAIL:
        return
    rows = []
    for user in _list_people(event):
        preference = read_preferences(user)[event.kind]
        mail_at = mail_time(preference.mail, timezone.now()) if user.email else None
        if preference.shown or mail_at:
            rows.append(Notification(event=event, user=user, shown=preference.shown, mail_at=mail_at))
    Notification.objects.bulk_create(rows, ignore_conflicts=True)


def mail_time(mail: str, now: datetime) -> datetime | None:
    if mail != Mail.DAILY:
        return now if mail == Mail.IMMEDIATE else None
    at = timezone.localtime(now).replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)


def _list_people(event: OutgoingEvent) -> list[Any]:
    active = get_user_model().objects.filter(is_active=True)
    named = list(active.filter(pk__in=event.recipients))
    people = {user.pk: user for user in (*named, *_list_others(event))}
    return [user for user in people.values() if _sees(user, event)]


def _list_others(event: OutgoingEvent) -> Iterable[Any]:
    active = get_user_model().objects.filter(is_active=True)
    if event.kind == Kind.APPROVAL_REQUESTED:
        job = JobRun.objects.filter(pk=event.data["job"]).first()
        return [user for user in active.filter(is_staff=True) if job and can_decide(user, job)]
    if event.kind == Kind.JOB_FAILED and not event.recipients:
        users = get_user_model().objects.with_perm(_NIGHTLY_PERMISSION)
        return [user for user in users if not Dataset.objects.hidden_from(user).exists()]
    if permission := PERMISSIONS.get(event.kind):
        return list(get_user_model().objects.with_perm(permission))
    return []


def _sees(user: Any, event: OutgoingEvent) -> bool:
    if event.kind == Kind.CAMPAIGN_ASSIGNED:
        return True
    return OutgoingEvent.objects.visible_to(user).filter(pk=event.pk).exists()
