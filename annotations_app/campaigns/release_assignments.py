"""Assignments that are ended for their annotators: the places they took are free again."""

from typing import Any

from django.db.models import QuerySet

from datasets_app.core.queries import execute

# Gold items and repeats occupy no place. In a calibration round everybody has one of their own, which nobody
# else can take once they were removed.
_FREE_PLACES_SQL = """
UPDATE annotations_app_campaignitem i SET open = i.open + given_back.places, returned_at = clock_timestamp()
FROM (
    SELECT a.item_id, count(*) AS places FROM annotations_app_assignment a
    JOIN annotations_app_campaignitem o ON o.id = a.item_id
    JOIN annotations_app_campaignmember m ON m.campaign_id = a.campaign_id AND m.user_id = a.annotator_id
    WHERE a.id = ANY(%s) AND NOT a.repeat AND (m.active OR NOT o.calibration) GROUP BY a.item_id
) given_back
WHERE i.id = given_back.item_id AND NOT i.gold
"""


def release_assignments(assignments: QuerySet[Any]) -> list[int]:
    """Release leased or labeled assignments; returns their keys. The rows of all members of the
    campaign must be locked."""
    released = list(assignments.order_by("pk").values_list("pk", flat=True))
    if released:
        assignments.model.objects.filter(pk__in=released).update(state="released", decided_at=None)
        execute(_FREE_PLACES_SQL, [released])
    return released
