from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models import Dataset, Turn


class Annotation(models.Model):
    """One person's label of one turn: does it sound like the persona?

    ``timestamp`` is kept as the characters the file had.
    """

    class Label(models.IntegerChoices):
        OFF_BRAND = 0, "Off-brand"
        ON_BRAND = 1, "On-brand"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="annotations")
    turn = models.ForeignKey(Turn, models.CASCADE, related_name="annotations")
    label = models.SmallIntegerField(choices=Label)
    persona_id = models.CharField(max_length=500)
    annotator = models.CharField(max_length=200, null=True, blank=True)
    notes = models.TextField(null=True, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    timestamp = models.TextField(null=True, blank=True)
    extra = models.JSONField(
        null=True, blank=True, help_text="Keys of the line that the format does not know."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["id"]
        permissions = [
            ("import_annotation", "Can import labels"),
            ("export_annotation", "Can export labels"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(label__in=[0, 1]), name="annotation_label_0_or_1"),
            models.CheckConstraint(condition=~Q(persona_id=""), name="annotation_persona_id_not_empty"),
        ]
        indexes = [models.Index(fields=["dataset", "persona_id", "id"], name="annotation_export")]

    def __str__(self) -> str:
        return f"{self.get_label_display()} ({self.persona_id})"
