"""What the next version of a dataset would be: its data, what has changed, what stands in its way."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from datasets_app.catalog import facts as dataset_facts
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.metadata.metadata import DatasetMetadata, parse_metadata
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.changelog import Schema
from datasets_app.domain.releases.comparison import Difference, OnLines, compare
from datasets_app.domain.releases.versions import FIRST, Version
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files, gate
from datasets_app.releasing.compare import latest_release
from datasets_app.releasing.freeze import Frozen, freeze, release_lines
from datasets_app.releasing.gate import Unmet
from datasets_app.releasing.sharing.checklist import SharingItem, sharing_list
from datasets_app.splitting.rows import count_splits

# What is stated of every version anew.
_OF_THE_VERSION = ("version", "sha256", "total_sessions", "total_turns", "extra")
_DATA = "data.jsonl.gz"


class Draft(NamedTuple):
    """``proposed`` is None if nothing has changed since ``last``; ``difference`` if there is no last."""

    frozen: Frozen
    last: Release | None
    difference: Difference | None
    schema: Schema
    proposed: str | None
    entry: str
    metadata: DatasetMetadata
    splits: dict[str, int]
    sharing: list[SharingItem]
    unmet: list[Unmet]

    def version(self, bump: str | None) -> Version:
        """Of the release, by the ``bump`` that is asked for or the one proposed."""
        if self.last is None:
            return FIRST
        return Version(self.last.major, self.last.minor, self.last.patch).bumped(
            bump or self.proposed or "patch"
        )


def draft_release(dataset: Dataset, folder: Path, report_progress: ProgressCallback) -> Draft:
    """Write the data to a file in ``folder``, look through it, and compare it with the last version."""
    last = latest_release(dataset)
    total = 2 * dataset.turn_count + 2 * (last.turn_count + dataset.turn_count if last else 0)

    def on_turns(done: int) -> None:
        report_progress(min(done, total), total)

    frozen = freeze(dataset, folder / _DATA, on_turns)
    metadata = _metadata(dataset, frozen)
    splits = _splits(dataset)
    items = sharing_list(dataset)
    unmet = gate.unmet_lines(dataset, frozen.totals, items)
    contents = frozen.contents
    if last is None:
        entry = changelog.first_entry(contents.sessions, contents.turns)
        return Draft(frozen, None, None, Schema([], []), "major", entry, metadata, splits, items, unmet)
    difference = _compared(last, frozen, lambda lines: on_turns(2 * dataset.turn_count + lines))
    facts = _facts_changed(last, metadata, splits)
    schema = changelog.schema_change(last.fields, contents.fields)
    proposed = changelog.proposed_bump(difference, schema, facts_changed=bool(facts))
    entry = changelog.drafted(difference, schema, facts)
    return Draft(frozen, last, difference, schema, proposed, entry, metadata, splits, items, unmet)


def _compared(last: Release, frozen: Frozen, on_lines: OnLines) -> Difference:
    if last.content_digest == frozen.contents.content_digest:
        return Difference(sessions_same=last.session_count)
    return compare(lambda: release_lines(last), frozen.lines, on_lines)


def _metadata(dataset: Dataset, frozen: Frozen) -> DatasetMetadata:
    return dataset_facts.metadata_of(
        dataset, sessions=frozen.contents.sessions, turns=frozen.contents.turns, sha256=frozen.sha256
    )


def _splits(dataset: Dataset) -> dict[str, int]:
    """Sessions of each split; nothing if it was never split."""
    return {split: count for split, count in sorted(count_splits(dataset).items()) if split and count}


def _facts_changed(last: Release, metadata: DatasetMetadata, splits: dict[str, int]) -> list[str]:
    """Lines on what is stated otherwise than in the last version."""
    with files.open_file(files.file_of(last, ReleaseFile.Kind.METADATA)) as stored:
        before = parse_metadata(stored.read().decode())
    lines = [
        f"Metadata: {name}"
        for name, value in vars(metadata).items()
        if name not in _OF_THE_VERSION and value != getattr(before, name)
    ]
    if splits != last.splits:
        lines.append("Splits: " + (", ".join(f"{name} {n:,}" for name, n in splits.items()) or "none"))
    return lines


def metadata_of_version(metadata: DatasetMetadata, release: Release) -> DatasetMetadata:
    """The metadata with what only this version has."""
    extra = {**metadata.extra, "released": release.created_at.date().isoformat()}
    return replace(metadata, version=release.version, extra=extra)
