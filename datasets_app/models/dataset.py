from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.querysets import DatasetQuerySet

# The name stands in file names (<name>.jsonl), so it keeps to what every system allows there.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"


class Dataset(models.Model):
    """A named collection of conversations, with what must be known about where it is from."""

    class Origin(models.TextChoices):
        SYNTHETIC = "synthetic", "Synthetic"
        PRODUCTION = "production", "Production"
        EXTERNAL = "external", "External"

    class Status(models.TextChoices):
        RAW = "raw", "Raw"
        SCRUBBED = "scrubbed", "Scrubbed"
        RELEASED = "released", "Released"
        EXPIRED = "expired", "Expired"

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(NAME_PATTERN, "Letters, digits, dot, dash and underscore only.")],
    )
    origin = models.CharField(max_length=20, choices=Origin, default=Origin.EXTERNAL)
    status = models.CharField(max_length=20, choices=Status, default=Status.RAW, editable=False)
    license = models.CharField(max_length=100, blank=True, help_text="SPDX id, for example CC-BY-4.0.")
    source = models.TextField(blank=True, help_text="Where the conversations come from.")
    attribution = models.TextField(blank=True)
    provenance = models.JSONField(
        default=dict, blank=True, help_text="What else the metadata file said: generator, seed, dates …"
    )
    legal_hold = models.BooleanField(default=False, help_text="While set, nothing here may be deleted.")
    hold_reason = models.TextField(blank=True, editable=False)
    # Whether only those who were granted it may see it, of all whose role lets them see datasets.
    restricted = models.BooleanField(default=False, editable=False)
    # How sessions were split, and how those that come later will be: ratios, seed, strata.
    split_settings = models.JSONField(null=True, blank=True, editable=False)
    # The day for which people were told that it will be deleted: they are told once.
    warned_of = models.DateField(null=True, blank=True, editable=False)
    expired_at = models.DateTimeField(null=True, blank=True, editable=False)
    session_count = models.BigIntegerField(default=0, editable=False)
    turn_count = models.BigIntegerField(default=0, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True, editable=False)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        permissions = [
            ("import_dataset", "Can import conversation files"),
            ("export_dataset", "Can export datasets and download the files"),
            ("check_dataset", "Can run checks"),
            ("scrub_dataset", "Can scrub, preview a scrub and mark its findings"),
            (
                "override_gate",
                "Can open a gate for a reason: unscrubbed data, the test split, an unready release",
            ),
            ("generate_anywhere", "Can have sessions written by a model at any address"),
            ("generate_dataset", "Can generate sessions, offline or by a model at a configured address"),
            ("split_dataset", "Can split datasets"),
            ("release_dataset", "Can release versions and download them"),
            ("sign_review", "Can sign the legal review before a dataset is shared"),
            ("hold_dataset", "Can set and lift legal holds"),
            ("erase_session", "Can erase a person's session from a dataset and all its releases"),
            ("apply_retention", "Can have deleted what is due"),
            ("limit_access", "Can limit who sees a dataset, and see all of them"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(name__regex=NAME_PATTERN), name="dataset_name_format"),
            models.CheckConstraint(
                condition=Q(origin__in=["synthetic", "production", "external"]), name="dataset_origin_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["raw", "scrubbed", "released", "expired"]),
                name="dataset_status_known",
            ),
            models.CheckConstraint(
                condition=Q(session_count__gte=0, turn_count__gte=0), name="dataset_counts_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SourceFile(models.Model):
    """A file that was imported; its digest is how the same file is recognised again."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="source_files")
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField(help_text="Bytes, as the file was given.")
    format = models.CharField(max_length=20)
    session_count = models.BigIntegerField()
    turn_count = models.BigIntegerField()
    quarantined_sessions = models.BigIntegerField(default=0)
    imported_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["imported_at"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "sha256"], name="source_file_once_per_dataset"),
        ]

    def __str__(self) -> str:
        return self.name
