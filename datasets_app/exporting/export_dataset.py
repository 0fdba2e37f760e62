"""Exports a dataset to a file and its ``.meta.yaml``, streamed."""

import csv
import io
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
from django.db import transaction

from datasets_app.catalog import facts, policies, text_gates
from datasets_app.catalog.files import DigestWriter, gzip_writer, write_with_metadata
from datasets_app.catalog.rows.parquet_blocks import encode_parquet
from datasets_app.catalog.rows.turn_reader import (
    ALL_SESSIONS,
    NOT_EXCLUDED,
    Selection,
    read_lines,
    read_turns,
)
from datasets_app.catalog.text_scans import load_kept_terms
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.chat import CHAT_FORMATS, CHAT_NOTE, encode_chat
from datasets_app.domain.conversations.jsonl import encode_session, encode_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.formulas import escape_cell
from datasets_app.domain.metadata.metadata import render_metadata
from datasets_app.domain.pii.placeholders import pad_placeholders
from datasets_app.domain.quality.kept_terms import NO_TERMS, TermSearch
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

EXPORT_FORMATS = ("turns", *CHAT_FORMATS, "sessions", "padded", "csv", "parquet")
CSV_COLUMNS = [
    "session_id",
    "turn_index",
    "role",
    "text",
    "tags",
    "persona_id",
    "timestamp",
    "metadata",
    "extra",
]
TURN_BATCH_SIZE = 1000
# What the metadata of a file and the result of an export say of its format.
_FORMAT_NOTES = {"padded": ("placeholders padded to as many words as such values usually have",)}
_FORMAT_NOTES |= dict.fromkeys(CHAT_FORMATS, (CHAT_NOTE,))
PARQUET_GZIP_CONFLICT = "Parquet is already compressed; export it without gzip."


def file_extension(format: str) -> str:
    """The extension of files of this format."""
    return format if format in {"csv", "parquet"} else "jsonl"


class ExportResult(NamedTuple):
    """``sha256`` is the hex digest of the bytes written, after compression. ``notices`` say what isn't in
    the file."""

    sessions: int
    turns: int
    size: int
    sha256: str
    notices: tuple[str, ...] = ()


