from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.columns import optional_person
from datasets_app.models.dataset_queryset import DatasetQuerySet

# The name is used in file names (<name>.jsonl), so only characters that every file system allows.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
NAME_RULE = "Use letters, digits, dots, dashes and underscores; start with a letter or digit."


class Dataset(models.Model):
    """A named collection of conversations and its provenance."""

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
        validators=[RegexValidator(NAME_PATTERN, "Use letters, digits, dots, dashes and underscores only.")],
    )
    origin = models.CharField(max_length=20, choices=Origin, default=Origin.EXTERNAL)
    status = models.CharField(max_length=20, choices=Status, default=Status.RAW, editable=False)
    license = models.CharField(
        max_length=100, blank=True, help_text="SPDX identifier, for example CC-BY-4.0."
    )
    source = models.TextField(blank=True, help_text="Where the conversations come from.")
    attribution = models.TextField(blank=True)
    provenance = models.JSONField(
        default=dict, blank=True, help_text="Other metadata, such as generator, seed and dates."
    )
    legal_hold = models.BooleanField(default=False, help_text="Prevents all deletion while set.")
    hold_reason = models.TextField(blank=True, editable=False)
    # If set, a role that may view datasets isn't enough to see it: a grant is needed as well. Production data
    # begins restricted.
    restricted = models.BooleanField(default=False, editable=False)
    # Ratios, seed and strata of the last split; sessions added later are split the same way.
    split_settings = models.JSONField(null=True, blank=True, editable=False)
    # What sharing requires, where it isn't what the installation's settings say: the largest upper bound of
    # planted values that survive a scrub, as a share, and the number of turns that people must have read.
    sharing_canary_upper = models.FloatField(
        null=True, blank=True, editable=False, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    sharing_audit_readings = models.PositiveIntegerField(null=True, blank=True, editable=False)
    # Base URLs of the endpoints to which its texts may be sent for judgment.
    judge_endpoints = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    # The deletion date that the warning e-mail announced; each date is announced once.
    warned_of = models.DateField("deletion announced for", null=True, blank=True, editable=False)
    expired_at = models.DateTimeField(null=True, blank=True, editable=False)
    session_count = models.BigIntegerField(default=0, editable=False)
    turn_count = models.BigIntegerField(default=0, editable=False)
    created_by = optional_person(editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True, editable=False)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        permissions = [
            ("import_dataset", "Can import conversation files"),
            ("export_dataset", "Can export datasets and download the files"),
            ("check_dataset", "Can run checks"),
            ("scrub_dataset", "Can scrub datasets, preview scrubs and correct findings"),
            ("read_raw", "Can read raw text"),
            ("override_gate", "Can override scrub, test split and release checks, giving a reason"),
            ("generate_anywhere", "Can generate sessions with a model at any address"),
            ("generate_dataset", "Can generate sessions, offline or with a configured model endpoint"),
            ("split_dataset", "Can split datasets"),
            ("release_dataset", "Can create and download releases"),
            ("sign_review", "Can sign the legal review that sharing requires"),
            ("hold_dataset", "Can set and lift legal holds"),
            ("erase_session", "Can erase sessions from a dataset and its releases"),
            ("apply_retention", "Can delete data that is due for deletion"),
            ("limit_access", "Can restrict datasets and see all restricted datasets"),
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
    """An imported file. Its digest lets an import recognize the same file."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="source_files")
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField(help_text="Size of the imported file in bytes, before decompression.")
    format = models.CharField(max_length=20)
    session_count = models.BigIntegerField()
    turn_count = models.BigIntegerField()
    quarantined_sessions = models.BigIntegerField(default=0)
    imported_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["imported_at"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "sha256"], name="source_file_once_per_dataset")
        ]

    def __str__(self) -> str:
        return self.name
