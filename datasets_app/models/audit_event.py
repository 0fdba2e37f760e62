from django.db import models
from django.db.models.functions import Now


class AuditEvent(models.Model):
    """Who did what, when, to what. Rows are only ever added: the database refuses all else.

    There are no foreign keys: the trail outlives what it speaks of. ``details`` holds counts,
    digests and reasons, never text of conversations.
    """

    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(max_length=200, help_text="User name, or the command and system account.")
    action = models.CharField(max_length=50)
    dataset_name = models.CharField(max_length=100, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        # Ids are given out when an event is written, times when its transaction began: a page, or an export
        # of some days, goes by the time.
        ordering = ["-at", "-id"]
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["at", "id"], name="audit_event_by_time"),
            models.Index(fields=["action", "at", "id"], name="audit_event_of_action"),
            models.Index(fields=["actor", "at", "id"], name="audit_event_of_actor"),
            models.Index(fields=["dataset_name", "at", "id"], name="audit_event_of_dataset"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"


class AuditSeal(models.Model):
    """A link of the chain over the audit trail: the database adds one for each event as it is committed.

    ``digest`` is the SHA-256 over the one before it and the event. The chain has no gap and no fork.
    """

    position = models.BigIntegerField(primary_key=True)
    event_id = models.BigIntegerField(unique=True)
    previous = models.CharField(max_length=64, unique=True)
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["position"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.position}: {self.digest[:12]}"
