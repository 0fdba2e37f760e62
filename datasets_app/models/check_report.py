from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.conversation import Session
from datasets_app.models.dataset import Dataset
from datasets_app.models.job_run import JobRun

# Events after which the checks find nothing in the texts that they didn't find before.
TEXT_PRESERVING_ACTIONS = ("add_scrub_mark", "remove_scrub_mark", "tag_sessions", "untag_sessions")
# Events of what changes the text of a dataset or what is personal in it: a report from before is out of date.
OUTDATING_ACTIONS = (
    "import",
    "generate",
    "sample",
    "import_annotations",
    "erase_session",
    "retention",
    *TEXT_PRESERVING_ACTIONS,
)


class CheckReport(models.Model):
    """The result of checking a dataset once."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="check_reports")
    job_run = models.ForeignKey(JobRun, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    turn_count = models.BigIntegerField(default=0)
    error_count = models.BigIntegerField(default=0)
    warning_count = models.BigIntegerField(default=0)
    totals = models.JSONField(default=dict, help_text="Number of findings for each code.")
    names_looked_for = models.BooleanField(
        "names detected", default=False, help_text="Whether the name model searched for names of people."
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.error_count} errors, {self.warning_count} warnings"


class CheckFinding(models.Model):
    """One finding of a report and its position. A report stores a few hundred for each code at most."""

    report = models.ForeignKey(CheckReport, models.CASCADE, related_name="findings", db_index=False)
    code = models.CharField(max_length=4)
    message = models.TextField()
    session = models.ForeignKey(
        Session, models.CASCADE, null=True, blank=True, related_name="+", db_constraint=False
    )
    turn_index = models.IntegerField(null=True, blank=True)
    field = models.CharField(max_length=50, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(code__regex=r"^[EW][0-9]{3}$"), name="check_finding_code_format"
            ),
        ]
        indexes = [models.Index(fields=["report", "code", "id"], name="check_finding_page")]

    def __str__(self) -> str:
        return f"{self.code} {self.message}"
