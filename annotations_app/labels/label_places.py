"""The place that a label line names, kept in the label's metadata."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import OuterRef, Subquery

from annotations_app.models import Annotation
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.pii.session_ids import is_hashed_id

# For a label that matched no turn: exports restore these instead of the one-turn session made for it.
PLACE_SESSION, PLACE_TURN = "session_id", "turn_index"
# For a label that was joined to a turn elsewhere by its text.
ORIGINAL_SESSION, ORIGINAL_TURN = "original_session_id", "original_turn_index"


def kept_place(turn: str, model: Any = Annotation) -> Subquery:
    """A subquery for the label keys that name the place of a row's turn (at the path ``turn``), or None."""
    labels = model.objects.filter(turn=OuterRef(turn), extra__has_key=PLACE_SESSION)
    return Subquery(labels.order_by("id").values("extra")[:1])


def place_of(session_id: str, turn_index: int, kept: dict[str, Any] | None) -> tuple[str, int]:
    """The session id and turn number of a turn in exports."""
    kept = kept or {}
    return kept.get(PLACE_SESSION, session_id), kept.get(PLACE_TURN, turn_index)


def without_place(label: LabelRecord) -> LabelRecord:
    """The label without place keys in its metadata."""
    kept = {
        key: value for key, value in (label.extra or {}).items() if key not in (PLACE_SESSION, PLACE_TURN)
    }
    return label._replace(extra=kept or None)


def split_hashed_ids(extra: dict[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys of a label that hold hashed session ids, and all others: a hash would be taken for a
    credential."""
    keys = (PLACE_SESSION, ORIGINAL_SESSION)
    kept = {key: value for key, value in (extra or {}).items() if key in keys and _is_hash(value)}
    return kept, {key: value for key, value in (extra or {}).items() if key not in kept}


def _is_hash(value: Any) -> bool:
    return type(value) is str and is_hashed_id(value)


def find_labels_naming(
    model: Any, dataset: Any, matches: Callable[[str], bool], *keys: str
) -> Iterator[tuple[int, int, int]]:
    """(label, session of its turn, turns of that session) of labels that keep a matching session id under
    one of ``keys``; primary keys, read one by one."""
    labels = model.objects.filter(dataset=dataset, extra__has_any_keys=keys).order_by()
    rows = labels.values_list("pk", "turn__session", "turn__session__turn_count", "extra")
    for label, session, turn_count, extra in rows.iterator():
        if any(type(extra.get(key)) is str and matches(extra[key]) for key in keys):
            yield label, session, turn_count
