"""Alignmenter's captured runs (archives, run folders, run.sqlite3) and transcripts, which number no turns.

Records stay as they are: tags, persona, case and metadata come in with them.
"""

import json
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces.numbered_turns import Row

DATABASE = "run.sqlite3"
INDEX = "archive.json"
SQLITE = b"SQLite format 3\0"
MAX_DATABASE_BYTES = 512 << 20  # as Alignmenter's own limit
_DAMAGED = "isn't a complete Alignmenter run; export it again: alignmenter archive-export RUN --out FILE"


def is_transcript(value: Any) -> bool:
    """A line of a transcript or dataset that leaves the numbers of turns to the order of its lines."""
    return (
        type(value) is dict
        and {"session_id", "role", "text"} <= value.keys()
        and "turn_index" not in value
        and type(value["text"]) not in (list, dict)  # columns
    )


def read_run(path: Path, limits: Limits) -> Iterator[Row | LineError]:
    """The committed records; those of the model it was compared with are sessions of their own."""
    with _open_database(path) as database:
        models = {item["stream"]: item for item in _read_manifest(database).get("targets", ())}
        yield from _read_records(database, models, limits)


def count_missing(path: Path) -> int:
    with _open_database(path) as database:
        [(planned, captured)] = _query(
            database, "SELECT (SELECT count(*) FROM inputs), (SELECT count(*) FROM records)"
        )
        return max(0, int(planned) - int(captured))


def _read_records(
    database: sqlite3.Connection, models: dict[str, Any], limits: Limits
) -> Iterator[Row | LineError]:
    rows = _query(
        database,
        "SELECT stream, ordinal, length(CAST(payload AS BLOB)), substr(payload, 1, ?) FROM records "
        "ORDER BY stream = 'compare', stream, ordinal",
        limits.line_bytes,
    )
    for number, (stream, _, size, payload) in enumerate(rows, 1):
        if size > limits.line_bytes:
            yield LineError(number, "E109", f"record is larger than {limits.line_bytes:,} bytes")
            continue
        try:
            value = decode_object(str(payload).encode())
        except InvalidRecord as error:
            yield error.to_line_error(number, None)
            continue
        target = models.get(stream, {})
        suffix = "" if stream == "primary" else f"-{stream}"
        yield suffix, target.get("model", "") if target.get("mode") == "generate" else "", number, value


def _read_manifest(database: sqlite3.Connection) -> dict[str, Any]:
    [(payload,)] = _query(database, "SELECT payload FROM manifest")
    try:
        manifest = json.loads(payload)
    except ValueError:
        raise UnreadableFile(_DAMAGED) from None
    return manifest if type(manifest) is dict else {}


def _query(database: sqlite3.Connection, statement: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    try:
        yield from database.execute(statement, values)
    except sqlite3.Error:
        raise UnreadableFile(_DAMAGED) from None


@contextmanager
def _open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Reads only tables: a view could compute anything. Raises UnreadableFile."""
    with tempfile.TemporaryDirectory(prefix="alignmenter-run-") as folder:
        file = path / DATABASE if path.is_dir() else path
        if zipfile.is_zipfile(file):
            file = _unpack(file, Path(folder) / DATABASE)
        mode = "ro" if path.is_dir() else "ro&immutable=1"
        try:
            database = sqlite3.connect(f"{file.resolve().as_uri()}?mode={mode}", uri=True)
        except sqlite3.Error:
            raise UnreadableFile(_DAMAGED) from None
        with closing(database):
            kinds = dict(_query(database, "SELECT name, type FROM sqlite_master"))
            tables = {name for name, kind in kinds.items() if kind == "table"}
            if not {"manifest", "inputs", "records"} <= tables or {"view", "trigger"} & set(kinds.values()):
                raise UnreadableFile(_DAMAGED)
            yield database


def _unpack(path: Path, target: Path) -> Path:
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(INDEX).file_size > 1 << 16:
                raise UnreadableFile(_DAMAGED)
            if archive.getinfo(DATABASE).file_size > MAX_DATABASE_BYTES:
                raise UnreadableFile(f"is larger than {MAX_DATABASE_BYTES >> 20} MiB unpacked")
            index = json.loads(archive.read(INDEX))
            with archive.open(DATABASE) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError):
        raise UnreadableFile(_DAMAGED) from None
    if type(index) is not dict or index.get("sha256") != hash_file(target):
        raise UnreadableFile(f"{_DAMAGED} (its digest differs)")
    return target
