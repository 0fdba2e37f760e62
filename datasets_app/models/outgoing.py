"""What happened, for those outside a page: events, the webhooks they are sent to, and notifications."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy

from datasets_app.models.columns import Record
from datasets_app.models.dataset import Dataset
from datasets_app.models.querysets import NotificationQuerySet, OutgoingEventQuerySet, WebhookEndpointQuerySet


class OutgoingEvent(Record):
    """Something that happened, written in its transaction and handed on later.

    ``data`` has names of datasets, campaigns and operations, and numbers; never text of conversations, names
    of people or names of files.
    """

    class Kind(models.TextChoices):
        IMPORT_FINISHED = "import.finished", gettext_lazy("Import finished")
        SCRUB_FINISHED = "scrub.finished", gettext_lazy("Scrub finished")
        CHECK_FINISHED = "check.finished", gettext_lazy("Checks finished")
        CAMPAIGN_ASSIGNED = "campaign.assigned", gettext_lazy("Campaign assigned")
        CAMPAIGN_FINISHED = "campaign.finished", gettext_lazy("Campaign finished")
        DISPUTES_WAITING = "disputes.waiting", gettext_lazy("Disagreements waiting")
        CHECKS_CHANGED = "checks.changed", gettext_lazy("Checks of an annotator changed")
        RELEASE_CREATED = "release.created", gettext_lazy("Release created")
        JOB_FAILED = "job.failed", gettext_lazy("Job failed")
        DELETION_AHEAD = "deletion.ahead", gettext_lazy("Deletion ahead")
        APPROVAL_REQUESTED = "approval.requested", gettext_lazy("Approval requested")
        STEP_REQUESTED = "step.requested", gettext_lazy("Next step requested")
        # For people only.
        COMMENT_MENTION = "comment.mention", gettext_lazy("Mentioned in a comment")
        # Sent on request, to one webhook.
        TEST = "test", gettext_lazy("Test")

    message_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=30, choices=Kind)
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True, related_name="+")
    dataset_name = models.CharField(max_length=100, blank=True)
    data = models.JSONField(default=dict)
    # Primary keys of people whom it concerns, besides those whose permissions make it theirs.
    recipients = models.JSONField(default=list)
    # An event with the same key is not written again.
    key = models.CharField(max_length=150, unique=True, null=True)
    at = models.DateTimeField(db_default=Now())
    dispatched_at = models.DateTimeField(null=True)

    objects = OutgoingEventQuerySet.as_manager()

    class Meta(Record.Meta):
        ordering = ["id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(dispatched_at=None), name="outgoing_event_waiting"),
            models.Index(fields=["at"], name="outgoing_event_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} #{self.pk}"


class WebhookEndpoint(models.Model):
    """An address that gets the events its owner may see. Secrets are encrypted (``webhooks/secrets.py``)."""

    url = models.CharField(
        "address",
        max_length=500,
        help_text="Where messages are sent, such as https://example.org/hooks/datasets.",
    )
    dataset = models.ForeignKey(
        Dataset,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="Only events of this dataset; empty for all datasets that you can see.",
    )
    kinds = models.JSONField("events", default=list)
    active = models.BooleanField(default=True, help_text="If off, nothing is sent.")
    secret = models.TextField(editable=False)
    # After a rotation, messages are signed with both for a day.
    previous_secret = models.TextField(blank=True, editable=False)
    previous_until = models.DateTimeField(null=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = "webhook"

    def __str__(self) -> str:
        return f"Webhook {self.pk}"


class WebhookDelivery(Record):
    """An event on its way to a webhook.

    ``log`` has an entry for each attempt: "at", "seconds", and "status" or "error".
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        DELIVERED = "delivered", "Delivered"
        DEAD = "dead", "Given up"
        # The owner may not see it any more, or the webhook was switched off.
        DROPPED = "dropped", "Not sent"

    endpoint = models.ForeignKey(WebhookEndpoint, models.CASCADE, related_name="deliveries", db_index=False)
    event = models.ForeignKey(OutgoingEvent, models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # Attempts made before somebody last asked to send it again.
    attempts_before = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    log = models.JSONField(default=list)

    class Meta(Record.Meta):
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "event"], name="webhook_delivery_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "delivered", "dead", "dropped"]),
                name="webhook_delivery_state_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=Q(state="waiting"), name="webhook_delivery_waiting"
            ),
            models.Index(fields=["endpoint", "-id"], name="webhook_delivery_of_endpoint"),
        ]


class Notification(Record):
    """An event, for one person."""

    event = models.ForeignKey(OutgoingEvent, models.CASCADE, related_name="notifications", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    # Off for people who only want the mail.
    shown = models.BooleanField(default=True)
    read_at = models.DateTimeField(null=True)
    # When it is to be mailed; empty if it was, or isn't to be.
    mail_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta(Record.Meta):
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["event", "user"], name="notification_once")]
        indexes = [
            models.Index(fields=["user", "-id"], condition=Q(shown=True), name="notification_of_user"),
            models.Index(fields=["user"], condition=Q(shown=True, read_at=None), name="notification_unread"),
            models.Index(fields=["mail_at"], condition=Q(mail_at__isnull=False), name="notification_to_mail"),
        ]


class NotificationPreference(Record):
    """How a person wants to hear of a kind of event, where that differs from the default."""

    class Mail(models.TextChoices):
        OFF = "off", gettext_lazy("Off")
        DAILY = "daily", gettext_lazy("Daily")
        IMMEDIATE = "immediate", gettext_lazy("Immediately")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=30, choices=OutgoingEvent.Kind)
    shown = models.BooleanField(default=True)
    mail = models.CharField(max_length=9, choices=Mail)

    class Meta(Record.Meta):
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="notification_preference_once")]
