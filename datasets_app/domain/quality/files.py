"""A whole file of either kind → its findings. No database, no settings."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from datasets_app.domain.annotation_lines import parse_label
from datasets_app.domain.conversations.jsonl import find_first_object
from datasets_app.domain.conversations.lines import (
    DEFAULT_LIMITS,
    Limits,
    OnBytes,
    UnreadableFile,
    read_lines,
)
from datasets_app.domain.conversations.reading import FORMATS
from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError
from datasets_app.domain.metadata.metadata import MetadataError, metadata_path, read_metadata
from datasets_app.domain.packages.quality_statement import METADATA_KEY, QualityStatement, read_statement
from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.quality.checks import LABEL_CHECKS, TURN_CHECKS
from datasets_app.domain.quality.kept_terms import KeptTerms, read_kept_terms
from datasets_app.domain.quality.personal_data import SearchBatches
from datasets_app.domain.quality.runner import run_checks, run_metadata_checks
from datasets_app.domain.quality.w203_line_order import LineOrder
from datasets_app.domain.quality.w406_names import make_names_check
from datasets_app.domain.traces.converted_file import ConvertedFile, detect_any_format, open_conversation_file
from datasets_app.domain.traces.report import Report

CONVERSATION, ANNOTATION = "conversation", "annotation"
FILE_KINDS = (CONVERSATION, ANNOTATION)


class FileChecker:
    """A file to check. ``kind`` is one of :data:`FILE_KINDS`, or None to guess.

    Afterwards ``kind`` is that of the file, or None if it can't be read; ``findings()`` then says why.
    ``with_metadata`` also checks the ``.meta.yaml`` next to the file. With ``name_models`` names of people
    are searched for too, which takes many times as long; ``persona_terms`` aren't people, and ``kept`` is
    what the ``.meta.yaml`` states besides. ``search_batches`` is that of :func:`run_checks`.
    """

    def __init__(
        self,
        path: Path,
        kind: str | None = None,
        *,
        with_metadata: bool = True,
        name_models: Sequence[str] = (),
        persona_terms: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        search_batches: SearchBatches | None = None,
    ) -> None:
        self.path, self.limits, self.with_metadata = path, limits, with_metadata
        self._search_batches = search_batches
        kept = find_kept_terms(path, persona_terms) if with_metadata else read_kept_terms(None, persona_terms)
        self.kept = kept
        self._exempt = AllowList(self.kept.values)
        self._name_checks = (make_names_check(name_models, self.kept),) if name_models else ()
        # What became of a file that had to be converted; known after its findings.
        self.conversion: Report | None = None
        self._unreadable: UnreadableFile | None = None
        self.kind: str | None = kind
        if kind is None:
            try:
                self.kind = guess_kind(path, limits)
            except UnreadableFile as error:
                self._unreadable = error

    def findings(self, on_bytes: OnBytes | None = None) -> Iterator[Finding]:
        """Yield findings as the file is read. ``on_bytes`` receives the number of bytes read."""
        try:
            if self._unreadable is not None:
                raise self._unreadable
            if self.with_metadata:
                yield from check_metadata_file(self.path)
            if self.kind == ANNOTATION:
                checks = (*LABEL_CHECKS, *self._name_checks)
                yield from run_checks(self._read_labels(), checks, self._exempt)
            else:
                yield from self._check_conversations(on_bytes)
        except UnreadableFile as error:
            yield Finding(error.code, str(error))

    def _check_conversations(self, on_bytes: OnBytes | None) -> Iterator[Finding]:
        file = open_conversation_file(self.path, limits=self.limits)
        yield from LineOrder().check_file(file.scan(on_bytes).first_out_of_order)
        if isinstance(file, ConvertedFile):
            self.conversion = file.report
            if not (file.report.conversations or file.report.problem_total):
                raise UnreadableFile("No conversations found. Is this the right file?")
        yield from run_checks(
            file.turns(on_bytes),
            (*TURN_CHECKS, *self._name_checks),
            self._exempt,
            search_batches=self._search_batches,
        )

    def _read_labels(self) -> Iterator[LabelRecord | LineError]:
        empty = True
        for item in read_lines(self.path, self.limits):
            empty = False
            yield item if isinstance(item, LineError) else parse_label(*item)
        if empty:
            raise UnreadableFile("is empty; expected one JSON object per line")


def guess_kind(path: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    """By the first line that is an object: one with a label, or a criterion, and no role is an annotation.
    What has no lines, as an archive or a workbook, holds conversations if it can be read at all."""
    try:
        value = find_first_object(read_lines(path, limits)) or {}
    except UnreadableFile:
        if detect_any_format(path, limits) in FORMATS:
            raise
        return CONVERSATION
    is_labeled = "label" in value or "criterion" in value
    return ANNOTATION if is_labeled and "role" not in value else CONVERSATION


def find_kept_terms(data_path: Path, persona_terms: Iterable[str] = ()) -> KeptTerms:
    """What the ``.meta.yaml`` of a file states, or for labels without one that of their package."""
    path = metadata_path(data_path)
    if not path.exists():
        of_package = list(data_path.absolute().parent.parent.glob("*.meta.yaml"))
        path = of_package[0] if len(of_package) == 1 else path
    try:
        return read_kept_terms(read_metadata(path), persona_terms)
    except MetadataError:
        return read_kept_terms(None, persona_terms)


def find_stated_quality(data_path: Path) -> QualityStatement:
    """What the ``.meta.yaml`` of a file states of judges and rates; nothing if that can't be read, which is
    a finding."""
    try:
        metadata = read_metadata(metadata_path(data_path))
        return read_statement(metadata.extra[METADATA_KEY] if metadata else None)
    except (MetadataError, KeyError, ValueError):
        return QualityStatement()


def check_metadata_file(data_path: Path) -> Iterator[Finding]:
    """Findings about the ``.meta.yaml`` of a data file."""
    path = metadata_path(data_path)
    try:
        metadata = read_metadata(path)
    except MetadataError as error:
        yield from run_metadata_checks(None, f"{path.name} can't be used: {error}")
        return
    yield from run_metadata_checks(metadata, "" if metadata else f"there is no {path.name}")
