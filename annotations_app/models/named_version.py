from django.db import models
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person


class NamedVersion(Record):
    """A version of something with a name. Versions never change: a new one is another row; see
    ``criteria/versions.py``."""

    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, help_text="Changes with whatever changes what it means.")
    document = models.JSONField()
    created_by = optional_person()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        abstract = True
        ordering = ["name", "-version"]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def full_name(self) -> str:
        """As files and commands name it."""
        return f"{self.name}@{self.version}"
