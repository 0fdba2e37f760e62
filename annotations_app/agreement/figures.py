"""How far a campaign is, by annotator. Each figure is read from an index or from the members' counters:
none of it costs more when the campaign is larger."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from annotations_app.labeling.progress import FEWEST_FOR_PACE, PACE_OVER, PAUSE
from annotations_app.models import Campaign, CampaignMember

# The end of a campaign is reckoned from the labels of so many days.
DAYS_LOOKED_AT = 7

_PACE = """
SELECT m.id, max(g.decided_at), count(g.gap) FILTER (WHERE g.gap < %(pause)s),
       extract(epoch FROM sum(g.gap) FILTER (WHERE g.gap < %(pause)s))
FROM annotations_app_campaignmember m
LEFT JOIN LATERAL (
    SELECT d.decided_at, d.decided_at - lag(d.decided_at) OVER (ORDER BY d.decided_at) AS gap
    FROM (SELECT a.decided_at FROM annotations_app_assignment a
          WHERE a.campaign_id = m.campaign_id AND a.annotator_id = m.user_id AND a.decided_at IS NOT NULL
          ORDER BY a.decided_at DESC LIMIT %(looked_at)s) d
) g ON true
WHERE m.campaign_id = %(campaign)s
GROUP BY m.id
"""
# Of so many labels the time on task is told.
TIMES_LOOKED_AT = 200
_TIMES = """
SELECT u.username, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.seconds)
FROM annotations_app_campaignmember m JOIN auth_user u ON u.id = m.user_id
CROSS JOIN LATERAL (
    SELECT n.seconds FROM (
        SELECT a.annotation_id FROM annotations_app_assignment a
        WHERE a.campaign_id = m.campaign_id AND a.annotator_id = m.user_id AND a.decided_at IS NOT NULL
        ORDER BY a.decided_at DESC LIMIT %(looked_at)s
    ) d JOIN annotations_app_annotation n ON n.id = d.annotation_id AND n.seconds IS NOT NULL
) t
WHERE m.campaign_id = %(campaign)s GROUP BY 1
"""
_LATELY = """
SELECT count(*), min(a.decided_at) FROM annotations_app_campaignmember m
JOIN annotations_app_assignment a
  ON a.campaign_id = m.campaign_id AND a.annotator_id = m.user_id
 AND a.decided_at > now() - %(period)s AND a.state = 'labelled' AND NOT a.repeat
WHERE m.campaign_id = %(campaign)s
"""


class MemberFigures(NamedTuple):
    """What one annotator has done; ``per_hour`` without pauses, None if there is too little to tell.
    The same as the annotator sees."""

    member: CampaignMember
    last_seen: datetime | None
    per_hour: float | None


class Rate(NamedTuple):
    """Labels that came in lately, and how many that is a day."""

    labels: int
    per_day: float


def by_member(campaign: Campaign) -> list[MemberFigures]:
    """The annotators of a campaign in the order of their names; those taken out come last."""
    with connection.cursor() as cursor:
        cursor.execute(_PACE, {"pause": PAUSE, "looked_at": PACE_OVER, "campaign": campaign.pk})
        seen = {pk: (last, gaps, seconds) for pk, last, gaps, seconds in cursor.fetchall()}
    members = campaign.members.select_related("user").order_by("-active", "user__username")
    figures = []
    for member in members:
        last, gaps, seconds = seen.get(member.pk, (None, 0, None))
        per_hour = 3600 * gaps / float(seconds) if gaps >= FEWEST_FOR_PACE and seconds else None
        figures.append(MemberFigures(member, last, per_hour))
    return figures


def median_seconds(campaign: Campaign) -> dict[str, float]:
    """By user name: the median time on task of somebody's latest labels."""
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, {"looked_at": TIMES_LOOKED_AT, "campaign": campaign.pk})
        return dict(cursor.fetchall())


def rate_lately(campaign: Campaign, now: datetime) -> Rate:
    """Labels of the last seven days, or of the time since the first of them."""
    period = timedelta(days=DAYS_LOOKED_AT)
    with connection.cursor() as cursor:
        cursor.execute(_LATELY, {"period": period, "campaign": campaign.pk})
        labels, first = cursor.fetchone()
    if not labels:
        return Rate(0, 0.0)
    days = max((now - first) / timedelta(days=1), 1.0)
    return Rate(labels, labels / days)


# --- of a dataset -----------------------------------------------------------------------------

# Counted by annotator first: sorting a million names to count the different ones takes most of a second.
_BY_PERSONA = """
SELECT persona_id, sum(labels)::bigint, sum(on_brand)::bigint, count(annotator) FROM (
    SELECT persona_id, annotator, count(*) AS labels, sum(label) AS on_brand
    FROM annotations_app_annotation WHERE dataset_id = %s AND kind = 'label' GROUP BY 1, 2
) said GROUP BY 1 ORDER BY 1
"""


class PersonaFigures(NamedTuple):
    """The labels of a dataset for one persona; ``annotators`` counts names."""

    persona_id: str
    labels: int
    on_brand: int
    annotators: int


def by_persona(dataset: int) -> list[PersonaFigures]:
    with connection.cursor() as cursor:
        cursor.execute(_BY_PERSONA, [dataset])
        return [PersonaFigures(*row) for row in cursor.fetchall()]


# --- of several campaigns, for the start page ---------------------------------------------------

_LAST = """
SELECT m.campaign_id, max(a.decided_at) FROM annotations_app_campaignmember m
CROSS JOIN LATERAL (
    SELECT decided_at FROM annotations_app_assignment
    WHERE campaign_id = m.campaign_id AND annotator_id = m.user_id AND decided_at IS NOT NULL
    ORDER BY decided_at DESC LIMIT 1
) a
WHERE m.campaign_id = ANY(%s) GROUP BY 1
"""
LATEST_LABELS = 10_000
_DISPUTED = """
SELECT l.campaign_id, count(*) FROM (
    SELECT DISTINCT campaign_id, turn_id, persona_id FROM annotations_app_annotation
    WHERE id > (SELECT max(id) - %s FROM annotations_app_annotation)
      AND campaign_id = ANY(%s) AND kind = 'label'
) l
JOIN LATERAL (
    SELECT min(label) FILTER (WHERE kind = 'label' AND campaign_id = l.campaign_id) AS least,
           max(label) FILTER (WHERE kind = 'label' AND campaign_id = l.campaign_id) AS most,
           bool_or(kind = 'adjudicated') AS settled
    FROM annotations_app_annotation WHERE turn_id = l.turn_id AND persona_id = l.persona_id
) said ON said.least < said.most AND NOT said.settled
GROUP BY 1
"""


def last_decisions(campaigns: list[int]) -> dict[int, datetime]:
    """By the key of a campaign: when somebody last decided something."""
    with connection.cursor() as cursor:
        cursor.execute(_LAST, [campaigns])
        return dict(cursor.fetchall())


def disputed_lately(campaigns: list[int]) -> dict[int, int]:
    """How many replies with both labels, not settled, are among the newest labels of the installation."""
    with connection.cursor() as cursor:
        cursor.execute(_DISPUTED, [LATEST_LABELS, campaigns])
        return dict(cursor.fetchall())
