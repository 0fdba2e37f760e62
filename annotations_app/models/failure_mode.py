from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations_app.models.annotation import Annotation
from annotations_app.models.campaign import Campaign
from annotations_app.models.judgment import Judgment


class FailureMode(models.Model):
    """A way in which replies fail, named by a lead who read the notes of a campaign."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="failure_modes", db_index=False)
    name = models.CharField(max_length=100)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="failure_mode_once"),
        ]

    def __str__(self) -> str:
        return self.name


class GroupedNote(models.Model):
    """The note of a label, which belongs to one mode."""

    mode = models.ForeignKey(FailureMode, models.CASCADE, related_name="notes")
    annotation = models.OneToOneField(
        Annotation, models.CASCADE, null=True, blank=True, related_name="grouped"
    )
    judgment = models.OneToOneField(Judgment, models.CASCADE, null=True, blank=True, related_name="grouped")

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(annotation__isnull=False) ^ Q(judgment__isnull=False), name="grouped_note_of_one"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.mode_id}: {self.annotation_id or self.judgment_id}"
