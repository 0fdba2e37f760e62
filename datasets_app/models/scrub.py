from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.conversation import Session
from datasets_app.models.dataset import Dataset
from datasets_app.models.job_run import JobRun


class ScrubRun(models.Model):
    """One scrub of a dataset, or one preview of it (``dry_run``): what was asked, and what came of it.

    It holds classes, places, counts and times; never a value that was found.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="scrubs", db_index=False)
    job_run = models.ForeignKey(JobRun, models.SET_NULL, null=True, blank=True, related_name="scrubs")
    dry_run = models.BooleanField(
        default=False, help_text="Nothing is changed; places are those of raw text."
    )
    sample = models.IntegerField(null=True, blank=True, help_text="How many sessions a preview looks at.")
    policy = models.JSONField(help_text="What is looked for, and what becomes of it.")
    key_fingerprint = models.CharField(
        max_length=16, blank=True, help_text="Which key session ids were hashed under."
    )
    session_count = models.BigIntegerField(default=0)
    turn_count = models.BigIntegerField(default=0, help_text="Turns that it is about.")
    last_session = models.BigIntegerField(default=0, help_text="Sessions up to this key are in its chunks.")
    totals = models.JSONField(default=dict, help_text="Findings for each class.")
    changed_turns = models.BigIntegerField(default=0, help_text="In a preview: that would change.")
    verification = models.JSONField(
        null=True, blank=True, help_text="What reading the stored turns again has found."
    )
    verified_at = models.DateTimeField(null=True, blank=True)
    traces = models.JSONField(
        null=True, blank=True, help_text="Sentences on old copies that could not be removed from the disk."
    )
    error = models.TextField(blank=True, help_text="Why it stopped, for whoever goes on with it.")
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(sample__isnull=True) | Q(dry_run=True, sample__gte=1),
                name="scrub_run_sample_only_in_preview",
            ),
            models.CheckConstraint(
                condition=Q(verified_at__isnull=True) | Q(dry_run=False, verification__isnull=False),
                name="scrub_run_verified_by_verification",
            ),
        ]
        indexes = [models.Index(fields=["dataset", "-id"], name="scrub_run_of_dataset")]

    def __str__(self) -> str:
        return f"{'Preview' if self.dry_run else 'Scrub'} #{self.pk}"

    @property
    def finding_count(self) -> int:
        return sum(self.totals.values())

    @property
    def changed_share(self) -> float:
        """Of the turns looked at, those that hold something: 0 to 1."""
        return self.changed_turns / self.turn_count if self.turn_count else 0.0


class ScrubChunk(models.Model):
    """Some sessions of a scrub that are done together, in one transaction.

    The transaction's lock on the row is the claim: it goes with the worker that holds it.
    """

    scrub = models.ForeignKey(ScrubRun, models.CASCADE, related_name="chunks", db_index=False)
    session_keys = ArrayField(models.BigIntegerField())
    turn_count = models.IntegerField()
    done = models.BooleanField(db_default=False)
    totals = models.JSONField(db_default=models.Value({}, models.JSONField()))
    changed_turns = models.IntegerField(db_default=0)

    class Meta:
        ordering = ["id"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["scrub", "id"], name="scrub_chunk_of_scrub"),
            models.Index(fields=["scrub", "id"], condition=Q(done=False), name="scrub_chunk_to_do"),
        ]

    def __str__(self) -> str:
        return f"{self.turn_count} turns of scrub #{self.scrub_id}"


class ScrubFinding(models.Model):
    """Where a value was found: in a preview its place in the raw text, after a scrub that of what stands
    there instead. ``length`` is the length at that place, ``original_length`` that of the value."""

    scrub = models.ForeignKey(ScrubRun, models.CASCADE, related_name="findings", db_index=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="scrub_findings", db_index=False)
    turn_index = models.IntegerField(null=True, blank=True, help_text="None: beside the turns.")
    field = models.TextField()
    kind = models.CharField(max_length=100)
    start = models.IntegerField()
    length = models.IntegerField()
    original_length = models.IntegerField()
    score = models.FloatField()

    class Meta:
        ordering = ["id"]
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(start__gte=0, length__gte=0, original_length__gte=0),
                name="scrub_finding_place_not_negative",
            ),
        ]
        indexes = [
            models.Index(fields=["session", "scrub", "turn_index"], name="scrub_finding_in_session"),
            models.Index(fields=["scrub", "kind", "id"], name="scrub_finding_page"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in {self.field}"


class ScrubMark(models.Model):
    """What a person has said of the findings of a dataset; every scrub and preview since keeps to it.

    What is not personal is kept as it is, for it stands in the texts anyway. Of a value that was missed
    there is only a digest under the installation's key, with its number of words and its length.
    """

    class Verdict(models.TextChoices):
        NOT_PERSONAL = "not_personal", "Not personal"
        MISSED = "missed", "Missed"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="scrub_marks", db_index=False)
    verdict = models.CharField(max_length=12, choices=Verdict)
    kind = models.CharField(max_length=100, blank=True)
    term = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True)
    words = models.IntegerField(null=True, blank=True)
    length = models.IntegerField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["id"]
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=(
                    (Q(verdict="not_personal", digest="") & ~Q(term=""))
                    | (Q(verdict="missed", term="", words__gte=1) & ~Q(digest="") & ~Q(kind=""))
                ),
                name="scrub_mark_term_or_digest",
            ),
            models.UniqueConstraint(
                fields=["dataset", "verdict", "kind", "term", "digest"], name="scrub_mark_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_verdict_display()}: {self.kind}" if self.kind else str(self.get_verdict_display())
