"""How far a campaign is, by annotator. Each figure is read from an index or from the members' counters:
none of it costs more when the campaign is larger."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.coefficients import compute_coefficients, item_sums
from annotations_app.domain.scales import NOMINAL
from annotations_app.models import Campaign, CampaignMember
from datasets_app.core.queries import fetch_all
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.values import count_code
from datasets_app.domain.wording import format_count

# The end of a campaign is reckoned from the labels of so many days.
RATE_PERIOD_DAYS = 7
# The pace is that of the latest decisions; a longer gap between two of them is a break.
PACE_DECISIONS = 50
PAUSE_AFTER = timedelta(minutes=5)
MIN_PACE_DECISIONS = 3

_PACE_SQL = """
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
MAX_TIMED_LABELS = 200
_MEDIAN_SECONDS_SQL = """
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
_RECENT_LABELS_SQL = """
SELECT m.campaign_id, count(*), min(a.decided_at) FROM annotations_app_campaignmember m
JOIN annotations_app_assignment a
  ON a.campaign_id = m.campaign_id AND a.annotator_id = m.user_id
 AND a.decided_at > now() - %(period)s AND a.state = 'labelled' AND NOT a.repeat
WHERE m.campaign_id = ANY(%(campaigns)s) GROUP BY 1
"""

# Of a campaign with more replies left, nobody waits for the last ones yet.
MAX_LAST_REPLIES = 1000
_UNASSIGNABLE_SQL = """
SELECT c.id, sum(greatest(i.open - (
    SELECT count(*) FROM annotations_app_campaignmember m
    WHERE m.campaign_id = c.id AND m.active AND NOT EXISTS (
        SELECT FROM annotations_app_assignment a
        WHERE a.item_id = i.id AND a.annotator_id = m.user_id AND NOT a.repeat AND a.state <> 'released')
    ), 0))::bigint
FROM annotations_app_campaign c CROSS JOIN LATERAL (
    SELECT id, open FROM annotations_app_campaignitem
    WHERE campaign_id = c.id AND open > 0 LIMIT %(most)s + 1
) i
WHERE c.id = ANY(%(campaigns)s) GROUP BY 1 HAVING count(*) <= %(most)s
"""


class MemberStats(NamedTuple):
    """What one annotator has done; ``per_hour`` without pauses, None if there is too little to tell.
    Annotators don't see it."""

    member: CampaignMember
    last_decided_at: datetime | None
    per_hour: float | None


class LabelingRate(NamedTuple):
    """Labels that came in lately, and how many that is a day."""

    labels: int
    per_day: float


def member_stats(campaign: Campaign) -> list[MemberStats]:
    """The annotators of a campaign in the order of their names; those taken out come last."""
    values = {"pause": PAUSE_AFTER, "looked_at": PACE_DECISIONS, "campaign": campaign.pk}
    seen = {pk: paced for pk, *paced in fetch_all(_PACE_SQL, values)}
    members = campaign.members.select_related("user").order_by("-active", "user__username")
    figures = []
    for member in members:
        last, gaps, seconds = seen.get(member.pk, (None, 0, None))
        per_hour = 3600 * gaps / float(seconds) if gaps >= MIN_PACE_DECISIONS and seconds else None
        figures.append(MemberStats(member, last, per_hour))
    return figures


def median_seconds_by_annotator(campaign: Campaign) -> dict[str, float]:
    """By user name: the median time on task of somebody's latest labels."""
    return dict(fetch_all(_MEDIAN_SECONDS_SQL, {"looked_at": MAX_TIMED_LABELS, "campaign": campaign.pk}))


def recent_labeling_rates(campaign_pks: list[int], now: datetime) -> dict[int, LabelingRate]:
    """By campaign: labels of the last seven days, or of the time since the first of them."""
    period = timedelta(days=RATE_PERIOD_DAYS)
    rows = fetch_all(_RECENT_LABELS_SQL, {"period": period, "campaigns": campaign_pks})
    rates = dict.fromkeys(campaign_pks, LabelingRate(0, 0.0))
    for campaign_pk, labels, first in rows:
        days = max((now - first) / timedelta(days=1), 1.0)
        rates[campaign_pk] = LabelingRate(labels, labels / days)
    return rates


