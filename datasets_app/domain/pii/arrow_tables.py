"""Scrubs Arrow tables of whole conversations: what Ray, Spark or any engine of many machines calls for each.

A column is a field of a turn, as on the lines of a conversation file; ``metadata`` is the text of a JSON
object. Needs pyarrow. See docs/scrubbing.md.
"""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from datasets_app.domain.conversations.jsonl import decode_object, encode_line, parse_turn_object
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.batches import SCRUB, ScrubbedBatch, ScrubSetup, make_batch_worker
from datasets_app.domain.pii.policy import Policy

if TYPE_CHECKING:
    from pyarrow import Table

_ORDER = [("session_id", "ascending"), ("turn_index", "ascending")]
_METADATA = "metadata"


class TableScrubber:
    """Called with a table that has all turns of each of its sessions, it gives them scrubbed, in order.

    One is made in each process.
    """

    def __init__(self, policy: Policy, key: bytes, persona_terms: tuple[str, ...] = ()) -> None:
        self._work = make_batch_worker(ScrubSetup(policy, key, persona_terms))

    def __call__(self, table: "Table") -> "Table":
        turns = [_parse_row(row) for row in table.sort_by(_ORDER).to_pylist()]
        scrubbed = self._work((SCRUB, turns))
        assert isinstance(scrubbed, ScrubbedBatch)
        return _make_table(map(decode_object, scrubbed.lines.splitlines()), table)


@cache
def load_table_scrubber(policy: Policy, key: bytes, persona_terms: tuple[str, ...] = ()) -> TableScrubber:
    """One in each process, for engines that call a function (Spark) instead of making an object (Ray)."""
    return TableScrubber(policy, key, persona_terms)


def _parse_row(row: dict[str, Any]) -> TurnRecord:
    """A turn; what is null is not there."""
    value = {name: content for name, content in row.items() if content is not None}
    if _METADATA in value:
        value[_METADATA] = decode_object(value[_METADATA].encode())
    return parse_turn_object(value)


def _make_table(objects: Iterable[dict[str, Any]], like: "Table") -> "Table":
    from pyarrow import Table

    rows = []
    for value in objects:
        if _METADATA in value:
            value[_METADATA] = encode_line(value[_METADATA]).decode().rstrip("\n")
        if more := {name for name, content in value.items() if content} - set(like.column_names):
            raise ValueError(f"{len(more)} fields of a turn have no column: their names were personal data")
        rows.append(value)
    return Table.from_pylist(rows, schema=like.schema)
