from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.models.annotation import Annotation
from annotations_app.models.campaign import Campaign
from annotations_app.models.querysets import AssignmentQuerySet
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.models import Dataset, PartitionForeignKey, Session, Turn
from datasets_app.models.columns import Record


class CampaignItem(Record):
    """A reply of a campaign.

    ``open`` is how many more annotators it may be assigned to: the overlap minus the assignments that are
    leased or labeled. A gold item goes to every annotator, regardless of the overlap; its ``open`` stays 0.
    So do the items of a calibration round, whose ``open`` counts everybody; until it ends, others have 0.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items", db_index=False)
    turn = models.ForeignKey(
        Turn, models.CASCADE, related_name="campaign_items", db_index=False, db_constraint=False
    )
    session = models.ForeignKey(
        Session, models.CASCADE, related_name="campaign_items", db_index=False, db_constraint=False
    )
    position = models.BigIntegerField()
    open = models.SmallIntegerField()
    gold = models.BooleanField(db_default=False)
    calibration = models.BooleanField(db_default=False)
    # Places that were opened beyond the overlap of the campaign.
    extra = models.SmallIntegerField(db_default=0)
    # Under a schema that asks of sessions: the last reply of its session when it was added.
    asks_session = models.BooleanField(db_default=False)
    # Where the most useful replies come first, by which chance: see domain/estimates/usefulness.py.
    draw = models.FloatField(null=True, editable=False)
    usefulness = models.FloatField(null=True, editable=False)
    reached = models.FloatField(null=True, editable=False)
    # When it was last returned. Lets annotators whose cursor is already past it find it again.
    returned_at = models.DateTimeField(null=True)

    class Meta(Record.Meta):
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "campaign"], name="campaign_item_once"),
            models.CheckConstraint(condition=Q(open__gte=0), name="campaign_item_open_not_negative"),
        ]
        indexes = [
            models.Index(fields=["session", "campaign", "position"], name="campaign_item_of_session"),
            models.Index(
                fields=["campaign", "position"], condition=Q(open__gt=0), name="campaign_item_to_give"
            ),
            models.Index(
                fields=["campaign", "returned_at"],
                condition=Q(open__gt=0, returned_at__isnull=False),
                name="campaign_item_returned",
            ),
            models.Index(fields=["campaign", "position"], condition=Q(gold=True), name="campaign_item_gold"),
        ]

    def __str__(self) -> str:
        return f"{self.position} of {self.campaign}"


class PairedReply(Record):
    """The reply that an item's is compared with: the same turn of the same session of another dataset.

    ``swapped`` says that it is shown as A. The campaign's own reply is shown as A otherwise.
    """

    item = models.OneToOneField(CampaignItem, models.CASCADE, primary_key=True, related_name="pair")
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="paired_replies")
    turn = PartitionForeignKey(Turn, models.CASCADE, related_name="paired_replies")
    swapped = models.BooleanField()


class Assignment(Record):
    """An item assigned to an annotator, and the outcome."""

    class State(models.TextChoices):
        LEASED = "leased", "In progress"
        LABELLED = "labelled", "Labeled"
        SKIPPED = "skipped", "Skipped"
        FLAGGED = "flagged", "Flagged"
        # The lease ran out or the reply was requeued: it can be assigned again.
        RELEASED = "released", "Returned"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="assignments", db_index=False)
    item = models.ForeignKey(CampaignItem, models.CASCADE, related_name="assignments", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments")
    repeat = models.BooleanField(db_default=False)
    # Given because those before differed or were unsure: no part of a random sample of annotators.
    extra = models.BooleanField(db_default=False)
    state = models.CharField(max_length=8, choices=State, default=State.LEASED)
    # Numbers an annotator's assignments in the order they were served.
    ordinal = models.BigIntegerField()
    persona_digest = models.CharField(max_length=64, help_text="Digest of the persona's YAML shown.")
    served_at = models.DateTimeField(db_default=Now())
    leased_until = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    annotation = models.OneToOneField(
        Annotation, models.SET_NULL, null=True, blank=True, related_name="assignment"
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta(Record.Meta):
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator", "repeat"], name="assignment_once"),
            models.CheckConstraint(
                condition=Q(state__in=["leased", "labelled", "skipped", "flagged", "released"]),
                name="assignment_state_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "leased_until"], condition=Q(state="leased"), name="assignment_leases"
            ),
            models.Index(fields=["campaign", "annotator", "-decided_at"], name="assignment_decided"),
            models.Index(
                fields=["campaign", "-decided_at"], condition=Q(state="flagged"), name="assignment_flagged"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} to {self.annotator_id}"


class Decision(models.Model):
    """An entry in the history of an assignment. Rows are only ever added.

    The browser creates ``key``, so a submission that arrives twice is stored once.
    """

    class Kind(models.TextChoices):
        LABEL = "label", "Label"
        SKIP = "skip", "Skip"
        FLAG = "flag", "Flag"
        UNDO = "undo", "Undo"
        # A lead requeued the reply because the persona has changed.
        REQUEUE = "requeue", "Requeued"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="decisions")
    key = models.UUIDField(unique=True)
    kind = models.CharField(max_length=7, choices=Kind)
    label = models.SmallIntegerField(choices=ON_BRAND.choices, null=True, blank=True)
    # Under a schema, the answers: see Judgment. Those of a requeue stay for the criteria that are the same.
    codes = models.JSONField(null=True, blank=True)
    texts = models.JSONField(null=True, blank=True)
    # What a judge had said of the reply, where it was shown after this decision: answers by criterion.
    revealed = models.JSONField(null=True, blank=True)
    notes = models.TextField(null=True, blank=True, help_text="The note, or the reason for a flag.")
    confidence = models.FloatField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    persona_digest = models.CharField(max_length=64)
    # False if it arrived after the reply had been reassigned and its overlap was filled by others.
    counted = models.BooleanField(db_default=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        default_permissions = ("view",)
        indexes = [models.Index(fields=["at"], name="decision_time")]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"
