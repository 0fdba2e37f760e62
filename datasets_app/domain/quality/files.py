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
from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError
from datasets_app.domain.metadata.metadata import MetadataError, metadata_path, read_metadata
from datasets_app.domain.quality.checks import LABEL_CHECKS, TURN_CHECKS
from datasets_app.domain.quality.personal_data import SearchBatches
from datasets_app.domain.quality.runner import run_checks, run_label_checks, run_metadata_checks
from datasets_app.domain.quality.w203_line_order import LineOrder
from datasets_app.domain.quality.w406_names import make_names_check
from datasets_app.domain.traces.converted_file import open_conversation_file

CONVERSATION, ANNOTATION = "conversation", "annotation"
FILE_KINDS = (CONVERSATION, ANNOTATION)


class FileChecker:
    """A file to check. ``kind`` is one of :data:`FILE_KINDS`, or None to guess.

    Afterwards ``kind`` is that of the file, or None if it can't be read; ``findings()`` then says why.
    ``with_metadata`` also checks the ``.meta.yaml`` next to the file. With ``name_models`` names of people
    are searched for too, which takes many times as long; ``persona_terms``, and those that the ``.meta.yaml``
    of generated conversations has, are no people. ``search_batches`` is that of :func:`run_checks`.
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
        if with_metadata:
            persona_terms = (*persona_terms, *read_persona_terms(path))
        self._name_checks = (
            (make_names_check(name_models, persona_terms=persona_terms),) if name_models else ()
        )
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
                yield from run_label_checks(self._read_labels(), (*LABEL_CHECKS, *self._name_checks))
            else:
                yield from self._check_conversations(on_bytes)
        except UnreadableFile as error:
            yield Finding(error.code, str(error))

    def _check_conversations(self, on_bytes: OnBytes | None) -> Iterator[Finding]:
        file = open_conversation_file(self.path, limits=self.limits)
        yield from LineOrder().check_file(file.scan(on_bytes).first_out_of_order)
        yield from run_checks(
            file.turns(on_bytes),
            (*TURN_CHECKS, *self._name_checks),
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
    """By the first line that is an object: one with a label and no role is an annotation."""
    value = find_first_object(read_lines(path, limits)) or {}
    return ANNOTATION if "label" in value and "role" not in value else CONVERSATION


def read_persona_terms(data_path: Path) -> list[str]:
    """The terms of the persona that a file was generated for, as its ``.meta.yaml`` lists them."""
    try:
        metadata = read_metadata(metadata_path(data_path))
    except MetadataError:
        return []
    persona = metadata.extra.get("persona") if metadata else None
    terms = persona.get("terms") if isinstance(persona, dict) else None
    return [term for term in terms if isinstance(term, str)] if isinstance(terms, list) else []


def check_metadata_file(data_path: Path) -> Iterator[Finding]:
    """Findings about the ``.meta.yaml`` of a data file."""
    path = metadata_path(data_path)
    try:
        metadata = read_metadata(path)
    except MetadataError as error:
        yield from run_metadata_checks(None, f"{path.name} can't be used: {error}")
        return
    yield from run_metadata_checks(metadata, "" if metadata else f"there is no {path.name}")
