from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.conversation import Session
from datasets_app.models.dataset import Dataset


class ScrubAudit(Record):
    """A sample of the turns of a scrubbed dataset, which people read to find what the scrub has missed.

    ``strata`` are the numbers of turns in the dataset: by the numbers of ``pii.audit_strata``, for each of
    ``languages`` in turn.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="scrub_audits", db_index=False)
    last_session = models.BigIntegerField(help_text="Highest session key when the sample was drawn.")
    turn_count = models.BigIntegerField(help_text="Number of turns that the sample stands for.")
    strata = models.JSONField(help_text="Number of turns in each stratum.")
    languages = models.JSONField(
        null=True, help_text="Of the turns; empty: others. None for a sample of an earlier version."
    )
    seed = models.BigIntegerField(help_text="Draws the same sample again from the same turns.")
    created_by = optional_person()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["-id"]
        indexes = [models.Index(fields=["dataset", "-id"], name="scrub_audit_of_dataset")]


class AuditedTurn(Record):
    """A turn of a sample, and whether something personal is left in it; empty until somebody has read it."""

    class Verdict(models.TextChoices):
        CLEAN = "clean", "Clean"
        LEAK = "leak", "Something is left"

    audit = models.ForeignKey(ScrubAudit, models.CASCADE, related_name="turns", db_index=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="+", db_constraint=False)
    turn_index = models.IntegerField()
    position = models.IntegerField(help_text="In random order, so that those read so far are a sample, too.")
    stratum = models.SmallIntegerField()
    verdict = models.CharField(max_length=5, choices=Verdict, blank=True, default="")
    read_by = optional_person()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta(Record.Meta):
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["audit", "position"], name="audited_turn_position_once"),
            models.CheckConstraint(
                condition=Q(verdict__in=["", "clean", "leak"]), name="audited_turn_verdict"
            ),
        ]
