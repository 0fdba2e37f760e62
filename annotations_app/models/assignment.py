from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.models.annotation import Annotation
from annotations_app.models.campaign import Campaign
from annotations_app.models.querysets import AssignmentQuerySet
from datasets_app.models import Session, Turn


class CampaignItem(models.Model):
    """A reply of a campaign, with how many more annotators may have it.

    ``open`` is the overlap less the assignments that are leased or labelled. A gold item is given to
    every annotator, beside the overlap; its ``open`` stays 0.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items", db_index=False)
    turn = models.ForeignKey(Turn, models.CASCADE, related_name="campaign_items", db_index=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="campaign_items", db_index=False)
    position = models.BigIntegerField()
    open = models.SmallIntegerField()
    gold = models.BooleanField(db_default=False)
    # When someone last gave it back: it is looked for by those who have passed it by.
    returned_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position"]
        default_permissions = ()
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


class Assignment(models.Model):
    """An item in the hands of an annotator, and what became of it."""

    class State(models.TextChoices):
        LEASED = "leased", "Given"
        LABELLED = "labelled", "Labelled"
        SKIPPED = "skipped", "Skipped"
        FLAGGED = "flagged", "Flagged"
        # Its annotator was silent for too long, or it is to be labelled again: it may be given anew.
        RELEASED = "released", "Given back"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="assignments", db_index=False)
    item = models.ForeignKey(CampaignItem, models.CASCADE, related_name="assignments", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments")
    repeat = models.BooleanField(db_default=False)
    state = models.CharField(max_length=8, choices=State, default=State.LEASED)
    # The order in which an annotator was given things.
    ordinal = models.BigIntegerField()
    persona_digest = models.CharField(max_length=64, help_text="Of the persona's YAML that was shown.")
    served_at = models.DateTimeField(db_default=Now())
    leased_until = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    annotation = models.OneToOneField(
        Annotation, models.SET_NULL, null=True, blank=True, related_name="assignment"
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        default_permissions = ()
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
    """What an annotator pressed: the history of an assignment. Rows are only ever added.

    ``key`` is made where the key was pressed; the same one coming twice is one decision.
    """

    class Kind(models.TextChoices):
        LABEL = "label", "Label"
        SKIP = "skip", "Skip"
        FLAG = "flag", "Flag"
        UNDO = "undo", "Undo"
        # By a lead: the persona has changed, the reply is to be labelled again.
        REQUEUE = "requeue", "Queued again"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="decisions")
    key = models.UUIDField(unique=True)
    kind = models.CharField(max_length=7, choices=Kind)
    label = models.SmallIntegerField(choices=Annotation.Label, null=True, blank=True)
    notes = models.TextField(null=True, blank=True, help_text="The note, or the reason of a flag.")
    confidence = models.FloatField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    persona_digest = models.CharField(max_length=64)
    # False: it came when the reply had gone to others, who fill its overlap.
    counted = models.BooleanField(db_default=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"
