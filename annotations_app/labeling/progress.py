"""What annotators see of their own work: their last decisions and their progress."""

from typing import Any, NamedTuple

from django.db.models import Count, F, Q, Sum

from annotations_app.models import Assignment, Campaign, CampaignMember

MAX_RECENT_DECISIONS = 10

_LABEL_COUNT = F("labelled") + F("gold_labelled") + F("repeated")


class AnnotatorProgress(NamedTuple):
    """The progress of an annotator and of their campaign, gold items and repeats included.

    If they were left out, unchanged numbers would give such a reply away. ``mine`` and ``total``
    count labels; ``target`` is about how many there will be. There is no pace: who sees one hurries.
    """

    mine: int
    total: int
    target: float

    @property
    def share(self) -> float:
        """The campaign's progress, 0 to 1."""
        return min(1.0, self.total / self.target) if self.target else 0.0

    @property
    def own_share(self) -> float:
        """The part of ``share`` that is the annotator's."""
        return min(self.share, self.mine / self.target) if self.target else 0.0


def recent_decisions(campaign: Campaign, user: Any) -> list[Assignment]:
    """The last decisions of ``user``, latest first, with item, turn, session and annotation or
    judgment.

    A "released" one came late and does not count.
    """
    own = Assignment.objects.for_member(campaign, user).select_reply(campaign)
    return list(own.select_decided()[:MAX_RECENT_DECISIONS])


def annotator_progress(campaign: Campaign, user: Any) -> AnnotatorProgress:
    """Read from counters and the last decisions, so the cost doesn't grow with the campaign."""
    counts = CampaignMember.objects.filter(campaign=campaign).aggregate(
        mine=Sum(_LABEL_COUNT, filter=Q(user=user), default=0),
        total=Sum(_LABEL_COUNT, default=0),
        people=Count("pk", filter=Q(active=True)),
    )
    labels = campaign.count_places(counts["people"])
    return AnnotatorProgress(
        mine=counts["mine"],
        total=counts["total"],
        target=(labels + campaign.gold_count * counts["people"]) / (1 - campaign.repeat_share),
    )
