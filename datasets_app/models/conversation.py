from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Left

from datasets_app.models.dataset import Dataset
from datasets_app.models.partition import PartitionForeignKey
from datasets_app.models.querysets import TurnQuerySet

# PostgreSQL limits a search document to 1 MB, so only the start of a very long text is indexed.
MAX_SEARCHED_CHARACTERS = 50_000


class Session(models.Model):
    """One conversation. Its id is unique within its dataset."""

    class Split(models.TextChoices):
        TRAIN = "train", "Train"
        VALIDATION = "validation", "Validation"
        TEST = "test", "Test"

    dataset = models.ForeignKey(
        Dataset, models.CASCADE, related_name="sessions", db_index=False, db_constraint=False
    )
    session_id = models.CharField(max_length=500)
    persona_id = models.CharField(max_length=500, null=True, blank=True)
    turn_count = models.IntegerField()
    # Keeps a second scrub from hashing the hash, which would change the id again.
    id_hashed = models.BooleanField(db_default=False, editable=False)
    split = models.CharField(max_length=20, choices=Split, null=True, blank=True, editable=False)
    # Left out of exports, packages, samples, releases and campaigns.
    excluded = models.BooleanField(db_default=False, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "session_id"], name="session_id_unique_in_dataset"),
            models.CheckConstraint(condition=~Q(session_id=""), name="session_id_not_empty"),
            models.CheckConstraint(condition=~Q(persona_id=""), name="session_persona_id_not_empty"),
            models.CheckConstraint(condition=Q(turn_count__gte=1), name="session_has_turns"),
            models.CheckConstraint(
                condition=Q(split__isnull=True) | Q(split__in=["train", "validation", "test"]),
                name="session_split_known",
            ),
        ]
        indexes = [
            # For lists of sessions by length; turns are read in order by the index of their constraint.
            models.Index(fields=["turn_count", "id"], name="session_length"),
            # Each note written to a dataset needs the personas that it uses.
            models.Index(
                fields=["persona_id"], condition=Q(persona_id__isnull=False), name="session_persona"
            ),
        ]

    def __str__(self) -> str:
        return self.session_id


class Turn(models.Model):
    """One message of a conversation. ``timestamp`` keeps the file's exact text so exports can repeat it."""

    class Role(models.TextChoices):
        USER = "user", "User"
        ASSISTANT = "assistant", "Assistant"

    # The dataset of its session, which tells PostgreSQL in which partition the turn is.
    dataset = models.ForeignKey(
        Dataset, models.CASCADE, related_name="turns", db_index=False, db_constraint=False
    )
    # No index of its own: the unique constraint serves lookups by session.
    session = PartitionForeignKey(Session, models.CASCADE, related_name="turns", db_index=False)
    turn_index = models.IntegerField()
    role = models.CharField(max_length=9, choices=Role)
    text = models.TextField(blank=True)
    tags = ArrayField(models.TextField(), default=list, blank=True)
    timestamp = models.TextField(null=True, blank=True)
    metadata = models.JSONField(null=True, blank=True)
    extra = models.JSONField(
        null=True, blank=True, help_text="Keys of the line that the file format doesn't define."
    )

    objects = TurnQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "session", "turn_index"], name="turn_index_unique_in_session"
            ),
            models.CheckConstraint(condition=Q(turn_index__gte=1), name="turn_index_from_one"),
            models.CheckConstraint(condition=Q(role__in=["user", "assistant"]), name="turn_role_known"),
        ]
        indexes = [
            GinIndex(
                SearchVector(Left("text", MAX_SEARCHED_CHARACTERS), config="simple"),
                F("tags"),
                name="turn_search",
            ),
            # For lists of sessions by date.
            models.Index(
                fields=["timestamp", "session"], condition=Q(turn_index=1), name="turn_first_timestamp"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.turn_index} {self.role}"
