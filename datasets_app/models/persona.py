import hashlib

from django.db import models
from django.db.models.functions import Now


class Persona(models.Model):
    """A brand voice. The YAML is stored unchanged; the digest is computed from it."""

    persona_id = models.CharField(max_length=500, unique=True)
    display_name = models.CharField(max_length=500, blank=True)
    description = models.TextField(blank=True)
    yaml = models.TextField()
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True, editable=False)

    class Meta:
        ordering = ["persona_id"]

    def __str__(self) -> str:
        return self.display_name or self.persona_id

    def save(self, *args: object, **kwargs: object) -> None:
        self.digest = hashlib.sha256(self.yaml.encode()).hexdigest()
        super().save(*args, **kwargs)  # type: ignore[arg-type]
