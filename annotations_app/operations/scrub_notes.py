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


# The primary key of a label, and of its unknown keys what is no text to look at.
_Own = tuple[int, dict[str, Any]]


def notes_of(sessions: Sequence[int]) -> dict[int, list[tuple[_Own, dict[str, Any]]]]:
    """For each session the labels that say more than 0 or 1, with what they say."""
    rows = (
        Annotation.objects.filter(turn__session__in=sessions)
        .exclude(notes=None, extra=None)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("turn__session", "pk", "turn__turn_index", "notes", "extra")
    )
    found: dict[int, list[tuple[_Own, dict[str, Any]]]] = defaultdict(list)
    session: Any
    for session, pk, turn_index, notes, extra in rows:
        kept = {key: value for key, value in (extra or {}).items() if _is_hash(key, value)}
        said = {key: value for key, value in (extra or {}).items() if key not in kept}
        value = {"turn_index": turn_index, "notes": notes, "extra": said or None}
        found[session].append(((pk, kept), {key: item for key, item in value.items() if item is not None}))
    return found


def write_notes(
    changes: list[tuple[_Own, dict[str, Any], dict[str, Any]]], hash_id: Callable[[str], str] | None
) -> None:
    """Give the labels what is left of their notes and unknown keys."""
    rows = []
    for (pk, kept), before, after in changes:
        said = after.get("extra") or {}
        if hash_id is not None:
            said = _with_hashed_id(said, before.get("extra") or {}, hash_id)
        if (after.get("notes"), said) != (before.get("notes"), before.get("extra") or {}):
            rows.append((pk, after.get("notes"), jsonb_text({**kept, **said}) if kept or said else None))
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_UPDATE, [list(column) for column in zip(*rows, strict=True)])


def _is_hash(key: str, value: Any) -> bool:
    """A session id that is a hash already; as a text it would be taken for a credential."""
    return key == ORIGINAL_ID and type(value) is str and looks_hashed(value)


def _with_hashed_id(
    said: dict[str, Any], before: dict[str, Any], hash_id: Callable[[str], str]
) -> dict[str, Any]:
    original = before.get(ORIGINAL_ID)
    return {**said, ORIGINAL_ID: hash_id(original)} if type(original) is str else said
