from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models import Dataset, Persona, Session
from datasets_app.models.dataset import NAME_PATTERN

# More would leave annotators with little to label that is new.
MAX_SHARE = 0.5


def _share_field(help_text: str) -> "models.FloatField[float, float]":
    return models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(MAX_SHARE)],
        help_text=help_text,
    )


class Campaign(models.Model):
    """Some replies of a dataset that some annotators are to label for one persona."""

    class Order(models.TextChoices):
        RANDOM = "random", "Random"
        SESSION = "session", "Session by session"
        DISPUTED = "disputed", "Most disputed first"

    class Status(models.TextChoices):
        PREPARING = "preparing", "Being prepared"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(NAME_PATTERN, "Letters, digits, dot, dash and underscore only.")],
    )
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="campaigns")
    persona = models.ForeignKey(Persona, models.PROTECT, related_name="campaigns")
    guidelines = models.TextField(blank=True, help_text="Markdown; annotators read it beside the reply.")
    overlap = models.PositiveSmallIntegerField(
        default=2,
        validators=[MinValueValidator(1), MaxValueValidator(50)],
        help_text="How many annotators label each reply.",
    )
    gold_share = _share_field("Of what an annotator sees, replies whose label is known (0 to 0.5).")
    repeat_share = _share_field("Of what an annotator sees, replies they have labelled before (0 to 0.5).")
    order = models.CharField(max_length=8, choices=Order, default=Order.RANDOM)
    tag = models.TextField(blank=True, help_text="Only replies with this tag.")
    split = models.CharField(max_length=20, blank=True, help_text="Only sessions of this split.")
    lease_minutes = models.PositiveSmallIntegerField(
        default=15,
        validators=[MinValueValidator(1), MaxValueValidator(1440)],
        help_text="After so long without a sign of its annotator a reply goes to another.",
    )
    seed = models.BigIntegerField(default=42, help_text="Of the random order, gold items and repeats.")
    status = models.CharField(max_length=9, choices=Status, default=Status.PREPARING, editable=False)
    # Data that no scrub has verified is labelled all the same; the audit trail has the reason.
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
            ("adjudicate", "Can settle what annotators disagree on"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(overlap__gte=1), name="campaign_overlap_from_one"),
            models.CheckConstraint(
                condition=Q(gold_share__gte=0, gold_share__lte=MAX_SHARE)
                & Q(repeat_share__gte=0, repeat_share__lte=MAX_SHARE),
                name="campaign_shares_in_range",
            ),
            models.CheckConstraint(
                condition=Q(order__in=["random", "session", "disputed"]), name="campaign_order_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["preparing", "open", "paused", "closed"]),
                name="campaign_status_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CampaignMember(models.Model):
    """An annotator of a campaign. Its row is locked while something is served to or taken from them."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="members", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="campaign_memberships")
    active = models.BooleanField(db_default=True)
    # Up to this position there was nothing (more) for them; what others have given back since
    # ``returned_seen`` is looked for beside. Gold items are given in the order of their positions.
    cursor = models.BigIntegerField(db_default=0)
    gold_cursor = models.BigIntegerField(db_default=0)
    returned_seen = models.DateTimeField(null=True)
    # When all was gone through once more, because nothing was found.
    searched_at = models.DateTimeField(null=True)
    # Where they are, session by session.
    session = models.ForeignKey(
        Session, models.SET_NULL, null=True, related_name="+", db_index=False, db_constraint=False
    )
    # How many items they were given: what the next one is to be hangs on it.
    served = models.BigIntegerField(db_default=0)
    # Labels that stand now: of ordinary items, of gold items, and of hidden repeats.
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
