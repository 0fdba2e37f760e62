from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from datasets_app.models.columns import Record
from datasets_app.models.dataset import Dataset


class ApiToken(Record):
    """Lets a program act as its person, within its scopes. Only the digest of the secret is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    # The start of the secret, by which people recognize it.
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=30))
    # Not told by an empty list: a token must not gain access because a dataset was deleted.
    is_limited = models.BooleanField(default=False)
    datasets = models.ManyToManyField(Dataset, related_name="+", blank=True)
    # Whether it was created after signing in with a second factor.
    second_factor = models.BooleanField(default=False)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=45, blank=True, default="")
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "active"

    @property
    def is_active(self) -> bool:
        return self.state == "active"

    @property
    def dataset_names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets.all()]


class ApiAnswer(Record):
    """The answer to a request with an ``Idempotency-Key``, for a request that is sent again.

    ``key`` and ``request`` are digests: of the key, and of method, path and body.
    """

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=64)
    request = models.CharField(max_length=64)
    status = models.IntegerField(default=0)
    body: Any = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="api_answer_once")]
