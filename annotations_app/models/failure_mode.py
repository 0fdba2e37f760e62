from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.models.annotation import Annotation
from annotations_app.models.campaign import Campaign
from annotations_app.models.judgment import Judgment
from datasets_app.models.columns import Record, optional_person


class FailureMode(Record):
    """A way in which replies fail, named by a lead who read the notes of a campaign."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="failure_modes", db_index=False)
    name = models.CharField(max_length=100)
    created_by = optional_person()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="failure_mode_once"),
        ]

    def __str__(self) -> str:
        return self.name


class GroupedNote(Record):
    """The note of a label, which belongs to one mode."""

    mode = models.ForeignKey(FailureMode, models.CASCADE, related_name="notes")
    annotation = models.OneToOneField(
        Annotation, models.CASCADE, null=True, blank=True, related_name="grouped"
    )
    judgment = models.OneToOneField(Judgment, models.CASCADE, null=True, blank=True, related_name="grouped")

    class Meta(Record.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(annotation__isnull=False) ^ Q(judgment__isnull=False), name="grouped_note_of_one"
            ),
        ]
