"""Pages of turns, read by keyset: the deepest page costs what the first one costs."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from datasets_app.catalog.rows.partitions import MAX_DATASETS_AT_ONCE
from datasets_app.core.queries import fetch_all
from datasets_app.models import DatasetPartition

# The place of a turn: (session's primary key, turn_index).
TurnPosition = tuple[int, int]

# The inner query is run for one session after the other and stops by itself, so the page is read
# from both indexes in order, also in the middle of a table of millions and within a session of
# 200,000 turns. The comparison with CASE keeps to the index where "OR" would filter.
_TURN_PAGE_SQL = """
SELECT s.dataset_id, t.id, s.id, t.turn_index
FROM (SELECT dataset_id, id FROM datasets_app_session WHERE {in_datasets} {from_session}
      ORDER BY id {order}) s
CROSS JOIN LATERAL (
    SELECT u.id, u.turn_index FROM datasets_app_turn u
    WHERE u.{in_datasets} AND u.dataset_id = s.dataset_id AND u.session_id = s.id {from_turn} {of_role}
    ORDER BY u.turn_index {order} LIMIT %(limit)s
) t
ORDER BY s.id {order}, t.turn_index {order} LIMIT %(limit)s
"""


class TurnKey(NamedTuple):
    """The primary key of a turn, with that of its dataset: by it PostgreSQL finds the partition."""

    dataset: int
    turn: int


class PageQuery(NamedTuple):
    """``before`` selects the turns just before a place, ``backwards`` without it those at the very end."""

    role: str = ""
    after: TurnPosition | None = None
    before: TurnPosition | None = None
    backwards: bool = False
    limit: int = 50

    @property
    def is_backwards(self) -> bool:
        return self.backwards or self.before is not None

    @property
    def place(self) -> TurnPosition | None:
        return self.before or self.after


_Row = tuple[int, int, int, int]  # dataset, turn, session, turn_index


def page_turns(dataset_ids: Sequence[int], query: PageQuery) -> list[TurnKey]:
    """The turns of these datasets next to a place, ordered by session and turn."""
    rows: list[_Row] = []
    for some, nearest_other in _nearest_datasets(dataset_ids, query):
        rows += _read_page(some, query)
        rows.sort(key=lambda row: row[2:], reverse=query.is_backwards)
        rows = rows[: query.limit]
        if nearest_other is None or (
            len(rows) == query.limit and _is_nearer(rows[-1][2], nearest_other, query)
        ):
            break
    keys = [TurnKey(*row[:2]) for row in rows]
    return keys[::-1] if query.is_backwards else keys


def _nearest_datasets(dataset_ids: Sequence[int], query: PageQuery) -> Iterable[tuple[list[int], int | None]]:
    """Parts of the datasets that have sessions beyond the place, nearest first, each with the nearest session
    of all that are left. Datasets that were added to in turn overlap, so a page may need several."""
    session = query.place[0] if query.place else None
    ranges = DatasetPartition.objects.filter(dataset__in=dataset_ids).exclude(first_session=None)
    if query.is_backwards:
        ranges = ranges if session is None else ranges.filter(first_session__lte=session)
        places = list(ranges.order_by("-last_session").values_list("dataset", "last_session"))
    else:
        ranges = ranges if session is None else ranges.filter(last_session__gte=session)
        places = list(ranges.order_by("first_session").values_list("dataset", "first_session"))
    size = 1  # most pages need no more
    while places:
        some, places = places[:size], places[size:]
        yield [pk for pk, _ in some], places[0][1] if places else None
        size = min(4 * size, MAX_DATASETS_AT_ONCE)


def _is_nearer(session: int, other: int, query: PageQuery) -> bool:
    return session > other if query.is_backwards else session < other


def _read_page(dataset_ids: list[int], query: PageQuery) -> list[_Row]:
    sign, far = ("<", 2**31) if query.is_backwards else (">", 0)
    sql = _TURN_PAGE_SQL.format(
        # An array, even of one, would hide from the planner that the index is in order.
        in_datasets="dataset_id = %(dataset)s" if len(dataset_ids) == 1 else "dataset_id = ANY(%(datasets)s)",
        order="DESC" if query.is_backwards else "ASC",
        from_session=f"AND id {sign}= %(session)s" if query.place else "",
        from_turn=(
            f"AND u.turn_index {sign} CASE WHEN s.id = %(session)s THEN %(turn)s ELSE {far} END"
            if query.place
            else ""
        ),
        of_role="AND u.role = %(role)s" if query.role else "",
    )
    session, turn = query.place or (0, 0)
    values: dict[str, Any] = {
        "dataset": dataset_ids[0],
        "datasets": dataset_ids,
        "session": session,
        "turn": turn,
        "role": query.role,
        "limit": query.limit,
    }
    return fetch_all(sql, values)
