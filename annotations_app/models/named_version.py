from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class NamedVersion(models.Model):
    """A version of something with a name. Versions never change: a new one is another row; see
    ``criteria/versions.py``."""

    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, help_text="Changes with whatever changes what it means.")
    document = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True
        ordering = ["name", "-version"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def full_name(self) -> str:
        """As files and commands name it."""
        return f"{self.name}@{self.version}"
