"""What many tables have in common."""

from typing import Any

from django.conf import settings
from django.db import models


class Record(models.Model):
    """A table without permissions of its own: those of what its rows belong to apply. Most rows have no
    name."""

    class Meta:
        abstract = True
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} #{self.pk}".capitalize()


def optional_person(**options: Any) -> Any:
    """A column for the account of who did something, which what was done outlives."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", **options
    )
