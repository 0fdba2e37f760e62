"""Writes and counts the data files of a package: JSONL and Parquet, one of each for every split."""

import gzip
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

from datasets_app.catalog.files import DigestWriter
from datasets_app.catalog.rows.parquet_blocks import encode_parquet
from datasets_app.catalog.rows.turn_reader import Selection, read_lines
from datasets_app.catalog.text_scans import load_kept_terms
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.counts import ConversationCounts
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, parse_turn
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.packages.package import JSONL, PARQUET, DataFile
from datasets_app.domain.quality.kept_terms import NO_TERMS, TermSearch
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Release, ReleaseFile, Session
from datasets_app.releasing import files as release_files
from datasets_app.splitting.rows import count_splits

DATA_FOLDER = "data"
LINE_BATCH_SIZE = 2_000
# Every turn is written twice: once as a line, once as a row.
WRITES_PER_TURN = 2


class LineFile(NamedTuple):
    """A complete file of lines; ``split`` is None if it holds all of the data."""

    path: Path
    split: str | None


class WrittenData(NamedTuple):
    """``terms`` are those of the current dataset; a release has stated its own."""

    files: list[DataFile]
    counts: ConversationCounts
    notices: list[str]
    terms: TermSearch


def write_dataset_files(dataset: Dataset, folder: Path, report_progress: ProgressCallback) -> WrittenData:
    """Write the current dataset into ``folder``/data. Call it in a transaction that has locked the dataset's
    row: each split is read by itself."""
    pieces, done, terms = [], 0, TermSearch(load_kept_terms(dataset))
    splits: list[str | None] = [*_list_splits(dataset)]
    for split in splits or [None]:
        piece = LineFile(folder / DATA_FOLDER / f"{split or dataset.name}.jsonl", split)
        with piece.path.open("wb") as out:
            for turns, _, block in read_lines(dataset, Selection(split=split, excluded=False)):
                out.write(block)
                terms.add(block)
                done += turns
                report_progress(done // WRITES_PER_TURN, dataset.turn_count)
        pieces.append(piece)
    written = _convert_pieces(pieces, folder, [], dataset.turn_count, report_progress)
    return written._replace(terms=terms)


def write_release_files(
    release: Release, folder: Path, work: Path, report_progress: ProgressCallback
) -> WrittenData:
    """Write the lines of a release into ``folder``/data, unchanged. ``work`` is for temporary files."""
    stored = _copy_data_file(release, work)
    dataset = release.dataset
    notices = []
    pieces = _divide_by_split(release, stored, folder, report_progress) if release.splits else []
    if release.splits and not pieces:
        notices.append(
            "The splits of this release are unknown by now. Its sessions are in one file, including those of "
            "the test split."
        )
    if not pieces:
        pieces = [LineFile(folder / DATA_FOLDER / f"{dataset.name}.jsonl", None)]
        with _open_unpacked(stored) as lines, pieces[0].path.open("wb") as out:
            shutil.copyfileobj(lines, out, 1 << 20)
    return _convert_pieces(pieces, folder, notices, release.turn_count, report_progress)


def _list_splits(dataset: Dataset) -> list[str]:
    """The splits that have sessions, in order; none if the dataset was not split.

    Raises UserError if only some sessions have one: the others would be missing from every file.
    """
    counted = count_splits(dataset, excluded=False)
    without = counted.pop(None, 0)
    if counted and without:
        raise UserError(
            f"{format_count(without, 'session')} of {dataset.name} without a split would be missing from the "
            "package. Split the dataset once more, then create the package."
        )
    return [split for split in Session.Split.values if counted.get(split)]


# --- a release -----------------------------------------------------------------------------------


def _copy_data_file(release: Release, work: Path) -> Path:
    """A local copy of the release's data file, verified."""
    data = release_files.get_file(release, ReleaseFile.Kind.DATA)
    copy = work / data.name
    with copy.open("wb") as out:
        for block in release_files.read_verified_blocks(data):
            out.write(block)
    return copy


def _open_unpacked(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _divide_by_split(
    release: Release, stored: Path, folder: Path, report_progress: ProgressCallback
) -> list[LineFile]:
    """The lines by the splits that their sessions have now; nothing if those are not those of the release.

    A session keeps its split, unless the dataset was split again or its ids were hashed since: then the
    numbers differ.
    """
    expected = {split: release.splits[split] for split in Session.Split.values if release.splits.get(split)}
    pieces = [LineFile(folder / DATA_FOLDER / f"{split}.jsonl", split) for split in expected]
    with ExitStack() as stack, _open_unpacked(stored) as lines:
        outs = {piece.split: stack.enter_context(piece.path.open("wb")) for piece in pieces}
        sessions = _copy_to_splits(release, lines, outs, report_progress)
    if sessions == expected and sum(expected.values()) == release.session_count:
        return pieces
    for piece in pieces:
        piece.path.unlink()
    return []


def _copy_to_splits(
    release: Release,
    lines: IO[bytes],
    outs: Mapping[str | None, IO[bytes]],
    report_progress: ProgressCallback,
) -> Counter[str]:
    """Sessions copied of each split; stops at the first that has none of these splits."""
    sessions: Counter[str] = Counter()
    done, last = 0, ""
    for batch in _read_batches(lines):
        splits = _load_splits(release.dataset, {session_id for session_id, _ in batch})
        for session_id, line in batch:
            split = splits.get(session_id)
            if split is None or split not in outs:
                return sessions
            sessions[split] += session_id != last
            last = session_id
            outs[split].write(line)
        done += len(batch)
        report_progress(done // WRITES_PER_TURN, release.turn_count)
    return sessions


def _read_batches(lines: IO[bytes]) -> Iterator[list[tuple[str, bytes]]]:
    for some in batched(lines, LINE_BATCH_SIZE):
        try:
            yield [(str(decode_object(line)["session_id"]), line) for line in some]
        except (InvalidRecord, KeyError):
            raise UserError("The data file of this release is damaged; verify the releases.") from None


def _load_splits(dataset: Dataset, ids: set[str]) -> dict[str, str | None]:
    rows = Session.objects.filter(dataset=dataset, session_id__in=ids)
    return dict(rows.values_list("session_id", "split"))


# --- both ----------------------------------------------------------------------------------------


def _convert_pieces(
    pieces: list[LineFile], folder: Path, notices: list[str], turns: int, report_progress: ProgressCallback
) -> WrittenData:
    """Count each file of lines, and write it as Parquet too."""
    counts, files = ConversationCounts(), []
    for piece in pieces:
        sessions_before, turns_before = counts.sessions, counts.turns
        columns = piece.path.with_suffix(".parquet")
        with columns.open("wb") as out:
            digest = DigestWriter(out)
            for *_, block in encode_parquet(_count_turns(piece.path, counts)):
                digest.write(block)
                report_progress((turns + counts.turns) // WRITES_PER_TURN, turns)
        counts.finish()
        facts = (piece.split, counts.sessions - sessions_before, counts.turns - turns_before)
        files.append(_describe_file(folder, piece.path, JSONL, facts))
        files.append(_describe_file(folder, columns, PARQUET, facts))
    return WrittenData(files, counts, notices, NO_TERMS)


def _describe_file(folder: Path, path: Path, format: str, facts: tuple[str | None, int, int]) -> DataFile:
    name = path.relative_to(folder).as_posix()
    return DataFile(name, format, *facts, path.stat().st_size, hash_file(path))


def _count_turns(path: Path, counts: ConversationCounts) -> Iterator[TurnRecord]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            turn = parse_turn(number, line)
            if isinstance(turn, LineError):
                raise UserError(f"{path.name}:{number}: {turn.code} {turn.message}; no package was created.")
            counts.add(turn)
            yield turn