def export_dataset(
    dataset: Dataset,
    out: IO[bytes],
    *,
    format: str = "turns",
    selection: Selection = ALL_SESSIONS,
    gzipped: bool = False,
    override: str = "",
    actor: Any = None,
    terms: TermSearch = NO_TERMS,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportResult:
    """Write the dataset's turns to ``out``, without excluded sessions, in constant memory and one
    transaction; ``terms`` searches what is written. Raises UserError. Unscrubbed production data takes
    ``override``, a reason: see :mod:`gates`."""
    if gzipped and format == "parquet":
        raise UserError(PARQUET_GZIP_CONFLICT)
    overridden = text_gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
    digest, sessions, turns = DigestWriter(out), 0, 0
    # Closed before the transaction ends: a COPY that goes on holds the connection, and a rollback would wait.
    blocks = _write_blocks(format, dataset, selection._replace(excluded=False), terms)
    with transaction.atomic(), gzip_writer(digest, gzipped) as target, closing(blocks):
        for turn_count, session_count, block in blocks:
            turns += turn_count
            sessions += session_count
            target.write(block)
            report_progress(turns, dataset.turn_count)
    if not overridden:
        # An import may have been committed between the first check and the reading.
        text_gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
    excluded = dataset.sessions.filter(excluded=True).count()
    if not turns and (excluded or selection != ALL_SESSIONS):
        raise _empty_selection_error(dataset, selection)
    result = ExportResult(sessions, turns, digest.size, digest.hex, _list_notices(dataset, format))
    audit.record(
        "export",
        actor=actor,
        dataset_name=dataset.name,
        format=format,
        split=selection.split,
        # Not which one: a later deletion could not remove it from here.
        only_a_persona=bool(selection.persona),
        only_a_tag=bool(selection.tag),
        only_chosen_sessions=selection.chosen is not None,
        excluded=excluded,
        sessions=result.sessions,
        turns=turns,
        sha256=result.sha256,
    )
    return result


def _empty_selection_error(dataset: Dataset, selection: Selection) -> UserError:
    """An empty file would look like a result, but an unknown name is a typo."""
    if selection in (ALL_SESSIONS, NOT_EXCLUDED):
        return UserError(
            f"All sessions of {dataset.name} are excluded. Include some of them again, then export."
        )
    if selection.chosen is not None:
        return UserError(
            f"None of the chosen sessions of {dataset.name} can be exported: they were deleted, or are "
            "excluded."
        )
    filters = {"persona": selection.persona, "tag": selection.tag, "split": selection.split}
    requested = " and ".join(f"{kind} {name!r}" for kind, name in filters.items() if name)
    existing = "".join(
        f" Its {column.split('_')[0]}s: {_list_values(dataset, column)}."
        for column in ("persona_id", *(["split"] if selection.split else []))
    )
    return UserError(f"No session of {dataset.name} has {requested}.{existing}")


def _list_values(dataset: Dataset, column: str) -> str:
    values = dataset.sessions.exclude(**{column: None}).values_list(column, flat=True).distinct()
    return ", ".join(sorted(map(str, values[:10]))) or "none"


def selection_notes(selection: Selection) -> list[str]:
    """Modifications for the metadata of a file: its filters, and limits on its use."""
    notes = selection.describe()
    if selection.split == policies.LOCKED_SPLIT:
        notes.append("this is the test split: nothing is to be calibrated, trained or chosen on it")
    return notes


def _list_notices(dataset: Dataset, format: str) -> tuple[str, ...]:
    return (*note_excluded(dataset), *_FORMAT_NOTES.get(format, ()))


def note_excluded(dataset: Dataset) -> list[str]:
    """A modification for the metadata of a file, if sessions are left out of it."""
    count = dataset.sessions.filter(excluded=True).count()
    return [f"{format_count(count, 'session')} excluded"] if count else []


def export_to_path(
    dataset: Dataset,
    path: Path,
    *,
    format: str = "turns",
    selection: Selection = ALL_SESSIONS,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportResult:
    """Write ``path`` and its metadata file, both completely or neither."""
    terms = TermSearch(load_kept_terms(dataset))
    with write_with_metadata(path) as (data, metadata), transaction.atomic():
        result = export_dataset(
            dataset,
            data,
            format=format,
            selection=selection,
            gzipped=path.suffix.lower() == ".gz",
            override=override,
            actor=actor,
            terms=terms,
            report_progress=report_progress,
        )
        stated = facts.build_metadata(
            dataset,
            sessions=result.sessions,
            turns=result.turns,
            sha256=result.sha256,
            modifications=[*selection_notes(selection), *result.notices],
        )
        if selection != ALL_SESSIONS:
            stated = facts.subset_metadata(stated)
        metadata.write(render_metadata(terms.state(stated)).encode())
    return result


# --- formats: each yields (turns, sessions begun, bytes) -----------------------------------------------

Blocks = Iterator[tuple[int, int, bytes]]
BlockStream = Generator[tuple[int, int, bytes]]


def _make_session_writer(
    encode: Callable[[list[TurnRecord]], bytes],
) -> Callable[[Dataset, Selection], Blocks]:
    def write(dataset: Dataset, selection: Selection) -> Blocks:
        for _, session in groupby(read_turns(dataset, selection), key=lambda turn: turn.session_id):
            turns = list(session)
            yield len(turns), 1, encode(turns)

    return write


def _encode_padded(turns: list[TurnRecord]) -> bytes:
    return b"".join(encode_turn(turn._replace(text=pad_placeholders(turn.text))) for turn in turns)


def _write_csv(dataset: Dataset, selection: Selection) -> Blocks:
    return encode_csv(read_turns(dataset, selection))


def encode_csv(turns: Iterator[TurnRecord]) -> Blocks:
    """Yield ``(turns, sessions begun, bytes)``; together the bytes are a CSV file."""
    yield 0, 0, _encode_csv_rows([CSV_COLUMNS])
    for some in batched(turns, TURN_BATCH_SIZE):
        yield len(some), sum(turn.turn_index == 1 for turn in some), _encode_csv_rows(map(_csv_cells, some))


def _csv_cells(turn: TurnRecord) -> list[str]:
    def as_json(value: object) -> str:
        return "" if value is None else _encode(value).decode()

    cells = [turn.session_id, str(turn.turn_index), turn.role, turn.text, as_json(turn.tags)]
    cells += [turn.persona_id or "", turn.timestamp or "", as_json(turn.metadata), as_json(turn.extra)]
    return [escape_cell(cell) for cell in cells]


_encode = msgspec.json.Encoder().encode


def _encode_csv_rows(rows: Iterable[list[str]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode()


_WRITERS: dict[str, Callable[[Dataset, Selection], Blocks]] = {
    "turns": read_lines,
    "csv": _write_csv,
    "sessions": _make_session_writer(encode_session),
    "padded": _make_session_writer(_encode_padded),
    **{name: _make_session_writer(partial(encode_chat, chat=chat)) for name, chat in CHAT_FORMATS.items()},
}


def _write_blocks(format: str, dataset: Dataset, selection: Selection, terms: TermSearch) -> BlockStream:
    """The blocks of a file, searched for ``terms``; of Parquet, which is compressed, its turns are."""
    if format == "parquet":
        yield from encode_parquet(terms.watch(read_turns(dataset, selection)))
        return
    for block in _WRITERS[format](dataset, selection):
        terms.add(block[-1])
        yield block
