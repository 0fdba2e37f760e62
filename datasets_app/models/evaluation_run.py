from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.release import Release


class EvaluationRun(Record):
    """The scores of a run of Alignmenter on a release.

    Scores of single replies are in three arrays of the same length: they name sessions that may be deleted
    since by their primary keys, which say nothing then.
    """

    release = models.ForeignKey(Release, models.CASCADE, related_name="runs", db_index=False)
    run_id = models.UUIDField()
    model = models.CharField(max_length=200)
    ran_at = models.DateTimeField()
    package_version = models.CharField(max_length=40)
    dataset_digest = models.CharField(max_length=64)
    persona_digest = models.CharField(max_length=64, blank=True)
    whole = models.JSONField(help_text="By scorer: its numbers.")
    groups = models.JSONField(default=dict, help_text="By scenario and by persona: the same.")
    session_keys = ArrayField(models.BigIntegerField(), default=list)
    turn_indexes = ArrayField(models.IntegerField(), default=list)
    reply_scores = ArrayField(models.FloatField(), default=list)
    missing_replies = models.IntegerField(default=0, help_text="Scored replies that aren't in the dataset.")
    imported_by = optional_person()
    imported_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["ran_at", "id"]
        constraints = [models.UniqueConstraint(fields=["release", "run_id"], name="evaluation_run_once")]

    def __str__(self) -> str:
        return f"{self.model} on {self.release}"
