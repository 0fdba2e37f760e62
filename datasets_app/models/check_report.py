from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Now

from datasets_app.domain.wording import format_count
from datasets_app.models.audit_event import AuditEvent
from datasets_app.models.conversation import Session
from datasets_app.models.dataset import Dataset
from datasets_app.models.dataset_queryset import DatasetQuerySet
from datasets_app.models.job_run import JobRun
from datasets_app.models.scrub import ScrubRun

# Events after which the checks find nothing in the texts that they didn't find before.
TEXT_PRESERVING_ACTIONS = ("add_scrub_mark", "remove_scrub_mark", "tag_sessions", "untag_sessions")
# Events of what changes the text of a dataset or what is personal in it: a report from before is out of date.
OUTDATING_ACTIONS = (
    "import",
    "generate",
    "sample",
    "make_case",
    "draft_variants",
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
        return f"{format_count(self.error_count, 'error')}, {format_count(self.warning_count, 'warning')}"

    def facts(self) -> dict[str, int]:
        """For the row of a job."""
        return {"report": self.pk, "errors": self.error_count, "warnings": self.warning_count}


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
            )
        ]
        indexes = [models.Index(fields=["report", "code", "id"], name="check_finding_page")]

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


def with_last_check(datasets: DatasetQuerySet) -> DatasetQuerySet:
    """Each with ``last_check`` (a time or None), ``last_errors``, ``last_warnings`` and ``is_outdated``:
    whether the dataset has changed since."""

    scrubs = ScrubRun.objects.filter(dataset=OuterRef("pk"), dry_run=False)
    changes = AuditEvent.objects.filter(
        dataset_name=OuterRef("name"), action__in=OUTDATING_ACTIONS
    ).order_by()
    last = CheckReport.objects.filter(dataset=OuterRef("pk")).order_by("-id")
    return datasets.annotate(
        last_check=Subquery(last.values("created_at")[:1]),
        last_errors=Subquery(last.values("error_count")[:1]),
        last_warnings=Subquery(last.values("warning_count")[:1]),
        checked_turns=Subquery(last.values("turn_count")[:1]),
    ).annotate(
        is_scrubbed_since=Exists(scrubs.filter(created_at__gt=OuterRef("last_check"))),
        is_outdated=Q(is_scrubbed_since=True)
        | Exists(changes.filter(at__gt=OuterRef("last_check")))
        | ~Q(turn_count=F("checked_turns")),
    )
