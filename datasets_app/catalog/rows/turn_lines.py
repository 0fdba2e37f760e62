"""Exports conversation JSONL from PostgreSQL, which writes the lines itself.

That takes it no longer than any other form, and this process nothing but to pass them on. A test compares the
result with ``jsonl.encode_turn``, which differs only in the spaces of metadata.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from psycopg import sql

from datasets_app.catalog.rows.turn_reader import ALL_SESSIONS, Selection, build_turns_query
from datasets_app.core.copy import open_copy
from datasets_app.domain.conversations.jsonl import escape_line_ends

ROW_BATCH_SIZE = 2000

# What is NULL leaves its key out, but for the persona.
_LINE = sql.SQL("""
concat(
    '{"session_id":', to_json(s.session_id), ',"turn_index":', t.turn_index, ',"role":"', t.role, '","text":',
    to_json(t.text), ',"tags":', array_to_json(t.tags),
    ',"persona_id":', coalesce(to_json(s.persona_id), 'null'),
    ',"timestamp":' || to_json(t.timestamp)::text, ',"metadata":' || t.metadata::text,
    coalesce(',' || substr(t.extra::text, 2), '}')
)
""")
# No line has these signs, so that COPY escapes and quotes nothing.
_COPY = sql.SQL(r"COPY ({}) TO STDOUT (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')")
# Quotes within strings are escaped, and jsonb puts a space behind its colons.
_FIRST_TURN = b',"turn_index":1,'


def read_lines(dataset: Any, selection: Selection = ALL_SESSIONS) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(turns, sessions started, JSONL lines)`` in batches of some thousand turns."""
    query = _COPY.format(build_turns_query(_LINE, dataset, selection))
    with open_copy(query) as copy:
        received = iter(copy)
        while rows := list(islice(received, ROW_BATCH_SIZE)):
            block = b"".join(rows)
            yield (
                len(rows),
                # Every session has one turn of index 1.
                block.count(_FIRST_TURN),
                block if block.isascii() else escape_line_ends(block),
            )