def count_unassignable(campaign_pks: list[int]) -> dict[int, int]:
    """By campaign near its end: labels that none of its annotators can give, because they labeled, skipped
    or flagged the reply."""
    rows = fetch_all(_UNASSIGNABLE_SQL, {"most": MAX_LAST_REPLIES, "campaigns": campaign_pks})
    return dict.fromkeys(campaign_pks, 0) | dict(rows)


def say_time_left(remaining: int, rate: LabelingRate) -> str:
    """How long the remaining labels take at the pace of the last days; empty without a pace."""
    if not rate.per_day:
        return ""
    days = round(remaining / rate.per_day)
    return f"about {format_count(days, 'more day')}" if days else "less than a day left"


# Replies with the same counts of labels add the same to alpha.
_LABEL_PATTERNS_SQL = f"""
SELECT campaign_id, counts, count(*) FROM (
    SELECT campaign_id, ARRAY[{", ".join(count_code(code, "label") for code in ON_BRAND.codes)}] AS counts
    FROM annotations_app_annotation
    WHERE dataset_id = ANY(%(datasets)s) AND campaign_id = ANY(%(campaigns)s) AND kind = 'label'
    GROUP BY campaign_id, persona_id, turn_id
) replies GROUP BY 1, 2
"""  # constants # nosec B608


def measure_alphas(campaigns: Sequence[Campaign]) -> dict[int, Statistic]:
    """By campaign: Krippendorff's alpha without an interval, as its agreement page has it."""
    patterns: dict[int, list[tuple[list[int], int]]] = {campaign.pk: [] for campaign in campaigns}
    datasets = sorted({campaign.dataset_id for campaign in campaigns})
    found = fetch_all(_LABEL_PATTERNS_SQL, {"datasets": datasets, "campaigns": list(patterns)})
    for pk, counts, replies in found:
        patterns[pk].append((counts, replies))
    alphas = {}
    for pk, rows in patterns.items():
        alpha = math.nan
        if rows:
            counts = np.array([counts for counts, _ in rows])
            weighting = NOMINAL.weigh(counts.sum(axis=0, dtype=np.float64))
            sums = item_sums(counts, weighting)
            weighted = (sums * np.array([[replies] for _, replies in rows])).sum(axis=0)
            alpha = float(compute_coefficients(weighted, weighting).krippendorff_alpha)
        alphas[pk] = Statistic(None if math.isnan(alpha) else alpha)
    return alphas


# --- of a dataset -----------------------------------------------------------------------------

# Counted by annotator first: sorting a million names to count the different ones takes most of a second.
_LABELS_BY_PERSONA_SQL = f"""
SELECT persona_id, sum(labels)::bigint, sum(on_brand)::bigint, count(annotator) FROM (
    SELECT persona_id, annotator, count(*) AS labels, {count_code(ON_BRAND.top, "label")} AS on_brand
    FROM annotations_app_annotation WHERE dataset_id = %s AND kind = 'label' GROUP BY 1, 2
) said GROUP BY 1 ORDER BY 1
"""


class PersonaLabelStats(NamedTuple):
    """The labels of a dataset for one persona; ``annotators`` counts names."""

    persona_id: str
    labels: int
    on_brand: int
    annotators: int


def persona_label_stats(dataset_pk: int) -> list[PersonaLabelStats]:
    return [PersonaLabelStats(*row) for row in fetch_all(_LABELS_BY_PERSONA_SQL, [dataset_pk])]


# --- of several campaigns, for the start page ---------------------------------------------------

_LAST_DECISIONS_SQL = """
SELECT m.campaign_id, max(a.decided_at) FROM annotations_app_campaignmember m
CROSS JOIN LATERAL (
    SELECT decided_at FROM annotations_app_assignment
    WHERE campaign_id = m.campaign_id AND annotator_id = m.user_id AND decided_at IS NOT NULL
    ORDER BY decided_at DESC LIMIT 1
) a
WHERE m.campaign_id = ANY(%s) GROUP BY 1
"""
RECENT_LABELS = 10_000
_RECENT_DISPUTES_SQL = """
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


def last_decision_times(campaign_pks: list[int]) -> dict[int, datetime]:
    """By the key of a campaign: when somebody last decided something."""
    return dict(fetch_all(_LAST_DECISIONS_SQL, [campaign_pks]))


def count_recent_disputes(campaign_pks: list[int]) -> dict[int, int]:
    """How many replies with both labels, not settled, are among the newest labels of the installation."""
    return dict(fetch_all(_RECENT_DISPUTES_SQL, [RECENT_LABELS, campaign_pks]))
