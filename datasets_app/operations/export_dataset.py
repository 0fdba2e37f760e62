"""A dataset → a file and its ``.meta.yaml``, streamed."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
from django.db import transaction

from datasets_app import audit
from datasets_app.domain.chat import CHAT_FORMATS, encode_chat
from datasets_app.domain.formulas import safe_cell
from datasets_app.domain.metadata import metadata_path, render_metadata
from datasets_app.domain.records import TurnRecord
from datasets_app.models import Dataset, JobRun
from datasets_app.operations import dataset_facts, gates, job_files
from datasets_app.operations.data_files import Digest, beside, packer
from datasets_app.operations.progress import ProgressCallback, ignore
from datasets_app.operations.refused import Refused
from datasets_app.storage.turn_lines import read_lines
from datasets_app.storage.turn_reader import EVERYTHING, Selection, read_turns

FORMATS = ("turns", *CHAT_FORMATS, "csv")
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
TURNS_AT_ONCE = 1000


class Exported(NamedTuple):
    """``sha256`` is the hex digest of the bytes written, packed if they were."""

    sessions: int
    turns: int
    size: int
    sha256: str


def export_dataset(
    dataset: Dataset,
    out: IO[bytes],
    *,
    format: str = "turns",
    selection: Selection = EVERYTHING,
    packed: bool = False,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore,
) -> Exported:
    """Write the dataset's turns to ``out``, gzipped if ``packed``; memory stays flat.

    All is read in one transaction: what is imported meanwhile is not in it, nor half in it. Production data
    must have been scrubbed, or ``override`` be a reason why not: see :mod:`gates`.
    """
    gates.require_scrubbed(dataset, "export", actor=actor, override=override)
    digest = Digest(out)
    sessions = turns = 0
    with transaction.atomic(), packer(digest, packed) as target:
        for turn_count, session_count, block in _WRITERS[format](dataset, selection):
            turns += turn_count
            sessions += session_count
            target.write(block)
            report_progress(turns, dataset.turn_count)
    if not override:
        # An import may have been committed between the first look and the reading.
        gates.require_scrubbed(dataset, "export", actor=actor)
    if not turns and selection != EVERYTHING:
        raise _nothing_selected(dataset, selection)
    result = Exported(sessions, turns, digest.size, digest.hex)
    audit.record(
        "export",
        actor=actor,
        dataset_name=dataset.name,
        format=format,
        selection=selection._asdict(),
        sessions=result.sessions,
        turns=turns,
        sha256=result.sha256,
    )
    return result


def _nothing_selected(dataset: Dataset, selection: Selection) -> Refused:
    """An empty file would look like an answer; a name that is not there is a slip."""
    personas = dataset.sessions.exclude(persona_id=None).values_list("persona_id", flat=True).distinct()
    wanted = " and ".join(
        f"{kind} {name!r}" for kind, name in (("persona", selection.persona), ("tag", selection.tag)) if name
    )
    there = ", ".join(sorted(map(str, personas[:10]))) or "none"
    return Refused(f"No session of {dataset.name} has {wanted}. Its personas: {there}.")


def export_to_path(
    dataset: Dataset,
    path: Path,
    *,
    format: str = "turns",
    selection: Selection = EVERYTHING,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore,
) -> Exported:
    """Write ``path`` and its metadata file. Both stand complete in the end, or neither is touched."""
    with beside(path) as (data, metadata), transaction.atomic():
        result = export_dataset(
            dataset,
            data,
            format=format,
            selection=selection,
            packed=path.suffix.lower() == ".gz",
            override=override,
            actor=actor,
            report_progress=report_progress,
        )
        stated = dataset_facts.metadata_of(
            dataset,
            sessions=result.sessions,
            turns=result.turns,
            sha256=result.sha256,
            modifications=selection.as_words(),
        )
        metadata.write(render_metadata(stated).encode())
    return result


def export_to_job_files(job_run: JobRun, *, report_progress: ProgressCallback = ignore) -> dict[str, Any]:
    """The export that a page asked for: its files are kept for download until their date."""
    given = job_run.parameters
    dataset = job_run.dataset
    if dataset is None:
        raise Refused("The dataset is gone; there is nothing to export.")
    format = given.get("format") or "turns"
    name = f"{dataset.name}.{'csv' if format == 'csv' else 'jsonl'}{'.gz' if given.get('gzip') else ''}"
    with job_files.folder(job_run) as folder:
        path = folder / name
        result = export_to_path(
            dataset,
            path,
            format=format,
            # Nobody's word: whoever asked has left, and can't be asked whether they may.
            override=str(given.get("override") or "") if job_run.actor else "",
            actor=job_run.actor,
            report_progress=report_progress,
            selection=Selection(given.get("persona") or None, given.get("tag") or None),
        )
        job_files.keep(job_run, "export", [path])
        job_files.keep(job_run, "metadata", [metadata_path(path)])
    return {"sessions": result.sessions, "turns": result.turns, "size": result.size, "sha256": result.sha256}


# --- formats: each yields (turns, sessions begun, bytes) -----------------------------------------------

Blocks = Iterator[tuple[int, int, bytes]]


def _chat(name: str) -> Callable[[Dataset, Selection], Blocks]:
    def write(dataset: Dataset, selection: Selection) -> Blocks:
        for _, session in groupby(read_turns(dataset, selection), key=lambda turn: turn.session_id):
            turns = list(session)
            yield len(turns), 1, encode_chat(turns, CHAT_FORMATS[name])

    return write


def _csv(dataset: Dataset, selection: Selection) -> Blocks:
    yield 0, 0, _csv_rows([CSV_COLUMNS])
    turns = read_turns(dataset, selection)
    while some := list(islice(turns, TURNS_AT_ONCE)):
        yield len(some), sum(turn.turn_index == 1 for turn in some), _csv_rows(map(_csv_row, some))


def _csv_row(turn: TurnRecord) -> list[str]:
    def as_json(value: object) -> str:
        return "" if value is None else _encode(value).decode()

    cells = [turn.session_id, str(turn.turn_index), turn.role, turn.text, as_json(turn.tags)]
    cells += [turn.persona_id or "", turn.timestamp or "", as_json(turn.metadata), as_json(turn.extra)]
    return [safe_cell(cell) for cell in cells]


_encode = msgspec.json.Encoder().encode


def _csv_rows(rows: Iterable[list[str]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode()


_WRITERS: dict[str, Callable[[Dataset, Selection], Blocks]] = {
    "turns": read_lines,
    "csv": _csv,
    **{name: _chat(name) for name in CHAT_FORMATS},
}
