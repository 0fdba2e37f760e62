from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.models.annotation import Annotation
from annotations_app.models.assignment import Assignment
from annotations_app.models.campaign import Campaign
from annotations_app.models.label_schema import LabelSchema
from annotations_app.models.querysets import LabelQuerySet
from datasets_app.domain.labels import rater as raters
from datasets_app.domain.labels.schema import Answers, Schema
from datasets_app.models import Dataset, PartitionForeignKey, Turn


class Rater(models.Model):
    """Who judged replies of a dataset: a person, a version of a model with its prompt, or a file.

    Of each dataset its own, so that they are scrubbed and deleted with it.
    """

    class Kind(models.TextChoices):
        PERSON = raters.RaterKind.PERSON.value, "Person"
        MODEL = raters.RaterKind.MODEL.value, "Model"
        IMPORT = raters.RaterKind.IMPORT.value, "Import"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="raters", db_index=False)
    kind = models.CharField(max_length=6, choices=Kind)
    name = models.CharField(max_length=raters.MAX_NAME_CHARACTERS, null=True, blank=True)
    version = models.CharField(max_length=raters.MAX_NAME_CHARACTERS, db_default="", blank=True)
    prompt_digest = models.CharField(max_length=64, db_default="", blank=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "kind", "name", "version", "prompt_digest"],
                name="rater_once",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return self.name or "unnamed"


class Judgment(models.Model):
    """One decision on one turn under a schema, with its answers to all criteria.

    Labels by the built-in criterion are :class:`Annotation`. ``codes`` are the answers that are numbers,
    ``texts`` those that people wrote, both by criterion.
    """

    Kind = Annotation.Kind

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="judgments")
    turn = PartitionForeignKey(Turn, models.CASCADE, related_name="judgments")
    campaign = models.ForeignKey(
        Campaign, models.SET_NULL, null=True, blank=True, related_name="judgments", db_index=False
    )
    # Detached when the reply is requeued.
    assignment = models.OneToOneField(
        Assignment, models.SET_NULL, null=True, blank=True, related_name="judgment"
    )
    schema = models.ForeignKey(LabelSchema, models.PROTECT, related_name="judgments")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="judgments")
    kind = models.CharField(max_length=11, choices=Annotation.Kind, db_default=Annotation.Kind.LABEL)
    codes = models.JSONField(default=dict)
    texts = models.JSONField(null=True, blank=True)
    persona_id = models.CharField(max_length=500)
    persona_digest = models.CharField(max_length=64, db_default="", blank=True)
    guidelines_digest = models.CharField(max_length=64, db_default="", blank=True)
    # Words of the reply: see domain/evidence.py.
    evidence = models.JSONField(null=True, blank=True, editable=False)
    notes = models.TextField(null=True, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="Time on task.")
    timestamp = models.TextField(null=True, blank=True)
    extra = models.JSONField(null=True, blank=True, help_text="As that of a label.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = LabelQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["label", "repeat", "adjudicated", "withdrawn"]),
                name="judgment_kind_known",
            ),
            models.UniqueConstraint(
                fields=["turn", "persona_id", "schema"],
                condition=Q(kind="adjudicated"),
                name="judgment_adjudicated_once",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "kind", "turn"], name="judgment_agreement"),
        ]

    def __str__(self) -> str:
        return f"{self.schema} #{self.pk}"

    @property
    def is_stale(self) -> bool:
        """As that of a label, and of the schema."""
        if self.campaign is None or self.campaign.schema is None or self.kind != self.Kind.LABEL:
            return False
        campaign = self.campaign
        made = (self.persona_digest, self.guidelines_digest, self.schema.digest)
        return made != (campaign.persona.digest, campaign.guidelines_digest, self.campaign.schema.digest)

    @property
    def answers(self) -> Answers:
        return Answers(self.codes, self.texts or {})

    @property
    def asked_schema(self) -> Schema:
        return self.schema.content

    @property
    def annotator(self) -> str | None:
        return self.rater.name
