from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from datasets_app.domain.retention import RetentionRule, parse_retention
from datasets_app.models.columns import Record


class RetentionPolicy(models.Model):
    """How long to keep datasets whose file name matches. The first matching policy applies."""

    position = models.PositiveIntegerField(
        unique=True, help_text="Policies apply in this order, lowest first."
    )
    pattern = models.CharField(
        max_length=255,
        help_text="Pattern for the dataset's name plus .jsonl, with * and ? as wildcards.",
    )
    retention = models.CharField(
        max_length=50, help_text='"90 days", "18 months", "1 year", "P90D" or "indefinite".'
    )
    reason = models.TextField(blank=True)
    # A policy deletes nothing until someone has previewed its effect and activated it.
    active = models.BooleanField(default=False, editable=False)
    activated_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["position"]
        permissions = [("activate_retentionpolicy", "Can activate and deactivate retention rules")]
        verbose_name = "retention rule"
        constraints = [
            models.CheckConstraint(condition=~Q(pattern=""), name="retention_pattern_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.pattern}: {self.retention}"

    def as_rule(self) -> RetentionRule:
        return RetentionRule(self.pattern, self.retention, self.reason)

    def clean(self) -> None:
        try:
            parse_retention(self.retention)
        except ValueError as error:
            raise ValidationError({"retention": str(error)}) from None


class Tombstone(Record):
    """A digest (see ``domain/tombstones.py``) of an erased session: of its id or of its content.

    Imports compare with it. ``var/erasures`` has a copy, because a restored backup restores this table, too.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    erased_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.digest[:12]} of {self.erased_at:%Y-%m-%d}"
