"""What people wrote beside their labels is scrubbed with the conversation it is about."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db import connection

from annotations_app.labels.label_places import ORIGINAL_SESSION, PLACE_SESSION
from annotations_app.models import Annotation, Decision
from datasets_app.catalog.rows.turn_writer import encode_jsonb
from datasets_app.domain.pii.session_ids import is_hashed_id

# Keys of a label that hold a session id.
_SESSION_KEYS = (PLACE_SESSION, ORIGINAL_SESSION)

_UPDATE_LABELS = """
UPDATE annotations_app_annotation a SET notes = n.notes, extra = n.extra::jsonb
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS n (id, notes, extra) WHERE a.id = n.id
"""
_UPDATE_DECISIONS = """
UPDATE annotations_app_decision d SET notes = n.notes
FROM unnest(%s::bigint[], %s::text[]) AS n (id, notes) WHERE d.id = n.id
"""
TABLES = ("annotations_app_annotation", "annotations_app_decision")


class _NoteSource(NamedTuple):
    """By which what was said is known again: its model and primary key, and of a label's unknown keys
    what is no text to look at."""

    model: type[Annotation] | type[Decision]
    pk: int
    kept: dict[str, Any]


_NotesBySession = dict[int, list[tuple[_NoteSource, dict[str, Any]]]]


def read_notes(sessions: Sequence[int]) -> _NotesBySession:
    """For each session the labels and decisions that say more than 0 or 1, with what they say."""
    found: _NotesBySession = defaultdict(list)
    _add_labels(sessions, found)
    _add_decisions(sessions, found)
    return found


def write_notes(
    changes: list[tuple[_NoteSource, dict[str, Any], dict[str, Any]]], hash_id: Callable[[str], str] | None
) -> None:
    """Give labels and decisions what is left of their notes, labels of their unknown keys as well."""
    labels: list[tuple[int, str | None, str | None]] = []
    decisions: list[tuple[int, str | None]] = []
    for own, before, after in changes:
        if own.model is Decision:
            if after.get("notes") != before.get("notes"):
                decisions.append((own.pk, after.get("notes")))
            continue
        said = after.get("extra") or {}
        if hash_id is not None:
            said = _with_hashed_ids(said, before.get("extra") or {}, hash_id)
        if (after.get("notes"), said) != (before.get("notes"), before.get("extra") or {}):
            extra = encode_jsonb({**own.kept, **said}) if own.kept or said else None
            labels.append((own.pk, after.get("notes"), extra))
    _update_rows(_UPDATE_LABELS, labels)
    _update_rows(_UPDATE_DECISIONS, decisions)


def _add_labels(sessions: Sequence[int], found: _NotesBySession) -> None:
    rows = (
        Annotation.objects.filter(turn__session__in=sessions)
        .exclude(notes=None, extra=None)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("turn__session", "pk", "turn__turn_index", "notes", "extra")
    )
    session: Any
    for session, pk, turn_index, notes, extra in rows:
        kept = {key: value for key, value in (extra or {}).items() if _is_hashed_id(key, value)}
        said = {key: value for key, value in (extra or {}).items() if key not in kept}
        value = {"turn_index": turn_index, "notes": notes, "extra": said or None}
        found[session].append(
            (
                _NoteSource(Annotation, pk, kept),
                {key: item for key, item in value.items() if item is not None},
            )
        )


def _add_decisions(sessions: Sequence[int], found: _NotesBySession) -> None:
    rows = (
        Decision.objects.filter(assignment__item__session__in=sessions)
        .exclude(notes=None)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("assignment__item__session", "pk", "assignment__item__turn__turn_index", "notes")
    )
    session: Any
    for session, pk, turn_index, notes in rows:
        found[session].append((_NoteSource(Decision, pk, {}), {"turn_index": turn_index, "notes": notes}))


def _update_rows(sql: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(sql, [list(column) for column in zip(*rows, strict=True)])


def _is_hashed_id(key: str, value: Any) -> bool:
    """A session id that is a hash already; as a text it would be taken for a credential."""
    return key in _SESSION_KEYS and type(value) is str and is_hashed_id(value)


def _with_hashed_ids(
    said: dict[str, Any], before: dict[str, Any], hash_id: Callable[[str], str]
) -> dict[str, Any]:
    named = {key: before[key] for key in _SESSION_KEYS if type(before.get(key)) is str}
    return {**said, **{key: hash_id(session_id) for key, session_id in named.items()}}
