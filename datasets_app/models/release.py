from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.dataset import Dataset


class Release(models.Model):
    """An immutable version of a dataset: its files, their digests and the state of its checks.

    If one of its sessions is erased, a release loses its files but keeps its digests, and the next
    patch version replaces it.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="releases", db_index=False)
    major = models.IntegerField()
    minor = models.IntegerField()
    patch = models.IntegerField()
    session_count = models.BigIntegerField()
    turn_count = models.BigIntegerField()
    splits = models.JSONField(default=dict, help_text="Number of sessions in each split.")
    fields = models.JSONField(default=list, help_text="The schema: the fields of its lines.")
    sha256 = models.CharField(max_length=64, help_text="Digest of the data file as downloaded.")
    content_digest = models.CharField(
        max_length=64, help_text="Digest of the records, as in Alignmenter's manifest."
    )
    notes = models.TextField(blank=True)
    changelog = models.TextField(blank=True)
    checks = models.JSONField(default=dict, help_text="Check results for exactly these turns.")
    sharing = models.JSONField(default=list, help_text="The sharing checklist at the time of release.")
    override_reason = models.TextField(blank=True)
    # Released by override while the dataset was raw; a later scrub of the dataset doesn't change these files.
    raw = models.BooleanField(default=False, editable=False)
    created_by = optional_person()
    created_by_name = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)
    replaces = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="replaced_by")
    destroyed_at = models.DateTimeField(null=True, blank=True)
    destroyed_reason = models.TextField(blank=True)
    verified_at = models.DateTimeField(null=True, blank=True)
    fault = models.TextField(blank=True, help_text="Problem found by the last verification.")

    class Meta:
        ordering = ["dataset", "-major", "-minor", "-patch"]
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "major", "minor", "patch"], name="release_version_once"
            ),
            models.CheckConstraint(
                condition=Q(major__gte=0, minor__gte=0, patch__gte=0), name="release_version_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} {self.version}"

    @property
    def version(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class ReleaseFile(Record):
    """A file of a release. If the file is destroyed, the row keeps the digest and ``file`` is empty."""

    class Kind(models.TextChoices):
        DATA = "data", "Conversations"
        METADATA = "metadata", "Metadata"
        MANIFEST = "manifest", "Manifest"
        CHANGELOG = "changelog", "Changelog"
        SIGNATURE = "signature", "Digests and signature"

    release = models.ForeignKey(Release, models.CASCADE, related_name="files", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=255)
    file = models.FileField(upload_to="releases", max_length=500, blank=True)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta(Record.Meta):
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["release", "kind"], name="release_file_once")]

    def __str__(self) -> str:
        return self.name


class SharingReview(models.Model):
    """A signed legal review, which sharing requires.

    It covers the sessions up to ``last_session`` as the scrub ``last_scrub`` left them. Later sessions
    and scrubs need a new review.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="reviews")
    name = models.CharField(max_length=500, help_text="Name and account of the person who signed.")
    statement = models.TextField(blank=True)
    signed_by = optional_person()
    signed_at = models.DateTimeField(db_default=Now())
    last_session = models.BigIntegerField()
    last_scrub = models.BigIntegerField(null=True, blank=True)
    turn_count = models.BigIntegerField()

    class Meta:
        ordering = ["-id"]
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"Signed by {self.name}"
