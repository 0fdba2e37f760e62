"""Writes the data file of a release, and reads it again to check and count it."""

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from datasets_app.catalog.files import DigestWriter, gzip_writer
from datasets_app.catalog.rows.turn_reader import NOT_EXCLUDED, read_lines
from datasets_app.catalog.text_scans import load_kept_terms
from datasets_app.checking.check_dataset import dataset_metadata
from datasets_app.domain.conversations.jsonl import parse_turn
from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.quality.checks import TURN_CHECKS
from datasets_app.domain.quality.kept_terms import TermSearch
from datasets_app.domain.quality.output import Totals
from datasets_app.domain.quality.runner import run_checks, run_metadata_checks
from datasets_app.domain.releases.manifest import ContentCounter, ContentSummary
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files

PROGRESS_INTERVAL_LINES = 2000
BUFFER_BYTES = 1 << 18

# Gets the number of turns done; may raise to stop.
TurnCallback = Callable[[int], None]


class FrozenData(NamedTuple):
    """``sha256`` is of the file; ``totals`` are what the checks found in these lines, ``terms`` what was
    kept."""

    path: Path
    size: int
    sha256: str
    contents: ContentSummary
    totals: Totals
    terms: TermSearch

    def lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as packed:
            yield from read_gzip_lines(packed)


def freeze_dataset(dataset: Dataset, path: Path, on_turns: TurnCallback) -> FrozenData:
    """Write every turn to ``path``, gzipped, without excluded sessions; then check and summarize what was
    written."""
    done, kept_terms = 0, load_kept_terms(dataset)
    terms = TermSearch(kept_terms)
    with path.open("wb") as out:
        digest = DigestWriter(out)
        with gzip_writer(digest, gzipped=True) as target:
            for turns, _, block in read_lines(dataset, NOT_EXCLUDED):
                target.write(block)
                terms.add(block)
                done += turns
                on_turns(done)
    study, totals = ContentCounter(), Totals()
    for finding in run_metadata_checks(dataset_metadata(dataset)):
        totals[finding.code] += 1
    exempt = AllowList(kept_terms.values)
    for finding in _check_file(path, study, exempt, lambda count: on_turns(done + count)):
        totals[finding.code] += 1
    return FrozenData(path, digest.size, digest.hex, study.summarize(), totals, terms)


def _check_file(
    path: Path, study: ContentCounter, exempt: AllowList, on_turns: TurnCallback
) -> Iterator[Finding]:
    def turns() -> Iterator[TurnRecord | LineError]:
        with path.open("rb") as packed:
            for number, line in enumerate(study_lines(read_gzip_lines(packed), study, on_turns), 1):
                yield parse_turn(number, line)

    yield from run_checks(turns(), TURN_CHECKS, exempt)


def study_lines(lines: Iterable[bytes], study: ContentCounter, on_turns: TurnCallback) -> Iterator[bytes]:
    """The same lines; ``study`` looks at each of them."""
    for count, line in enumerate(lines, 1):
        # Python's own parser, as in Alignmenter: it keeps integers of any size.
        record: dict[str, Any] = json.loads(line)
        study.add_record(record)
        if count % PROGRESS_INTERVAL_LINES == 0:
            on_turns(count)
        yield line


def read_gzip_lines(packed: Any) -> Iterator[bytes]:
    """The lines of a gzipped stream; the extra buffer is several times as fast."""
    with gzip.GzipFile(fileobj=packed) as unpacked, io.BufferedReader(unpacked, BUFFER_BYTES) as lines:
        yield from lines


def read_release_lines(release: Release) -> Iterator[bytes]:
    """The lines of a release's data file, from its storage. Raises UserError, at the latest behind the last
    of them, if the file has changed."""
    data = files.get_file(release, ReleaseFile.Kind.DATA)
    with files.open_file(data) as stored:
        reader = files.VerifiedReader(data, stored)
        try:
            yield from read_gzip_lines(reader)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            reader.verify()
            raise
        reader.verify()


def read_dataset_lines(dataset: Dataset) -> Iterator[bytes]:
    """The lines that a release of the dataset would have now."""
    for _, _, block in read_lines(dataset, NOT_EXCLUDED):
        yield from block.splitlines(keepends=True)
