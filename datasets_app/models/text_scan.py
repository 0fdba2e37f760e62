from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from datasets_app.models.columns import Record, optional_person
from datasets_app.models.dataset import Dataset


class TextScan(Record):
    """What is known about the text of a dataset: how far it was searched, and what is in it.

    Keys of sessions only grow, so everything up to ``scanned_to`` was searched and everything later is new.
    Whatever changes stored text sets it back to 0. Holds counts by class, never a value.
    """

    dataset = models.OneToOneField(Dataset, models.CASCADE, primary_key=True, related_name="text_scan")
    revision = models.BigIntegerField(default=0, help_text="Grows whenever stored text changes.")
    rules = models.IntegerField(default=1, help_text="Version of the rules that searched it.")
    scanned_to = models.BigIntegerField(default=0, help_text="Highest session key that was searched.")
    scrubbed_to = models.BigIntegerField(
        default=0, help_text="Highest session key of the last verified scrub of all types."
    )
    turn_count = models.BigIntegerField(default=0, help_text="Number of turns searched.")
    found = models.JSONField(default=dict, help_text="Number of values found for each type.")
    written = models.JSONField(
        null=True, help_text="The same in notes of labels that were imported since the last verified scrub."
    )
    exempt = models.JSONField(
        default=dict, help_text="Ignored terms and their occurrences, for each type that matches them."
    )
    unmeasured = models.JSONField(
        null=True, help_text="Turns in each language in which it was not measured how many names stay."
    )
    names_searched = models.BooleanField(default=False, help_text="Whether a model searched for names.")
    canary = models.JSONField(
        null=True, blank=True, help_text="How many planted values of each type a scrub of this text leaves."
    )
    scanned_at = models.DateTimeField(null=True)
    audit = models.JSONField(null=True, help_text="What people found in a sample of the scrubbed text.")

    class Meta(Record.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(scanned_to__gte=0, scrubbed_to__gte=0, turn_count__gte=0),
                name="text_scan_counts_not_negative",
            )
        ]


class Attestation(Record):
    """Someone with the override permission states that the text of a dataset may stay as it is.

    It covers the sessions up to ``last_session`` and ends when one is added or changed.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="attestations", db_index=False)
    last_session = models.BigIntegerField(help_text="Highest session key that the statement covers.")
    reason = models.TextField()
    created_by = optional_person()
    created_by_name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta(Record.Meta):
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset"], condition=Q(ended_at=None), name="attestation_one_in_force"
            )
        ]
        indexes = [models.Index(fields=["dataset", "-id"], name="attestation_of_dataset")]
