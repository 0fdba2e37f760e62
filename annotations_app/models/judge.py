from functools import cached_property

from django.db import models
from django.db.models.functions import Now

from annotations_app.domain.judging.judge_document import JudgeDocument, read_judge
from annotations_app.models.campaign import Campaign
from annotations_app.models.label_schema import LabelSchema
from annotations_app.models.named_version import NamedVersion
from datasets_app.domain.labels.criterion import Criterion
from datasets_app.models import Dataset, PartitionForeignKey, Turn
from datasets_app.models.columns import Record, optional_person


class Judge(NamedVersion):
    """A model with its instructions, or the judge that works offline; ``document`` is what
    ``judge_document.py`` reads."""

    class Meta(NamedVersion.Meta):
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="judge_version_once")]

    @cached_property
    def content(self) -> JudgeDocument:
        return read_judge(self.document)


class JudgeRun(Record):
    """What a judge says of a campaign's replies under one prompt, which holds persona, guidelines, criteria
    and examples: the rater whose judgments are comparable. It goes on where it was left.

    ``schema`` has the criteria as they were asked, None for the built-in one. With ``swap`` each pair of
    replies is judged both ways round. ``used`` counts tokens; after a crash, also those of calls that were on
    their way. ``examples`` are turns shown in the prompt, which are not judged.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="judge_runs", db_index=False)
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    # Of a jury: the run of each member, about how many replies it was asked, and how many of them it didn't
    # judge.
    members = models.JSONField(default=list, db_default=[])
    schema = models.ForeignKey(
        LabelSchema, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    prompt_digest = models.CharField(max_length=64)
    persona_digest = models.CharField(max_length=64)
    guidelines_digest = models.CharField(max_length=64, blank=True)
    swap = models.BooleanField(db_default=False)
    repeats = models.PositiveSmallIntegerField(default=1)
    examples = models.JSONField(default=list)
    used = models.JSONField(default=dict)
    # Replies whose text was sent, counting each time; 0 of a judge that works offline.
    sent = models.BigIntegerField(default=0)
    # Why the last run ended early; empty if it didn't.
    stopped = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta(Record.Meta):
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "judge", "prompt_digest"], name="judge_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.campaign}"

    def asks(self, criterion: Criterion) -> bool:
        """Whether its verdicts answer this version of a criterion."""
        asked = criterion if self.schema is None else self.schema.content.find(criterion.key)
        return asked is not None and asked.digest == criterion.digest


class Verdict(Record):
    """A judgment of one reply, or why there is none. ``codes`` are answers by criterion, as in
    :class:`Judgment`; ``rationale`` is a model's text about a conversation. Of a pair ``swapped`` is what was
    said of it the other way round than people see it; the codes are those of people's sides in either case.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="verdicts")
    turn = PartitionForeignKey(Turn, models.CASCADE, related_name="verdicts")
    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="verdicts", db_index=False)
    # 0 is the first judgment; further ones measure whether the judge agrees with itself.
    repeat = models.PositiveSmallIntegerField(db_default=0)
    swapped = models.BooleanField(db_default=False)
    codes = models.JSONField(default=dict)
    rationale = models.TextField(null=True, blank=True)
    failure = models.CharField(max_length=200, db_default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "turn", "repeat", "swapped"], name="verdict_once")
        ]


class JudgeCertificate(Record):
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
    created_by = optional_person()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(Record.Meta):
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "criterion_digest", "prompt_digest"], name="judge_tested_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} for {self.criterion}"
