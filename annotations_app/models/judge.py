from functools import cached_property

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from annotations_app.domain.judging.judge_document import JudgeDocument, read_judge
from annotations_app.models.campaign import Campaign
from datasets_app.models import Dataset, PartitionForeignKey, Turn


class Judge(models.Model):
    """A version of a model with its instructions, or of the judge that works offline. Versions never change:
    a new one is another row. ``document`` is what ``judge_document.py`` reads."""

    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, help_text="Changes with what can change a judgment.")
    document = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name", "-version"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="judge_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def full_name(self) -> str:
        """As files and commands name it."""
        return f"{self.name}@{self.version}"

    @cached_property
    def content(self) -> JudgeDocument:
        return read_judge(self.document)


class JudgeRun(models.Model):
    """What a judge says of a campaign's replies under one prompt, which holds persona, guidelines, criteria
    and examples: the rater whose judgments are comparable. It goes on where it was left.

    ``used`` counts tokens; after a crash, also those of calls that were on their way. ``examples`` are turns
    shown in the prompt, which are not judged.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="judge_runs", db_index=False)
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    prompt_digest = models.CharField(max_length=64)
    persona_digest = models.CharField(max_length=64)
    guidelines_digest = models.CharField(max_length=64, blank=True)
    repeats = models.PositiveSmallIntegerField(default=1)
    examples = models.JSONField(default=list)
    used = models.JSONField(default=dict)
    # Replies whose text was sent, counting each time; 0 of a judge that works offline.
    sent = models.BigIntegerField(default=0)
    # Why the last run ended early; empty if it didn't.
    stopped = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["campaign", "judge", "prompt_digest"], name="judge_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.campaign}"


class Verdict(models.Model):
    """A judgment of one reply, or why there is none. ``codes`` are answers by criterion, as in
    :class:`Judgment`; ``rationale`` is a model's text about a conversation."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="verdicts")
    turn = PartitionForeignKey(Turn, models.CASCADE, related_name="verdicts")
    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="verdicts", db_index=False)
    # 0 is the first judgment; further ones measure whether the judge agrees with itself.
    repeat = models.PositiveSmallIntegerField(db_default=0)
    codes = models.JSONField(default=dict)
    rationale = models.TextField(null=True, blank=True)
    failure = models.CharField(max_length=200, db_default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["run", "turn", "repeat"], name="verdict_once")]

    def __str__(self) -> str:
        return f"{self.run} #{self.pk}"


class JudgeCertificate(models.Model):
    """The test of a judge's version for one criterion, taken once: on the test split, whatever it says.

    ``result`` has both rates with their lower bounds. It holds for the prompt, criterion, persona and
    guidelines that it was taken with.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="judge_certificates")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="certificates", db_index=False)
    criterion = models.CharField(max_length=50)
    criterion_digest = models.CharField(max_length=64)
    prompt_digest = models.CharField(max_length=64)
    persona_digest = models.CharField(max_length=64)
    guidelines_digest = models.CharField(max_length=64, blank=True)
    threshold = models.FloatField()
    certified = models.BooleanField()
    result = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "criterion_digest", "prompt_digest"], name="judge_tested_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} for {self.criterion}"
