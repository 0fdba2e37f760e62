"""Creates, fills, empties and drops the partitions with the sessions and turns of a dataset.

PostgreSQL finds a row without searching the partitions of all datasets only if the dataset is in the
condition of every table of a query. See docs/decisions/0024-a-partition-for-each-dataset.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from datasets_app.core.queries import execute, fetch_column, fetch_one
from datasets_app.domain.batches import batched
from datasets_app.models import Dataset, DatasetPartition

# Planning takes time for each partition, and a lock on each of their tables and indexes is held.
MAX_DATASETS_AT_ONCE = 50

_RECORD_KEYS = """
UPDATE datasets_app_datasetpartition SET (first_session, last_session, first_turn, last_turn) = (
    SELECT (SELECT min(id) FROM {sessions} WHERE dataset_id = {dataset}),
           (SELECT max(id) FROM {sessions} WHERE dataset_id = {dataset}),
           (SELECT min(id) FROM {turns} WHERE dataset_id = {dataset}),
           (SELECT max(id) FROM {turns} WHERE dataset_id = {dataset})
) WHERE dataset_id = {dataset}
"""
_FIND_KEY = "SELECT dataset_id FROM datasets_app_{kind} WHERE dataset_id = ANY(%s) AND id = %s"
# A dataset that was deleted leaves its partitions, which are empty, and so does one that has expired.
_UNUSED = """
SELECT substring(c.relname FROM '[0-9]+$')::bigint AS dataset
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'datasets_app_session'::regclass AND NOT EXISTS (
    SELECT FROM datasets_app_dataset d
    WHERE d.id = substring(c.relname FROM '[0-9]+$')::bigint
      AND NOT (d.status = 'expired' AND d.session_count = 0)
)
ORDER BY 1
"""


def table_names(dataset_id: int) -> tuple[str, str]:
    """The tables with the sessions and with the turns of a dataset."""
    return f"datasets_app_session_{int(dataset_id)}", f"datasets_app_turn_{int(dataset_id)}"


def list_tables(dataset_ids: Iterable[int]) -> list[str]:
    """The tables of all of these datasets that have partitions."""
    return [name for pk in dataset_ids if has_partition(pk) for name in table_names(pk)]


def has_partition(dataset_id: int) -> bool:
    return DatasetPartition.objects.filter(dataset=dataset_id).exists()


@contextmanager
def loading_partition(dataset_id: int) -> Iterator[None]:
    """Rows are added to :func:`table_names` within, in the caller's transaction, which locked the dataset.

    The first load of a dataset goes to tables without indexes and constraints, which are built and checked
    at the end. Only then are they attached, so that others wait for this transaction as little as possible.
    """
    is_new = not has_partition(dataset_id)
    if is_new:
        _call("create", dataset_id)
    yield
    if is_new:
        _call("attach", dataset_id)
    record_keys(dataset_id)


def require_partition(dataset_id: int) -> None:
    """Create the partitions unless they exist, in the caller's transaction, which has locked the dataset."""
    with loading_partition(dataset_id):
        pass


def record_keys(dataset_id: int) -> None:
    """To be called after rows were added."""
    sessions, turns = table_names(dataset_id)
    execute(_RECORD_KEYS.format(sessions=sessions, turns=turns, dataset=int(dataset_id)))


def empty_partition(dataset_id: int) -> None:
    """Delete all sessions and turns of an expired dataset, in the caller's transaction. No rows may refer to
    them."""
    if has_partition(dataset_id):
        _call("empty", dataset_id)


def drop_unused_partitions() -> int:
    """Drop the empty partitions of datasets that have expired or are gone; returns of how many datasets.

    Others can't read any partition meanwhile, so this ends as soon as it has to wait for them.
    """
    unused = fetch_column(_UNUSED)
    for dropped, pk in enumerate(unused):
        try:
            with transaction.atomic():
                _call("drop", pk)
        except DatabaseError:
            return dropped
    return len(unused)


def find_dataset(kind: Literal["session", "turn"], key: int, dataset_ids: Sequence[int]) -> int | None:
    """The one of these datasets that has the session or turn with this primary key."""
    # The ranges of datasets that were added to in turn overlap.
    has_key = {f"first_{kind}__lte": key, f"last_{kind}__gte": key}
    places = DatasetPartition.objects.filter(dataset__in=dataset_ids, **has_key).order_by("-dataset")
    for some in split_datasets(places.values_list("dataset", flat=True)):
        if row := fetch_one(_FIND_KEY.format(kind=kind), [some, key]):
            return int(row[0])
    return None


def find_visible(model: Any, key: int | None, user: Any) -> QuerySet[Any]:
    """The session or turn with this primary key, if the user may see its dataset."""
    visible = list(Dataset.objects.visible_to(user).values_list("pk", flat=True))
    dataset = None if key is None else find_dataset(model._meta.model_name, key, visible)
    rows: QuerySet[Any] = model.objects.filter(dataset=dataset, pk=key)
    return rows


def split_datasets(dataset_ids: Iterable[int]) -> Iterator[list[int]]:
    """Parts of the list that one query can be about."""
    return batched(dataset_ids, MAX_DATASETS_AT_ONCE)


def _call(verb: str, dataset_id: int) -> None:
    execute(f"SELECT datasets_app_{verb}_partition(%s)", [dataset_id])
