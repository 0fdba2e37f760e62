from django.db import models
from django.db.models.functions import Now

from datasets_app.models.columns import Record


class TableMapping(Record):
    """Which columns of a table are what, to be used again by name: {"text": "Body", "role": "Author"}."""

    name = models.CharField(max_length=100, primary_key=True)
    columns = models.JSONField()
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(Record.Meta):
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
