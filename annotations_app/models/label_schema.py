from functools import cached_property

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.schema_document import read_document


class LabelSchema(models.Model):
    """A version of what campaigns ask. Versions never change: a new one is another row.

    ``document`` is what ``schema_document.py`` reads. Campaigns without a schema ask the built-in criterion.
    """

    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, help_text="Changes with the meaning of a label.")
    document = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name", "-version"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="label_schema_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def full_name(self) -> str:
        """As files and commands name it."""
        return f"{self.name}@{self.version}"

    @cached_property
    def content(self) -> Schema:
        return read_document(self.document)
