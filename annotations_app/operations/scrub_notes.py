"""What people wrote beside their labels is scrubbed with the conversation it is about."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from annotations_app.models import Annotation
from datasets_app.domain.pii.session_ids import looks_hashed
from datasets_app.storage.turn_writer import jsonb_text

# The place that a label's own file named, where it was joined to another; see label_staging.
ORIGINAL_ID = "original_session_id"

_UPDATE = """
UPDATE annotations_app_annotation a SET notes = n.notes, extra = n.extra::jsonb
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS n (id, notes, extra) WHERE a.id = n.id
"""


def notes_of(sessions: Sequence[int]) -> dict[int, list[tuple[int, dict[str, Any]]]]:
    """For each session the labels that say more than 0 or 1: (primary key, what they say)."""
    rows = (
        Annotation.objects.filter(turn__session__in=sessions)
        .exclude(notes=None, extra=None)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("turn__session", "pk", "turn__turn_index", "notes", "extra")
    )
    found: dict[int, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    session: Any
    for session, pk, turn_index, notes, extra in rows:
        said = {"turn_index": turn_index, "notes": notes, "extra": extra}
        found[session].append((pk, {key: value for key, value in said.items() if value is not None}))
    return found


def write_notes(
    changes: list[tuple[int, dict[str, Any], dict[str, Any]]], hash_id: Callable[[str], str] | None
) -> None:
    """Give the labels what is left of their notes and unknown keys."""
    rows = []
    for pk, before, after in changes:
        extra = after.get("extra")
        if hash_id is not None and extra is not None:
            extra = _with_hashed_id(extra, hash_id)
        if (after.get("notes"), extra) != (before.get("notes"), before.get("extra")):
            rows.append((pk, after.get("notes"), None if extra is None else jsonb_text(extra)))
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_UPDATE, [list(column) for column in zip(*rows, strict=True)])


def _with_hashed_id(extra: dict[str, Any], hash_id: Callable[[str], str]) -> dict[str, Any]:
    original = extra.get(ORIGINAL_ID)
    if type(original) is not str or looks_hashed(original):
        return extra
    return {**extra, ORIGINAL_ID: hash_id(original)}
