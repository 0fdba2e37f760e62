from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.dataset import Dataset


class DatasetGrant(Record):
    """Lets a user or a group see a restricted dataset. Their role decides what they may do there."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="grants", db_index=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="dataset_grants"
    )
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="dataset_grants")
    granted_by = optional_person()
    granted_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, group__isnull=True)
                | Q(user__isnull=True, group__isnull=False),
                name="dataset_grant_to_user_or_group",
            ),
            models.UniqueConstraint(fields=["dataset", "user"], name="dataset_grant_once_for_user"),
            models.UniqueConstraint(fields=["dataset", "group"], name="dataset_grant_once_for_group"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} to {self.user or self.group}"
