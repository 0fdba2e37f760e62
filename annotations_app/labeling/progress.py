"""What annotators see of their own work: their last decisions, their progress and their pace."""

from datetime import timedelta
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, F, Q, Sum

from annotations_app.models import Assignment, Campaign, CampaignMember

MAX_RECENT_DECISIONS = 10
# The pace is that of the latest decisions; a longer gap between two of them is a break.
PACE_DECISIONS = 50
PAUSE_AFTER = timedelta(minutes=5)
MIN_PACE_DECISIONS = 3

_LABEL_COUNT = F("labelled") + F("gold_labelled") + F("repeated")


class AnnotatorProgress(NamedTuple):
    """The progress of an annotator and of their campaign, gold items and repeats included.

    If they were left out, unchanged numbers would give such a reply away. ``mine`` and ``total``
    count labels; ``target`` is about how many there will be. ``per_hour`` is decisions, breaks left out;
    ``median_seconds`` is time on task. Both are None until there are enough decisions.
    """

    mine: int
    total: int
    target: float
    per_hour: float | None
    median_seconds: float | None

    @property
    def share(self) -> float:
        """The campaign's progress, 0 to 1."""
        return min(1.0, self.total / self.target) if self.target else 0.0

    @property
    def own_share(self) -> float:
        """The part of ``share`` that is the annotator's."""
        return min(self.share, self.mine / self.target) if self.target else 0.0


def recent_decisions(campaign: Campaign, user: Any, limit: int = MAX_RECENT_DECISIONS) -> list[Assignment]:
    """The last decisions of ``user``, latest first, with item, turn, session and annotation.

    A "released" one came late and does not count.
    """
    own = Assignment.objects.for_member(campaign, user).select_reply(campaign.dataset_id)
    return list(own.select_decided()[:limit])


def annotator_progress(campaign: Campaign, user: Any) -> AnnotatorProgress:
    """Read from counters and the last decisions, so the cost doesn't grow with the campaign."""
    counts = CampaignMember.objects.filter(campaign=campaign).aggregate(
        mine=Sum(_LABEL_COUNT, filter=Q(user=user), default=0),
        total=Sum(_LABEL_COUNT, default=0),
        people=Count("pk", filter=Q(active=True)),
    )
    labels = (campaign.item_count - campaign.gold_count) * campaign.overlap
    per_hour, median_seconds = _measure_pace(campaign, user)
    return AnnotatorProgress(
        mine=counts["mine"],
        total=counts["total"],
        target=(labels + campaign.gold_count * counts["people"]) / (1 - campaign.repeat_share),
        per_hour=per_hour,
        median_seconds=median_seconds,
    )


def _measure_pace(campaign: Campaign, user: Any) -> tuple[float | None, float | None]:
    rows = list(
        Assignment.objects.for_member(campaign, user)
        .select_decided()
        .values_list("decided_at", "annotation__seconds")[:PACE_DECISIONS]
    )
    gaps = [later - earlier for (later, _), (earlier, _) in pairwise(rows)]
    working = [gap for gap in gaps if gap < PAUSE_AFTER]
    hours = sum(working, timedelta()) / timedelta(hours=1)
    times = [seconds for _, seconds in rows if seconds is not None]
    return (
        len(working) / hours if len(working) >= MIN_PACE_DECISIONS and hours else None,
        median(times) if len(times) >= MIN_PACE_DECISIONS else None,
    )
