"""Deletes labels, and the campaign work behind them, together with their conversations."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from annotations_app.campaigns.counters import subtract_sessions
from annotations_app.labels.label_places import ORIGINAL_SESSION, PLACE_SESSION, find_labels_naming
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, CampaignMember, Decision
from datasets_app.hooks import DeletionHook

TABLES = (
    "annotations_app_annotation",
    "annotations_app_decision",
    "annotations_app_assignment",
    "annotations_app_campaignitem",
    "annotations_app_campaignmember",
    "annotations_app_campaign",
)

# In the order in which everything else locks them: see labeling/leases.py.
_LOCK_MEMBERS = """
SELECT id FROM annotations_app_campaignmember WHERE campaign_id IN (
    SELECT campaign_id FROM annotations_app_campaignitem WHERE session_id = ANY(%(sessions)s)
) ORDER BY id FOR NO KEY UPDATE
"""
_UPDATE_CAMPAIGN_COUNTERS = """
UPDATE annotations_app_campaign m
SET item_count = m.item_count - c.items, gold_count = m.gold_count - c.gold
FROM (
    SELECT campaign_id, count(*) AS items, count(*) FILTER (WHERE gold) AS gold
    FROM annotations_app_campaignitem WHERE session_id = ANY(%(sessions)s) GROUP BY campaign_id
) c WHERE m.id = c.campaign_id
"""
_CLEAR_MEMBER_SESSIONS = (
    "UPDATE annotations_app_campaignmember SET session_id = NULL WHERE session_id = ANY(%(sessions)s)"
)
_ASSIGNMENTS_SQL = """
SELECT a.id FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
WHERE i.session_id = ANY(%(sessions)s)
"""
_DELETE_DECISIONS = f"""
DELETE FROM annotations_app_decision WHERE assignment_id IN ({_ASSIGNMENTS_SQL})
"""  # constants of this module # nosec B608
_DELETE_ASSIGNMENTS = f"""
DELETE FROM annotations_app_assignment WHERE id IN ({_ASSIGNMENTS_SQL})
"""  # constants of this module # nosec B608
_DELETE_STATEMENTS = (
    ("decisions", _DELETE_DECISIONS),
    ("assignments", _DELETE_ASSIGNMENTS),
    ("campaign_items", "DELETE FROM annotations_app_campaignitem WHERE session_id = ANY(%(sessions)s)"),
    (
        "labels",
        "DELETE FROM annotations_app_annotation WHERE turn_id IN "
        "(SELECT id FROM datasets_app_turn"
        " WHERE dataset_id = %(dataset)s AND session_id = ANY(%(sessions)s))",
    ),
)


_LOCK_ALL_MEMBERS = """
SELECT m.id FROM annotations_app_campaignmember m JOIN annotations_app_campaign c ON c.id = m.campaign_id
WHERE c.dataset_id = %(dataset)s ORDER BY m.id FOR NO KEY UPDATE OF m
"""
# In the order in which they can be deleted.
_DELETE_BATCHES = (
    (
        "decisions",
        """
        DELETE FROM annotations_app_decision WHERE id IN (
            SELECT d.id FROM annotations_app_decision d
            JOIN annotations_app_assignment a ON a.id = d.assignment_id
            JOIN annotations_app_campaign c ON c.id = a.campaign_id
            WHERE c.dataset_id = %(dataset)s LIMIT %(limit)s)
        """,
    ),
    (
        "assignments",
        """
        DELETE FROM annotations_app_assignment WHERE id IN (
            SELECT a.id FROM annotations_app_assignment a
            JOIN annotations_app_campaign c ON c.id = a.campaign_id
            WHERE c.dataset_id = %(dataset)s LIMIT %(limit)s)
        """,
    ),
    (
        "campaign_items",
        """
        DELETE FROM annotations_app_campaignitem WHERE id IN (
            SELECT i.id FROM annotations_app_campaignitem i
            JOIN annotations_app_campaign c ON c.id = i.campaign_id
            WHERE c.dataset_id = %(dataset)s LIMIT %(limit)s)
        """,
    ),
    (
        "labels",
        """
        DELETE FROM annotations_app_annotation WHERE id IN (
            SELECT id FROM annotations_app_annotation WHERE dataset_id = %(dataset)s LIMIT %(limit)s)
        """,
    ),
)


def count_labels(dataset: Any, sessions: Sequence[int] | None = None) -> dict[str, int]:
    """What belongs to a dataset, or to these of its sessions, by kind."""
    filters: dict[str, Any] = {} if sessions is None else {"session__in": sessions}
    items = CampaignItem.objects.filter(campaign__dataset=dataset, **filters)
    assignments = Assignment.objects.filter(campaign__dataset=dataset)
    decisions = Decision.objects.filter(assignment__campaign__dataset=dataset)
    labels = Annotation.objects.filter(dataset=dataset)
    if sessions is not None:
        assignments = assignments.filter(item__session__in=sessions)
        decisions = decisions.filter(assignment__item__session__in=sessions)
        labels = labels.filter(turn__session__in=sessions)
    counts = {
        "labels": labels.count(),
        "decisions": decisions.count(),
        "assignments": assignments.count(),
        "campaign_items": items.count(),
    }
    return counts | (
        {"campaigns": Campaign.objects.filter(dataset=dataset).count()} if sessions is None else {}
    )


def delete_labels(dataset: int, sessions: Sequence[int]) -> dict[str, int]:
    """Delete what belongs to these sessions of a dataset (primary keys), in the caller's transaction, and
    correct the counters of campaigns and annotators. Returns how much of each kind."""
    values: dict[str, Any] = {"dataset": dataset, "sessions": list(sessions)}
    counts = {}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_MEMBERS, values)
        subtract_sessions(list(sessions))
        cursor.execute(_UPDATE_CAMPAIGN_COUNTERS, values)
        cursor.execute(_CLEAR_MEMBER_SESSIONS, values)
        for kind, statement in _DELETE_STATEMENTS:
            cursor.execute(statement, values)
            counts[kind] = cursor.rowcount
    return counts


def delete_label_batch(dataset: int, limit: int) -> dict[str, int]:
    """Delete at most ``limit`` decisions of a dataset whose campaigns are closed; without decisions as many
    assignments, then items, then labels. Counters stay: campaigns and members are deleted at the end."""
    values = {"dataset": dataset, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ALL_MEMBERS, values)
        for kind, statement in _DELETE_BATCHES:
            cursor.execute(statement, values)
            if cursor.rowcount:
                return {kind: cursor.rowcount}
    return {}


def find_label_sessions(dataset: Any, matches: Callable[[str], bool]) -> set[int]:
    """Sessions that were made for labels of the erased session, imported where it was not stored."""
    named = find_labels_naming(dataset, matches, PLACE_SESSION)
    return {session for _, session, turn_count in named if turn_count == 1}


def delete_labels_naming(dataset: Any, matches: Callable[[str], bool]) -> dict[str, int]:
    """Delete labels of the erased session that were joined to a turn of another one by its text."""
    named = [label for label, *_ in find_labels_naming(dataset, matches, PLACE_SESSION, ORIGINAL_SESSION)]
    Annotation.objects.filter(pk__in=named).delete()
    return {"labels": len(named)}


def close_campaigns(dataset: Any) -> None:
    """Stop giving replies of the dataset to annotators."""
    Campaign.objects.filter(dataset=dataset).update(status=Campaign.Status.CLOSED)


def delete_campaigns(dataset: Any) -> dict[str, int]:
    """Delete the campaigns of a dataset whose sessions are gone; returns how many."""
    campaigns = Campaign.objects.filter(dataset=dataset)
    count = campaigns.count()
    CampaignMember.objects.filter(campaign__dataset=dataset).delete()
    campaigns.delete()
    return {"campaigns": count}


DELETION_HOOK = DeletionHook(
    count_labels, delete_labels, delete_label_batch, close_campaigns, delete_campaigns, TABLES
)
