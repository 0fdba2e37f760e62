from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.domain.guidelines import digest_guidelines
from annotations_app.models.label_schema import LabelSchema
from datasets_app.domain.labels.on_brand import ON_BRAND_SCHEMA
from datasets_app.domain.labels.schema import Schema
from datasets_app.models import Dataset, Persona, Session
from datasets_app.models.dataset import NAME_PATTERN

DEFAULT_OVERLAP, MAX_OVERLAP = 2, 50
DEFAULT_LEASE_MINUTES, MAX_LEASE_MINUTES = 15, 1440
DEFAULT_SEED = 42
# A larger share would leave annotators few new replies.
MAX_SHARE = 0.5
MAX_GUIDELINES_LENGTH = 50_000
MAX_REPLIES = 2**31 - 1
# Everybody labels them, and the differences are discussed one by one.
MAX_CALIBRATION_REPLIES = 200
MAX_TAG_LENGTH, MAX_SPLIT_LENGTH = 500, 20


def _share_field(help_text: str) -> "models.FloatField[float, float]":
    return models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(MAX_SHARE)],
        help_text=help_text,
    )


class Campaign(models.Model):
    """A task for annotators: label replies of a dataset for one persona."""

    class Order(models.TextChoices):
        RANDOM = "random", "Random"
        SESSION = "session", "Session by session"
        DISPUTED = "disputed", "Most disputed first"
        # Random until a lead asks for it: see estimates/order_replies.py.
        USEFUL = "useful", "Most useful first"

    class Status(models.TextChoices):
        PREPARING = "preparing", "Preparing"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(NAME_PATTERN, "Use letters, digits, dots, dashes and underscores only.")],
    )
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="campaigns")
    persona = models.ForeignKey(Persona, models.PROTECT, related_name="campaigns")
    # None: the built-in criterion.
    schema = models.ForeignKey(
        LabelSchema, models.PROTECT, null=True, blank=True, related_name="campaigns", db_index=False
    )
    # Its verdict on a reply is shown to annotators once they have decided on it.
    revealed_judge = models.ForeignKey(
        "annotations_app.Judge",
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        db_index=False,
    )
    # Replies are compared with those of this dataset to the same conversations.
    other_dataset = models.ForeignKey(
        Dataset, models.SET_NULL, null=True, blank=True, editable=False, related_name="compared_campaigns"
    )
    # How many replies have no pair, by the reason.
    unpaired = models.JSONField(null=True, blank=True, editable=False)
    guidelines = models.TextField(blank=True, help_text="Markdown, shown next to the reply.")
    overlap = models.PositiveSmallIntegerField(
        "annotators per reply",
        default=DEFAULT_OVERLAP,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_OVERLAP)],
        help_text="How many annotators label each reply.",
    )
    # Up to so many are asked while more answers may change the result: see labeling/extra_places.py.
    max_overlap = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(2), MaxValueValidator(MAX_OVERLAP)]
    )
    gold_share = _share_field("Share of replies with a known label (0 to 0.5).")
    repeat_share = _share_field("Share of replies that an annotator labels twice (0 to 0.5).")
    order = models.CharField(max_length=8, choices=Order, default=Order.RANDOM)
    tag = models.TextField(blank=True, help_text="Only replies with this tag.")
    split = models.CharField(
        max_length=MAX_SPLIT_LENGTH, blank=True, help_text="Only sessions of this split."
    )
    max_replies = models.PositiveIntegerField(
        "number of replies",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The first of the order; empty for all.",
    )
    # All annotators label these first; the others wait until their agreement, or a lead, opens them.
    calibration_replies = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(MAX_CALIBRATION_REPLIES)]
    )
    calibration_alpha = models.FloatField(null=True, blank=True)
    calibrated_at = models.DateTimeField(null=True, blank=True, editable=False)
    lease_minutes = models.PositiveSmallIntegerField(
        "lock timeout (minutes)",
        default=DEFAULT_LEASE_MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_LEASE_MINUTES)],
        help_text="A reply goes to another annotator after this many minutes of inactivity.",
    )
    seed = models.BigIntegerField(
        default=DEFAULT_SEED, help_text="Seed for the random order, gold items and repeats."
    )
    status = models.CharField(max_length=9, choices=Status, default=Status.PREPARING, editable=False)
    # Someone allowed labeling without a verified scrub; the audit log has the reason.
    overridden = models.BooleanField(default=False, editable=False)
    item_count = models.BigIntegerField(default=0, editable=False)
    gold_count = models.BigIntegerField(default=0, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-id"]
        default_permissions = ("view", "add", "change")
        permissions = [
            ("annotate", "Can label in the campaigns they are a member of"),
            ("adjudicate", "Can resolve disagreements between annotators"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(overlap__gte=1), name="campaign_overlap_from_one"),
            models.CheckConstraint(
                condition=Q(gold_share__gte=0, gold_share__lte=MAX_SHARE)
                & Q(repeat_share__gte=0, repeat_share__lte=MAX_SHARE),
                name="campaign_shares_in_range",
            ),
            models.CheckConstraint(
                condition=Q(order__in=["random", "session", "disputed", "useful"]),
                name="campaign_order_known",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["preparing", "open", "paused", "closed"]),
                name="campaign_status_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def facts(self) -> dict[str, int]:
        """For the row of a job that prepares it."""
        return {"campaign": self.pk, "replies": self.item_count, "gold": self.gold_count}

    @property
    def datasets(self) -> list[Dataset]:
        """Whose replies its annotators read."""
        return [self.dataset, *([self.other_dataset] if self.other_dataset else [])]

    @property
    def schema_content(self) -> Schema | None:
        """What its schema asks; None for the built-in criterion."""
        return None if self.schema is None else self.schema.content

    @property
    def asked_schema(self) -> Schema:
        """Its schema, or the built-in criterion as one."""
        return self.schema_content or ON_BRAND_SCHEMA

    @property
    def own_labels(self) -> Any:
        """Its labels, of any kind: annotations, or judgments under a schema."""
        return self.judgments if self.schema_id else self.annotations

    @property
    def is_calibrating(self) -> bool:
        return self.calibration_replies is not None and self.calibrated_at is None

    def count_places(self, people: int) -> int:
        """How many labels its replies get from so many annotators, without gold replies and repeats."""
        replies = self.item_count - self.gold_count
        of_all = min(self.calibration_replies or 0, replies)
        return (replies - of_all) * self.overlap + of_all * people

    @property
    def guidelines_digest(self) -> str:
        return digest_guidelines(self.guidelines)


class CampaignMember(models.Model):
    """An annotator of a campaign. The row is locked while a reply is served or a decision is stored."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="members", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="campaign_memberships")
    active = models.BooleanField(db_default=True)
    # Everything up to this position is done or was skipped; items returned after ``returned_seen`` are
    # found separately. ``gold_cursor`` is the same for gold items.
    cursor = models.BigIntegerField(db_default=0)
    gold_cursor = models.BigIntegerField(db_default=0)
    returned_seen = models.DateTimeField(null=True)
    # When all items were last searched from the start because no other was left.
    searched_at = models.DateTimeField(null=True)
    # The session they are working through, if the campaign goes session by session.
    session = models.ForeignKey(
        Session, models.SET_NULL, null=True, related_name="+", db_index=False, db_constraint=False
    )
    # Number of items served; decides whether the next is an ordinary item, a gold item or a repeat.
    served = models.BigIntegerField(db_default=0)
    # Current labels: of ordinary items, of gold items, and of hidden repeats.
    labelled = models.BigIntegerField(db_default=0)
    gold_labelled = models.BigIntegerField(db_default=0)
    repeated = models.BigIntegerField(db_default=0)
    skipped = models.BigIntegerField(db_default=0)
    flagged = models.BigIntegerField(db_default=0)

    class Meta:
        ordering = ["id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="campaign_member_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.campaign}"
