from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.dataset import NAME_PATTERN
from datasets_app.models.querysets import SourceQuerySet


class Source(models.Model):
    """Where production conversations come from, and which of them are kept.

    ``credential`` is encrypted (``sources/secrets.py``); of the receiver's token only the digest is stored.
    """

    class Kind(models.TextChoices):
        FOLDER = "folder", "Folder or bucket"
        LANGFUSE = "langfuse", "Langfuse"
        LANGSMITH = "langsmith", "LangSmith"
        PHOENIX = "phoenix", "Phoenix"
        OTLP = "otlp", "OpenTelemetry receiver"

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(NAME_PATTERN)],
        help_text="Letters, digits, dots, dashes and underscores.",
    )
    kind = models.CharField(max_length=10, choices=Kind)
    dataset_name = models.CharField(
        "dataset",
        max_length=100,
        validators=[RegexValidator(NAME_PATTERN)],
        help_text="The production dataset to add to; the first conversations create it.",
    )
    location = models.CharField(
        max_length=500,
        blank=True,
        help_text="The folder, s3://bucket/prefix, or the address of the tool, such as "
        "https://cloud.langfuse.com.",
    )
    project = models.CharField(
        max_length=200, blank=True, help_text="LangSmith and Phoenix: the name of the project."
    )
    credential = models.TextField(blank=True, editable=False)
    token_digest = models.CharField(max_length=64, unique=True, null=True, blank=True, editable=False)
    active = models.BooleanField(
        default=True, help_text="Pulls every night, and receives traces; if off, it does neither."
    )
    rate = models.FloatField(
        "sampling rate",
        default=100.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(100.0)],
        help_text="Percent of conversations to keep, chosen by ID: the same ones each time.",
    )
    only_models = models.CharField(
        "models",
        max_length=500,
        blank=True,
        help_text="Keep conversations with these models only: gpt-5, claude-*.",
    )
    only_tags = models.CharField(
        "tags",
        max_length=500,
        blank=True,
        help_text="Keep conversations with one of these tags only: support, billing.",
    )
    max_conversations = models.PositiveIntegerField(
        "maximum per pull",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Conversations with negative feedback come first; empty keeps all.",
    )
    skip_near_duplicates = models.BooleanField(
        default=False, help_text="Leave out conversations that say nearly the same as another one."
    )
    scrub = models.BooleanField(
        "scrub and check", default=False, help_text="Scrub and check the dataset after each pull."
    )
    quiet_minutes = models.PositiveIntegerField(
        default=10,
        validators=[MaxValueValidator(1440)],
        help_text="Minutes without news after which a trace counts as complete.",
    )
    rejected_spans = models.BigIntegerField(
        default=0, db_default=0, editable=False, help_text="Received spans that were not valid."
    )
    # Everything before has been pulled.
    pulled_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = optional_person(editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["folder", "langfuse", "langsmith", "phoenix", "otlp"]),
                name="source_kind_known",
            ),
            models.CheckConstraint(condition=Q(rate__gte=0, rate__lte=100), name="source_rate_is_percent"),
        ]

    def __str__(self) -> str:
        return self.name


class SeenTrace(Record):
    """A keyed hash of what a source has delivered: a trace, a received span or a file.

    ``nightly`` forgets the oldest.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=16)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        constraints = [models.UniqueConstraint(fields=["source", "digest"], name="seen_trace_once")]


class ReceivedSpan(Record):
    """A span that was received and is not part of a conversation yet: raw production text.

    ``trace`` and ``conversation`` are keyed hashes of their ids, as those of session ids are, so that an
    erasure finds them. ``content`` is the span as OTLP has it in JSON.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="spans", db_index=False)
    trace = models.BinaryField(max_length=16)
    conversation = models.BinaryField(max_length=16, null=True)
    size = models.PositiveIntegerField()
    content = models.BinaryField()
    received_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        indexes = [models.Index(fields=["source", "trace"], name="received_span_of_trace")]


class ReceivedRequest(Record):
    """A request with more spans than are stored while its client waits: raw production text, until a job has
    stored them. ``body`` is packed with gzip; ``size`` is that of all it holds."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="requests")
    content_type = models.CharField(max_length=30)
    spans = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    body = models.BinaryField()
    received_at = models.DateTimeField(db_default=Now())
