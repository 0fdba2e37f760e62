"""Who labels otherwise than before, by gold replies, hidden repeats and time: for who leads a campaign."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.domain.drift import BASELINE, FALSE_ALARMS, find_drift
from annotations_app.labeling.requeue_stale import requeue_labels
from annotations_app.models import Assignment, Campaign
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_all

GOLD, REPEAT = "gold replies", "hidden repeats"
# A repeat is right if it says what the first label did; texts, and answers under two versions of the schema,
# can't be compared.
_CHECKS_SQL = """
SELECT a.annotator_id, a.repeat, a.decided_at, {says}
FROM annotations_app_assignment a
JOIN annotations_app_campaignitem i ON i.id = a.item_id AND (i.gold OR a.repeat)
JOIN {labels} n ON {link}
LEFT JOIN annotations_app_assignment fa
  ON a.repeat AND fa.item_id = a.item_id AND fa.annotator_id = a.annotator_id AND NOT fa.repeat
LEFT JOIN {labels} f ON {first_link}
LEFT JOIN {labels} g ON NOT a.repeat AND g.turn_id = n.turn_id AND g.dataset_id = n.dataset_id
  AND g.persona_id = n.persona_id AND g.kind = 'adjudicated' AND {same_schema}
WHERE a.campaign_id = %(campaign)s AND a.state = 'labelled' AND {is_known} ORDER BY a.decided_at, a.id
"""
_ON_BRAND = {
    "labels": "annotations_app_annotation",
    "link": "n.id = a.annotation_id",
    "first_link": "f.id = fa.annotation_id",
    "says": "n.label = COALESCE(f.label, g.label)",
    "same_schema": "true",
    "is_known": "COALESCE(f.label, g.label) IS NOT NULL",
}
_ANSWERS = {
    "labels": "annotations_app_judgment",
    "link": "n.assignment_id = a.id",
    "first_link": "f.assignment_id = fa.id AND f.schema_id = n.schema_id",
    "says": "n.codes @> COALESCE(f.codes, g.codes)",
    "same_schema": "g.schema_id = n.schema_id",
    "is_known": "COALESCE(f.codes, g.codes) <> '{}'",
}
# A person's latest labels against all before them.
TIMED_LABELS, MIN_RATIO = 50, 2.0
_SECONDS_SQL = """
WITH timed AS (
    SELECT a.annotator_id, n.seconds,
           row_number() OVER (PARTITION BY a.annotator_id ORDER BY a.decided_at DESC) AS age
    FROM annotations_app_assignment a JOIN {labels} n ON {link}
    WHERE a.campaign_id = %(campaign)s AND a.state = 'labelled' AND n.seconds > 0
)
SELECT annotator_id,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE age > %(latest)s),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE age <= %(latest)s)
FROM timed GROUP BY 1 HAVING count(*) >= 2 * %(latest)s
"""


class FoundDrift(NamedTuple):
    """One person's checks of one kind have changed: ``since`` is when the first of the worse ones was
    labeled, ``labels`` how many labels came then and later."""

    user: Any
    kind: str
    since: datetime
    before: float
    after: float
    checks: int
    labels: int
    baseline: int = BASELINE


class FoundPace(NamedTuple):
    """Median seconds of one person's latest labels, and of those before."""

    user: Any
    before: float
    after: float


def find_drifts(campaign: Campaign) -> list[FoundDrift]:
    """In the order of names; of two kinds of checks each is looked at for half of the false alarms."""
    checks: dict[str, dict[int, list[tuple[datetime, bool]]]] = {
        GOLD: defaultdict(list),
        REPEAT: defaultdict(list),
    }
    sql = _CHECKS_SQL.format(**_names(campaign))
    for user, is_repeat, at, right in fetch_all(sql, {"campaign": campaign.pk}):
        checks[REPEAT if is_repeat else GOLD][user].append((at, right))
    kinds = [kind for kind, by_user in checks.items() if by_user]
    found = []
    for member in campaign.members.filter(active=True).select_related("user").order_by("user__username"):
        for kind in kinds:
            own = checks[kind].get(member.user_id, [])
            others = _rate_others(checks[kind], member.user_id)
            drift = find_drift([right for _, right in own], others, false_alarms=FALSE_ALARMS / len(kinds))
            if drift is not None:
                since = own[drift.start][0]
                labels = _labeled_since(campaign, member.user_id, since).count()
                number = drift.found - drift.start + 1
                found.append(FoundDrift(member.user, kind, since, drift.before, drift.after, number, labels))
    return found


def _rate_others(checks: dict[int, list[tuple[datetime, bool]]], user: int) -> float | None:
    """Of the first checks of the other people; None where they have too few to tell."""
    said = [right for other, own in checks.items() if other != user for _, right in own[:BASELINE]]
    return sum(said) / len(said) if len(said) >= BASELINE else None


def find_paces(campaign: Campaign) -> list[FoundPace]:
    """Who takes at most half or at least twice as long for a label as before."""
    sql = _SECONDS_SQL.format(**_names(campaign))
    rows = {
        user: (before, after)
        for user, before, after in fetch_all(sql, {"campaign": campaign.pk, "latest": TIMED_LABELS})
        if max(before / after, after / before) >= MIN_RATIO
    }
    members = campaign.members.filter(active=True, user__in=rows).select_related("user")
    return [FoundPace(one.user, *rows[one.user_id]) for one in members.order_by("user__username")]


def pause_and_requeue(campaign: Campaign, user: Any, *, actor: Any) -> int:
    """Take a person out of a campaign for now and withdraw what they labeled since their checks changed;
    returns how many labels. In its settings they can be added again. Raises UserError."""
    with transaction.atomic():
        drifts = [one for one in find_drifts(campaign) if one.user.pk == user.pk]
        if not drifts:
            raise UserError(f"The checks of {user.get_username()} are as before; nothing was changed.")
        staying = campaign.members.filter(active=True).exclude(user=user)
        names = list(staying.values_list("user__username", flat=True))
        edit_campaign(campaign, changes={"annotators": names}, actor=actor)
        since = min(one.since for one in drifts)
        return requeue_labels(campaign, _list_labels(campaign, user.pk, since), ["drift"], actor=actor)


def _names(campaign: Campaign) -> dict[str, str]:
    return _ANSWERS if campaign.schema_id else _ON_BRAND


def _labeled_since(campaign: Campaign, user: int, since: datetime) -> Any:
    labeled = Assignment.objects.filter(campaign=campaign, annotator=user, state="labelled")
    return labeled.filter(decided_at__gte=since)


def _list_labels(campaign: Campaign, user: int, since: datetime) -> Sequence[int]:
    assignments = _labeled_since(campaign, user, since)
    return list(campaign.own_labels.filter(assignment__in=assignments).values_list("pk", flat=True))
