from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from datasets_app.models.columns import optional_person
from datasets_app.models.dataset import Dataset
from datasets_app.models.dataset_queryset import get_token_datasets

# Workers write a heartbeat every second. After this long without one the worker counts as dead.
HEARTBEAT_TIMEOUT = timedelta(seconds=15)

# Operations whose name on pages differs from the command's.
_OPERATION_LABELS = {
    "bootstrap_dataset": "Generate sessions",
    "scan_text": "Search for personal data",
    "canary_dataset": "Measure with planted values",
}


class JobRunQuerySet(models.QuerySet[Any]):
    def active(self) -> "JobRunQuerySet":
        """Jobs that run or will. A command that sent no heartbeat for long is gone: no worker resumes it."""
        silent = models.Q(foreground=True, heartbeat_at__lt=Now() - HEARTBEAT_TIMEOUT)
        return self.filter(state__in=["queued", "running"]).exclude(silent)

    def visible_to(self, user: Any) -> "JobRunQuerySet":
        """All but the jobs of datasets that are hidden from a user. A job refers to its dataset by key or,
        before it exists and after it is deleted, by name. Jobs of others on all datasets at once are
        hidden as long as one dataset is. Callers check the permissions of jobs."""
        hidden = Dataset.objects.hidden_from(user).order_by()
        of_all = models.Q(dataset=None, dataset_name="") & ~models.Q(actor=user.pk)
        rows = self
        if (datasets := get_token_datasets(user)) is not None:
            names = Dataset.objects.filter(pk__in=datasets).values("name")
            rows = rows.filter(models.Q(dataset__in=datasets) | models.Q(dataset_name__in=names))
        return (
            rows.exclude(dataset__in=hidden.values("pk"))
            .exclude(dataset_name__in=hidden.values("name"))
            .exclude(of_all & models.Exists(hidden))
        )


class JobRun(models.Model):
    """A background job. This row is the source of truth; the queue only carries its id."""

    class State(models.TextChoices):
        PREPARED = "prepared", "Not started"
        APPROVAL = "approval", "Waiting for approval"
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Canceled"

    FINISHED = (State.DONE, State.FAILED, State.CANCELLED)

    operation = models.CharField(max_length=50)
    dataset_name = models.CharField(max_length=100, blank=True)
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True, blank=True, related_name="job_runs")
    actor = optional_person()
    # Where the actor requested it from; empty for commands and what the scheduler starts.
    source_address = models.CharField(max_length=45, blank=True, default="", db_default="", editable=False)
    # The primary key of the API token it was requested with.
    api_token = models.BigIntegerField(null=True, blank=True, editable=False)
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.PREPARED)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(
        blank=True, help_text="Shown to the person who started the job: what happened and what to do."
    )
    # With four eyes: who approved or declined it. What it was is told by the state and the audit log.
    decided_by = optional_person()
    decided_at = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    # Number of this attempt: a worker that lost its claim can't overwrite the results of the next one.
    attempt = models.IntegerField(default=0)
    # Attempts made before someone last requested the job; the retry limit counts only those since.
    attempts_before = models.IntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True)
    # Run by a command in its own process, so no worker can resume it.
    foreground = models.BooleanField(default=False)
    queued_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JobRunQuerySet.as_manager()

    class Meta:
        verbose_name = "job"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=["prepared", "approval", "queued", "running", "done", "failed", "cancelled"]
                ),
                name="job_run_state_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "heartbeat_at"],
                condition=Q(state__in=["queued", "running"]),
                name="job_run_unfinished",
            ),
            models.Index(fields=["dataset", "-id"], name="job_run_of_dataset"),
        ]

    def __str__(self) -> str:
        return f"{self.get_operation_label()} #{self.pk}"

    def get_operation_label(self) -> str:
        return _OPERATION_LABELS.get(self.operation) or self.operation.replace("_", " ").capitalize()

    @property
    def state_label(self) -> str:
        """A prepared import is shown as a preview: it becomes a job only when someone confirms it."""
        if self.state == self.State.PREPARED and self.operation == "import_dataset":
            return "Preview, not imported"
        return str(self.get_state_display())

    @property
    def actor_name(self) -> str:
        return str(self.actor) if self.actor else "command line"

    @property
    def expires_at(self) -> Any:
        """When a job that waits for approval is canceled."""
        return self.queued_at and self.queued_at + timedelta(days=settings.APPROVAL_DAYS)

    @property
    def is_finished(self) -> bool:
        return self.state in self.FINISHED

    @property
    def percent(self) -> int | None:
        if self.state == self.State.DONE:
            return 100
        if not self.total:
            return None
        return min(100, int(100 * self.done / self.total))

    @property
    def is_stalled(self) -> bool:
        """Whether the job is running without recent heartbeats."""
        return (
            self.state == self.State.RUNNING
            and self.heartbeat_at is not None
            and timezone.now() - self.heartbeat_at > HEARTBEAT_TIMEOUT
        )


class JobFile(models.Model):
    """An input or output file of a job. Only the download view, which checks permissions, serves it."""

    class Kind(models.TextChoices):
        UPLOAD = "upload", "Uploaded file"
        PART = "part", "Part of an upload"
        EXPORT = "export", "Export"
        METADATA = "metadata", "Metadata"
        QUARANTINE = "quarantine", "Quarantined lines"

    job_run = models.ForeignKey(JobRun, models.CASCADE, related_name="files")
    kind = models.CharField(max_length=10, choices=Kind)
    file = models.FileField(upload_to="jobs", max_length=500)
    name = models.CharField(max_length=255)
    size = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
