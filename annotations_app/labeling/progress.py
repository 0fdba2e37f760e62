"""What an annotator sees of their own work: the last decisions, how far it is, and the pace."""

from datetime import timedelta
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, F, Q, Sum

from annotations_app.models import Assignment, Campaign, CampaignMember

MAX_RECENT_DECISIONS = 10
# The pace is that of the latest decisions; longer than this between two of them is a pause.
PACE_DECISIONS = 50
PAUSE_AFTER = timedelta(minutes=5)
MIN_PACE_DECISIONS = 3


class AnnotatorProgress(NamedTuple):
    """Of an annotator and their campaign.

    ``mine``: replies they have labelled (nothing tells what of these were gold items or repeats);
    ``skipped`` and ``flagged`` beside. ``total_done`` of ``total_wanted``: labels of all annotators, on
    replies that are neither. ``all_done`` of ``all_wanted``: the same with gold items and repeats among
    them, about as many as there will be; whoever sees it move learns nothing of the reply. ``per_hour``:
    decisions, pauses aside; ``seconds_median``: time on task; both None as long as there is too little to
    tell.
    """

    mine: int
    skipped: int
    flagged: int
    total_done: int
    total_wanted: int
    all_done: int
    overall_target: float
    per_hour: float | None
    median_seconds: float | None

    @property
    def share(self) -> float:
        """0 to 1."""
        return min(1.0, self.all_done / self.overall_target) if self.overall_target else 0.0


def recent_decisions(campaign: Campaign, user: Any, limit: int = MAX_RECENT_DECISIONS) -> list[Assignment]:
    """What ``user`` decided last, the latest first, with item, turn, session and annotation.

    One that is "released" came late, and does not count.
    """
    return list(Assignment.objects.of(campaign, user).select_reply().decided()[:limit])


def annotator_progress(campaign: Campaign, user: Any) -> AnnotatorProgress:
    """Counters kept by who decides, and the last decisions: nothing here grows with the campaign."""
    members = CampaignMember.objects.filter(campaign=campaign)
    sums = members.aggregate(
        done=Sum("labelled"),
        all_done=Sum(F("labelled") + F("gold_labelled") + F("repeated")),
        people=Count("pk", filter=Q(active=True)),
        mine=Sum("labelled", filter=Q(user=user)),
        gold=Sum("gold_labelled", filter=Q(user=user)),
        repeated=Sum("repeated", filter=Q(user=user)),
        skipped=Sum("skipped", filter=Q(user=user)),
        flagged=Sum("flagged", filter=Q(user=user)),
    )
    known = {name: value or 0 for name, value in sums.items()}
    per_hour, seconds = _measure_pace(campaign, user)
    wanted = (campaign.item_count - campaign.gold_count) * campaign.overlap
    return AnnotatorProgress(
        mine=known["mine"] + known["gold"] + known["repeated"],
        skipped=known["skipped"],
        flagged=known["flagged"],
        total_done=known["done"],
        total_wanted=wanted,
        all_done=known["all_done"],
        overall_target=(wanted + campaign.gold_count * known["people"]) / (1 - campaign.repeat_share),
        per_hour=per_hour,
        median_seconds=seconds,
    )


def _measure_pace(campaign: Campaign, user: Any) -> tuple[float | None, float | None]:
    rows = list(
        Assignment.objects.of(campaign, user)
        .decided()
        .values_list("decided_at", "annotation__seconds")[:PACE_DECISIONS]
    )
    gaps = [later - earlier for (later, _), (earlier, _) in pairwise(rows)]
    working = [gap for gap in gaps if gap < PAUSE_AFTER]
    spent = sum(working, timedelta()).total_seconds()
    times = [seconds for _, seconds in rows if seconds is not None]
    return (
        3600 * len(working) / spent if len(working) >= MIN_PACE_DECISIONS and spent else None,
        median(times) if len(times) >= MIN_PACE_DECISIONS else None,
    )
