"""What people wrote beside their labels is scrubbed with the conversation it is about."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.labels.label_places import ORIGINAL_SESSION, PLACE_SESSION, split_hashed_ids
from annotations_app.labels.label_writing import CONTACT
from annotations_app.models import Annotation, Decision
from datasets_app.catalog.rows.turn_writer import encode_jsonb
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.models import Persona

# Keys of a label that hold a session id.
_SESSION_KEYS = (PLACE_SESSION, ORIGINAL_SESSION)

_UPDATE_LABELS = """
UPDATE annotations_app_annotation a
SET notes = n.notes, extra = n.extra::jsonb, persona_id = n.persona_id, annotator = n.annotator
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[])
    AS n (id, notes, extra, persona_id, annotator)
WHERE a.id = n.id
"""
# The turns have been scrubbed before.
_UPDATE_TIMES = """
UPDATE annotations_app_annotation a SET timestamp = t.timestamp
FROM datasets_app_turn t
WHERE a.id = ANY(%s) AND t.dataset_id = %s AND t.id = a.turn_id AND a.timestamp IS DISTINCT FROM t.timestamp
"""
_UPDATE_DECISIONS = """
UPDATE annotations_app_decision d SET notes = n.notes
FROM unnest(%s::bigint[], %s::text[]) AS n (id, notes) WHERE d.id = n.id
"""
TABLES = ("annotations_app_annotation", "annotations_app_decision")


class _NoteSource(NamedTuple):
    """By which what was said is known again: its model and primary key, of a label also its persona's id and
    its annotator, and of its unknown keys what is no text to look at. ``has_time_of_turn``: it came with the
    turn, in a conversation file."""

    model: type[Annotation] | type[Decision]
    pk: int
    kept: dict[str, Any] = {}
    persona_id: str = ""
    annotator: str | None = None
    has_time_of_turn: bool = False


_NotesBySession = dict[int, list[tuple[_NoteSource, dict[str, Any]]]]


def read_notes(dataset: int, sessions: Sequence[int]) -> _NotesBySession:
    """For each of these sessions of a dataset the labels and decisions that say more than 0 or 1, with what
    they say."""
    found: _NotesBySession = defaultdict(list)
    _add_labels(dataset, sessions, found)
    _add_decisions(dataset, sessions, found)
    return found


def write_notes(
    dataset: int,
    changes: list[tuple[_NoteSource, dict[str, Any], dict[str, Any]]],
    hash_id: Callable[[str], str] | None,
) -> None:
    """Give labels and decisions what is left of their notes, labels of their unknown keys as well."""
    labels: list[tuple[int, str | None, str | None, str, str | None]] = []
    decisions: list[tuple[int, str | None]] = []
    for own, before, after in changes:
        if own.model is Decision:
            if after.get("notes") != before.get("notes"):
                decisions.append((own.pk, after.get("notes")))
            continue
        said, persona_id = after.get("extra") or {}, after.get("persona_id", own.persona_id)
        annotator = own.annotator
        if after.get("annotator") != before.get("annotator"):
            annotator = make_pseudonym(before["annotator"])
        if hash_id is not None:
            said = _with_hashed_ids(said, before.get("extra") or {}, hash_id)
        if (after.get("notes"), said, persona_id, annotator) != (
            before.get("notes"),
            before.get("extra") or {},
            own.persona_id,
            own.annotator,
        ):
            extra = encode_jsonb({**own.kept, **said}) if own.kept or said else None
            labels.append((own.pk, after.get("notes"), extra, persona_id, annotator))
    _update_rows(_UPDATE_LABELS, labels)
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE_TIMES, [[own.pk for own, _, _ in changes if own.has_time_of_turn], dataset])
    _update_rows(_UPDATE_DECISIONS, decisions)


def _add_labels(dataset: int, sessions: Sequence[int], found: _NotesBySession) -> None:
    """Labels with notes or unknown keys, those that repeat the turn's time or a persona that is none, and
    imported ones whose annotator is an address or a number."""
    personas = Persona.objects.filter(persona_id=OuterRef("persona_id"))
    rows = (
        Annotation.objects.filter(dataset=dataset, turn__session__in=sessions)
        .annotate(
            unknown_persona=~Exists(personas),
            same_time=Q(timestamp=F("turn__timestamp")),
            # Names of accounts are known here. So are those of people in files: they stay.
            is_contact=Q(campaign=None, annotator__regex=CONTACT.pattern),
        )
        .filter(
            Q(notes__isnull=False)
            | Q(extra__isnull=False)
            | Q(unknown_persona=True)
            | Q(same_time=True)
            | Q(is_contact=True)
        )
        .order_by("id")
        .select_for_update(of=("self",))
        .select_related("turn")
        .only("notes", "extra", "persona_id", "annotator", "turn__session_id", "turn__turn_index")
    )
    for label in rows:
        kept, others = split_hashed_ids(label.extra)
        value = {
            "turn_index": label.turn.turn_index,
            "notes": label.notes,
            "extra": others or None,
            "persona_id": label.persona_id if label.unknown_persona else None,
            "annotator": label.annotator if label.is_contact else None,
        }
        source = _NoteSource(
            Annotation, label.pk, kept, label.persona_id, label.annotator, bool(label.same_time)
        )
        said = {key: item for key, item in value.items() if item is not None}
        found[label.turn.session_id].append((source, said))


def make_pseudonym(annotator: str) -> str:
    """Keeps annotators apart, as one placeholder for all would not."""
    return f"annotator-{hash_session_id(annotator, hash_key())[:8]}"


def _add_decisions(dataset: int, sessions: Sequence[int], found: _NotesBySession) -> None:
    rows = (
        Decision.objects.filter(
            assignment__item__session__in=sessions, assignment__item__turn__dataset=dataset
        )
        .exclude(notes=None)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("assignment__item__session", "pk", "assignment__item__turn__turn_index", "notes")
    )
    session: Any
    for session, pk, turn_index, notes in rows:
        found[session].append((_NoteSource(Decision, pk), {"turn_index": turn_index, "notes": notes}))


def _update_rows(sql: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(sql, [list(column) for column in zip(*rows, strict=True)])


def _with_hashed_ids(
    said: dict[str, Any], before: dict[str, Any], hash_id: Callable[[str], str]
) -> dict[str, Any]:
    named = {key: before[key] for key in _SESSION_KEYS if type(before.get(key)) is str}
    return {**said, **{key: hash_id(session_id) for key, session_id in named.items()}}
