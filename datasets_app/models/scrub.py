from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.conversation import Session
from datasets_app.models.dataset import Dataset
from datasets_app.models.job_run import JobRun
from datasets_app.models.querysets import ScrubMarkQuerySet


class ScrubRun(models.Model):
    """One scrub of a dataset, or one preview of a scrub (``dry_run``).

    It stores types, positions, counts and times, never a value that was found.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="scrubs", db_index=False)
    job_run = models.ForeignKey(JobRun, models.SET_NULL, null=True, blank=True, related_name="scrubs")
    dry_run = models.BooleanField(
        default=False, help_text="A preview: changes nothing; positions refer to the raw text."
    )
    sample = models.IntegerField(null=True, blank=True, help_text="Number of sessions to preview.")
    policy = models.JSONField(help_text="Types to look for and how to replace each of them.")
    key_fingerprint = models.CharField(
        max_length=16, blank=True, help_text="Fingerprint of the key used to hash session ids."
    )
    session_count = models.BigIntegerField(default=0)
    turn_count = models.BigIntegerField(default=0, help_text="Number of turns to scrub.")
    last_session = models.BigIntegerField(
        default=0, help_text="Highest session key in the scrub; later sessions aren't part of it."
    )
    totals = models.JSONField(default=dict, help_text="Number of findings for each type.")
    changed_turns = models.BigIntegerField(
        default=0, help_text="Number of changed turns; in a preview, turns that would change."
    )
    verification = models.JSONField(
        null=True, blank=True, help_text="Findings of the verification, which reads the stored turns again."
    )
    verified_at = models.DateTimeField(null=True, blank=True)
    traces = models.JSONField(
        null=True, blank=True, help_text="Old copies that could not be removed from the disk."
    )
    proposals = models.JSONField(
        null=True, blank=True, help_text="Findings of a preview whose values may be brands, with counts."
    )
    error = models.TextField(blank=True, help_text="Why the scrub stopped; shown when it is resumed.")
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


class ScrubChunk(Record):
    """Sessions that a scrub processes in one transaction.

    A worker claims a chunk by locking its row, so the claim ends with the worker's connection.
    """

    scrub = models.ForeignKey(ScrubRun, models.CASCADE, related_name="chunks", db_index=False)
    session_keys = ArrayField(models.BigIntegerField())
    turn_count = models.IntegerField()
    done = models.BooleanField(db_default=False)
    totals = models.JSONField(db_default=models.Value({}, models.JSONField()))
    changed_turns = models.IntegerField(db_default=0)

    class Meta(Record.Meta):
        ordering = ["id"]
        indexes = [
            models.Index(fields=["scrub", "id"], name="scrub_chunk_of_scrub"),
            models.Index(fields=["scrub", "id"], condition=Q(done=False), name="scrub_chunk_to_do"),
        ]


class ScrubFinding(models.Model):
    """The position of a value that was found: in the raw text for a preview, after a scrub in the new text.

    ``length`` is the length in that text, ``original_length`` the length of the value itself.
    """

    scrub = models.ForeignKey(ScrubRun, models.CASCADE, related_name="findings", db_index=False)
    session = models.ForeignKey(
        Session, models.CASCADE, related_name="scrub_findings", db_index=False, db_constraint=False
    )
    turn_index = models.IntegerField(
        null=True, blank=True, help_text="Empty if the value is outside the turns."
    )
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
            )
        ]
        indexes = [
            models.Index(fields=["session", "scrub", "turn_index"], name="scrub_finding_in_session"),
            models.Index(fields=["scrub", "kind", "id"], name="scrub_finding_page"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in {self.field}"


class ScrubMark(models.Model):
    """A reviewer's correction of a dataset's findings. All later scrubs and previews apply it. Without a
    dataset, it is a term that stays in all datasets.

    A term that is not personal is stored in plain text, since it remains in the conversations anyway. If a
    pattern class matches it, ``kind`` is that class and ``reason`` says why it may stay. Of a missed value
    only a digest under the installation's key, its length and its number of words are stored.
    """

    class Verdict(models.TextChoices):
        NOT_PERSONAL = "not_personal", "Not personal"
        MISSED = "missed", "Missed"

    dataset = models.ForeignKey(
        Dataset, models.CASCADE, null=True, blank=True, related_name="scrub_marks", db_index=False
    )
    verdict = models.CharField(max_length=12, choices=Verdict)
    kind = models.CharField(max_length=100, blank=True)
    term = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True)
    words = models.IntegerField(null=True, blank=True)
    length = models.IntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)
    created_by = optional_person(editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = ScrubMarkQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        default_permissions = ("view",)
        permissions = (("keep_terms_everywhere", "Can change the terms that scrubs keep in all datasets"),)
        constraints = [
            models.CheckConstraint(
                condition=(
                    (Q(verdict="not_personal", digest="") & ~Q(term=""))
                    | (Q(verdict="missed", term="", words__gte=1) & ~Q(digest="") & ~Q(kind=""))
                ),
                name="scrub_mark_term_or_digest",
            ),
            models.CheckConstraint(
                condition=Q(dataset__isnull=False) | Q(verdict="not_personal"),
                name="scrub_mark_everywhere_is_term",
            ),
            models.UniqueConstraint(
                fields=["dataset", "verdict", "kind", "term", "digest"],
                name="scrub_mark_once",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_verdict_display()}: {self.kind}" if self.kind else str(self.get_verdict_display())
