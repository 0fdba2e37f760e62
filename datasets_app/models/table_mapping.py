from django.db import models
from django.db.models.functions import Now


class TableMapping(models.Model):
    """Which columns of a table are what, to be used again by name: {"text": "Body", "role": "Author"}."""

    name = models.CharField(max_length=100, primary_key=True)
    columns = models.JSONField()
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["name"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
