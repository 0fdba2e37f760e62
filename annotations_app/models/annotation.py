from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.models.campaign import Campaign
from annotations_app.models.querysets import LabelQuerySet
from datasets_app.domain.labels.on_brand import ON_BRAND, ON_BRAND_SCHEMA
from datasets_app.domain.labels.schema import Answers, Schema
from datasets_app.models import Dataset, PartitionForeignKey, Turn


class Annotation(models.Model):
    """One person's label of one turn, by the built-in criterion.

    ``timestamp`` is kept as the characters the file had.
    """

    class Kind(models.TextChoices):
        LABEL = "label", "Label"
        # The annotator saw the same reply a second time without being told.
        REPEAT = "repeat", "Hidden repeat"
        # Set by a lead to resolve a disagreement, or an imported reference label. The others remain.
        ADJUDICATED = "adjudicated", "Adjudicated"
        # Replaced by a later label. Kept as history, never counted.
        WITHDRAWN = "withdrawn", "Withdrawn"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="annotations", db_index=False)
    turn = PartitionForeignKey(Turn, models.CASCADE, related_name="annotations")
    campaign = models.ForeignKey(
        Campaign, models.SET_NULL, null=True, blank=True, editable=False, related_name="annotations"
    )
    kind = models.CharField(max_length=11, choices=Kind, db_default=Kind.LABEL, editable=False)
    label = models.SmallIntegerField(choices=ON_BRAND.choices)
    persona_id = models.CharField(max_length=500)
    persona_digest = models.CharField(
        max_length=64,
        db_default="",
        blank=True,
        editable=False,
        help_text="Digest of the persona's YAML that the annotator saw.",
    )
    guidelines_digest = models.CharField(
        max_length=64,
        null=True,
        blank=True,
        editable=False,
        help_text="Digest of the guidelines shown; empty without any, null if unknown.",
    )
    annotator = models.CharField(max_length=200, null=True, blank=True)
    notes = models.TextField(null=True, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, editable=False, help_text="Time on task.")
    timestamp = models.TextField(null=True, blank=True)
    # Words of the reply: see domain/evidence.py.
    evidence = models.JSONField(null=True, blank=True, editable=False)
    extra = models.JSONField(
        null=True, blank=True, help_text="Keys of the line that the file format doesn't define."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = LabelQuerySet.as_manager()

    class Meta:
        verbose_name = "label"
        ordering = ["id"]
        permissions = [
            ("import_annotation", "Can import labels"),
            ("export_annotation", "Can export labels"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(label__in=list(ON_BRAND.codes)), name="annotation_label_0_or_1"
            ),
            models.CheckConstraint(condition=~Q(persona_id=""), name="annotation_persona_id_not_empty"),
            models.CheckConstraint(
                condition=Q(kind__in=["label", "repeat", "adjudicated", "withdrawn"]),
                name="annotation_kind_known",
            ),
            models.UniqueConstraint(
                fields=["turn", "persona_id"],
                condition=Q(kind="adjudicated"),
                name="annotation_adjudicated_once",
            ),
        ]
        indexes = [
            models.Index(fields=["dataset", "persona_id", "id"], name="annotation_export"),
            # Covers every column that agreement is computed from, so that needs no table reads.
            models.Index(
                fields=["dataset", "persona_id", "kind", "turn"],
                include=["annotator", "label", "campaign"],
                name="annotation_agreement",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_label_display()} ({self.persona_id})"

    @property
    def is_stale(self) -> bool:
        """Made under another persona or other guidelines of its campaign; as `LabelQuerySet.stale`."""
        if self.campaign is None or self.kind != self.Kind.LABEL:
            return False
        known = (self.campaign.persona.digest, self.campaign.guidelines_digest)
        # What wasn't recorded counts as unchanged.
        made = (
            self.persona_digest or known[0],
            known[1] if self.guidelines_digest is None else self.guidelines_digest,
        )
        return made != known

    @property
    def asked_schema(self) -> Schema:
        return ON_BRAND_SCHEMA

    @property
    def answers(self) -> Answers:
        return Answers({ON_BRAND.key: self.label}, {})
