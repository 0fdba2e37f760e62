from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.conversation import Session
from datasets_app.models.dataset import Dataset
from datasets_app.models.partition import PartitionForeignKey

MAX_COMMENT_LENGTH = 4_000


class SavedView(Record):
    """Filters, columns and order of a list of sessions or turns under a name: the query of its address.

    ``has_text`` tells that it names something that stands in a conversation. Such a view is deleted when the
    dataset is scrubbed or a session of it is erased.
    """

    class Page(models.TextChoices):
        SESSIONS = "sessions", "Sessions"
        TURNS = "turns", "Turns"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="saved_views")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    page = models.CharField(max_length=20, choices=Page, db_default=Page.SESSIONS)
    name = models.CharField(max_length=100)
    query = models.TextField(blank=True)
    has_text = models.BooleanField()
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "owner", "name"], name="saved_view_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class SessionSelection(Record):
    """Sessions that somebody chose, by primary key: a job must not store what they were filtered by.

    If single turns were chosen, ``turns`` are their keys, and ``keys`` those of their sessions.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    keys = ArrayField(models.BigIntegerField())
    turns = ArrayField(models.BigIntegerField(), null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())


class SessionComment(models.Model):
    """What somebody wrote about a session or one of its turns. It may quote the text, so it is read, scrubbed
    and deleted as the text is."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="+", db_index=False)
    session = PartitionForeignKey(Session, models.CASCADE, related_name="comments")
    turn_index = models.IntegerField(null=True, blank=True)
    author = optional_person()
    author_name = models.CharField(max_length=150)
    text = models.TextField()
    # Primary keys of the users who are mentioned.
    mentions = ArrayField(models.BigIntegerField(), default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("add",)
        ordering = ["id"]
        indexes = [models.Index(fields=["dataset", "-id"], name="session_comment_of_dataset")]

    def __str__(self) -> str:
        return f"Comment #{self.pk}"
