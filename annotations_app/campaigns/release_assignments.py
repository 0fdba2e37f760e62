"""Assignments that are ended for their annotators: the places they took are free again."""

from typing import Any

from django.db.models import QuerySet

from datasets_app.core.queries import execute

# Gold items and repeats occupy no place.
_FREE_PLACES_SQL = """
UPDATE annotations_app_campaignitem i SET open = i.open + given_back.places, returned_at = clock_timestamp()
FROM (
    SELECT item_id, count(*) AS places FROM annotations_app_assignment
    WHERE id = ANY(%s) AND NOT repeat GROUP BY item_id
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
