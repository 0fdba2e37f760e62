"""Exports conversation JSONL from PostgreSQL without creating an object for every turn.

COPY's text format escapes backslashes, line feeds and tabs as JSON does, so joining the fields of a row gives
its line, several times faster than decoding and encoding. Quotes, vertical tabs and other control characters
differ and are converted. A test compares the result with ``jsonl.encode_turn``.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from psycopg import sql

from datasets_app.catalog.rows.turn_reader import ALL_SESSIONS, Selection, build_turns_query
from datasets_app.core.copy import open_copy
from datasets_app.domain.conversations.jsonl import escape_line_ends

ROW_BATCH_SIZE = 2000
COLUMN_COUNT = 9

_COLUMNS = sql.SQL(
    "s.session_id, t.turn_index, t.role, t.text, t.tags, s.persona_id, t.timestamp, t.metadata, t.extra"
)
_NULL = rb"\N"
# Control characters that COPY writes unchanged and JSON must escape.
_CONTROLS = bytes(code for code in range(0x20) if code not in b"\t\n")
_COPY_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_COPY_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ARRAY_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', re.DOTALL)
_encode = msgspec.json.Encoder().encode


def read_lines(dataset: Any, selection: Selection = ALL_SESSIONS) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(turns, sessions started, JSONL lines)`` in batches of some thousand turns."""
    query = sql.SQL("COPY ({}) TO STDOUT").format(build_turns_query(_COLUMNS, dataset, selection))
    with open_copy(query) as copy:
        received = iter(copy)
        while rows := list(islice(received, ROW_BATCH_SIZE)):
            yield _encode_rows(rows)


def _encode_rows(rows: list[Any]) -> tuple[int, int, bytes]:
    block = b"".join(rows)
    odd = b"\\v" in block or len(block.translate(None, _CONTROLS)) != len(block)
    string = _encode_string if odd else _quote_string
    # One split for all rows is safe, because COPY escapes tabs and line feeds within fields.
    fields = block.replace(b"\n", b"\t").split(b"\t")
    # In jsonb a backslash only starts an escape, and COPY doubles it.
    json = _unescape_jsonb if b"\\\\" in block else bytes
    lines = [
        b'{"session_id":%s,"turn_index":%s,"role":"%s","text":%s,"tags":%s,"persona_id":%s%s%s%s'
        % (
            _encode_id(session_id),
            turn_index,
            role,
            string(text),
            _encode_tags(tags),
            _encode_id(persona_id),
            b"" if timestamp == _NULL else b',"timestamp":%s' % string(timestamp),
            b"" if metadata == _NULL else b',"metadata":%s' % json(metadata),
            b"}\n" if extra == _NULL else b",%s\n" % json(extra)[1:],
        )
        for session_id, turn_index, role, text, tags, persona_id, timestamp, metadata, extra in zip(
            *(fields[column::COLUMN_COUNT] for column in range(COLUMN_COUNT)), strict=False
        )
    ]
    written = b"".join(lines)
    # Every session has one turn of index 1.
    sessions = fields[1::COLUMN_COUNT].count(b"1")
    return len(rows), sessions, written if written.isascii() else escape_line_ends(written)


def _unescape_jsonb(field: bytes) -> bytes:
    return field.replace(b"\\\\", b"\\")


def _quote_string(field: bytes) -> bytes:
    return b'"%s"' % (field.replace(b'"', b'\\"') if b'"' in field else field)


def _encode_string(field: bytes) -> bytes:
    """Like ``_quote_string``, for fields with characters that COPY and JSON escape differently."""
    return _encode(_unescape_field(field).decode())


@lru_cache(maxsize=256)
def _encode_id(field: bytes) -> bytes:
    """Cached, since ids repeat from line to line."""
    return b"null" if field == _NULL else _encode_string(field)


@lru_cache(maxsize=4096)
def _encode_tags(field: bytes) -> bytes:
    literal = _unescape_field(field).decode()
    items = [
        plain if plain else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        for quoted, plain in _ARRAY_ITEM.findall(literal[1:-1])
    ]
    return _encode(items)


def _unescape_field(field: bytes) -> bytes:
    if b"\\" not in field:
        return field
    return _COPY_ESCAPE.sub(lambda match: _COPY_ESCAPES.get(match[1], match[1]), field)
