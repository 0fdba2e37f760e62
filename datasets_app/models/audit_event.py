from django.db import models
from django.db.models.functions import Now

from datasets_app.models.columns import Record


class AuditEvent(models.Model):
    """An entry of the audit log. The database accepts inserts only.

    There are no foreign keys: the log outlives what it describes. ``details`` holds counts,
    digests and reasons, never conversation text.
    """

    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(max_length=200, help_text="Username, or the system account that ran a command.")
    action = models.CharField(max_length=50)
    dataset_name = models.CharField(max_length=100, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        # Ids follow the order of inserts, times the start of transactions. Pages and exports go by time.
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


class AuditSeal(Record):
    """A link of the audit log's hash chain. A database trigger adds one per event at commit.

    ``digest`` is the SHA-256 of the previous digest and the event. The chain has no gap and no fork.
    """

    position = models.BigIntegerField(primary_key=True)
    event_id = models.BigIntegerField(unique=True)
    previous = models.CharField(max_length=64, unique=True)
    digest = models.CharField(max_length=64)

    class Meta(Record.Meta):
        ordering = ["position"]


class AuditHeadPlace(Record):
    """What was last recorded in a place outside the database, and whether the last attempt failed.

    This only tells when to record the next head. The proof is in the place itself.
    """

    label = models.CharField(max_length=200, unique=True)
    position = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64, default="0" * 64)
    recorded_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    failure = models.CharField(max_length=200, blank=True)

    class Meta(Record.Meta):
        ordering = ["label"]

    def __str__(self) -> str:
        return self.label
