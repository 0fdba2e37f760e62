"""Hands on outgoing events: to webhooks, and to people as notifications.

The scheduler writes down who gets an event, and has a worker send it.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from datasets_app.jobs import runs
from datasets_app.models import JobRun, OutgoingEvent, WebhookEndpoint
from datasets_app.notifications.audience import notify
from datasets_app.notifications.mails import list_due_mail
from datasets_app.webhooks.deliver import list_due, queue_deliveries

BATCH_SIZE = 200
_DELIVERY = "deliver_events"
# How long events, deliveries and notifications are kept.
KEPT = timedelta(days=90)


def dispatch_events() -> int:
    """Hand on new events and have a worker send what is due; returns the number of events. Safe to run in
    several schedulers at once."""
    count = 0
    while taken := _dispatch_batch():
        count += taken
    _start_delivery()
    return count


@transaction.atomic
def _dispatch_batch() -> int:
    waiting = OutgoingEvent.objects.filter(dispatched_at=None).select_related("dataset").order_by("pk")
    events = list(waiting.select_for_update(of=("self",), skip_locked=True)[:BATCH_SIZE])
    if not events:
        return 0
    endpoints = list(WebhookEndpoint.objects.filter(active=True).select_related("owner"))
    for event in events:
        queue_deliveries(event, endpoints)
        notify(event)
    OutgoingEvent.objects.filter(pk__in=[event.pk for event in events]).update(dispatched_at=Now())
    return len(events)


def _start_delivery() -> None:
    """One job at a time. Rows of earlier ones that went well tell nothing, and are deleted."""
    if not list_due().exists() and not list_due_mail().exists():
        return
    jobs = JobRun.objects.filter(operation=_DELIVERY)
    if jobs.active().exists():
        return
    jobs.filter(state=JobRun.State.DONE).delete()
    runs.start_job(_DELIVERY, actor=None)


def delete_old_events() -> int:
    """With their deliveries and notifications; returns the number of events."""
    old = OutgoingEvent.objects.filter(at__lt=timezone.now() - KEPT).exclude(dispatched_at=None)
    return int(old.delete()[1].get("datasets_app.OutgoingEvent", 0))
