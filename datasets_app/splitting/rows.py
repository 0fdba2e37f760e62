"""Reads sessions for splitting and writes their splits."""

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from django.db.models import Count
from psycopg import sql

from datasets_app.catalog.rows.turn_reader import ALL_SESSIONS, build_turns_query
from datasets_app.core.queries import execute, open_copy
from datasets_app.domain.splits.decision import Conversation
from datasets_app.domain.splits.splits import get_split_group
from datasets_app.models import Session

_decode = msgspec.json.Decoder().decode

_COLUMNS = sql.SQL("""
s.id, s.session_id, s.persona_id, s.split, t.text,
CASE WHEN t.tags <> '{}' THEN array_to_json(t.tags)::text END,
CASE WHEN t.metadata ? 'split_group'
     THEN jsonb_build_object('split_group', t.metadata -> 'split_group')::text END
""")
_TYPES = ["int8", "text", "text", "text", "text", "text", "text"]


def read_conversations(dataset: Any, keys: "array[int]") -> Iterator[Conversation]:
    """The dataset's sessions in import order; appends their primary keys to ``keys``."""
    query = sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(
        build_turns_query(_COLUMNS, dataset, ALL_SESSIONS)
    )
    current: Conversation | None = None
    texts: list[str] = []
    all_tags: list[str] = []
    with open_copy(query) as copy:
        copy.set_types(_TYPES)
        for key, session_id, persona_id, split, text, tags, siblings in copy.rows():
            if not keys or key != keys[-1]:
                if current is not None:
                    yield current
                keys.append(key)
                texts, all_tags = [], []
                current = Conversation(
                    session_id, persona_id, tags=all_tags, texts=texts, current_split=split
                )
            assert current is not None
            texts.append(text)
            all_tags.extend(_decode(tags) if tags else ())
            if siblings and current.sibling is None:
                current = current._replace(sibling=get_split_group(_decode(siblings)))
    if current is not None:
        yield current


def write_splits(dataset: Any, placements: Iterable[tuple[int, str]], *, resplit: bool = False) -> int:
    """Store the splits of sessions, given by primary key, in the caller's transaction; returns
    how many changed.

    Sessions with a split keep it unless ``resplit`` is set.
    """
    execute("CREATE TEMPORARY TABLE split_placed (id bigint, split text) ON COMMIT DROP")
    with open_copy("COPY split_placed FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "text"])
        for row in placements:
            copy.write_row(row)
    execute("ANALYZE split_placed")
    written: int = execute(
        "UPDATE datasets_app_session s SET split = p.split FROM split_placed p "
        "WHERE s.id = p.id AND s.dataset_id = %s AND (s.split IS NULL OR (%s AND s.split <> p.split))",
        [dataset.pk, resplit],
    )
    execute("DROP TABLE split_placed")
    return written


def count_splits(dataset: Any, *, excluded: bool = True) -> dict[str | None, int]:
    """Number of sessions in each split, with or without excluded ones; None stands for those without one."""
    sessions = Session.objects.filter(dataset=dataset).order_by()
    counted = sessions if excluded else sessions.filter(excluded=False)
    return dict(counted.values_list("split").annotate(Count("pk")))
