"""What the next version of a dataset would be: its data, and what has changed."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from datasets_app import hooks
from datasets_app.catalog import facts as dataset_facts
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.metadata.metadata import DatasetMetadata, parse_metadata
from datasets_app.domain.packages.quality_statement import METADATA_KEY, QualityStatement
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.changelog import SchemaChange
from datasets_app.domain.releases.comparison import Difference, OnLines, compare_files
from datasets_app.domain.releases.versions import FIRST_VERSION, Version
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files
from datasets_app.releasing.freeze import FrozenData, freeze_dataset, read_release_lines
from datasets_app.releasing.versions import latest_release
from datasets_app.splitting.rows import count_splits

# Fields that differ in every version.
_VERSION_FIELDS = ("version", "sha256", "total_sessions", "total_turns", "extra")
_DATA_FILE = "data.jsonl.gz"


class ReleaseDraft(NamedTuple):
    """``proposed`` is None if nothing has changed since ``last``; ``difference`` is None without a last."""

    frozen: FrozenData
    last: Release | None
    difference: Difference | None
    schema: SchemaChange
    proposed: str | None
    entry: str
    metadata: DatasetMetadata
    splits: dict[str, int]  # sessions of each split; empty if it was never split

    def version(self, bump: str | None) -> Version:
        """The next version, by ``bump`` or else by the proposed one."""
        if self.last is None:
            return FIRST_VERSION
        return Version(self.last.major, self.last.minor, self.last.patch).bump(
            bump or self.proposed or "patch"
        )


def draft_release(dataset: Dataset, folder: Path, report_progress: ProgressCallback) -> ReleaseDraft:
    """Write the data to a file in ``folder``, check it, and compare it with the last version."""
    last = latest_release(dataset)
    total = 2 * dataset.turn_count + 2 * (last.turn_count + dataset.turn_count if last else 0)

    def on_turns(done: int) -> None:
        report_progress(min(done, total), total)

    frozen = freeze_dataset(dataset, folder / _DATA_FILE, on_turns)
    metadata = _build_metadata(dataset, frozen)
    counts = count_splits(dataset, excluded=False)
    splits = {split: counts[split] for split in sorted(filter(None, counts)) if counts[split]}
    contents = frozen.contents
    if last is None:
        entry = changelog.draft_first_entry(contents.sessions, contents.turns)
        return ReleaseDraft(frozen, None, None, SchemaChange([], []), "major", entry, metadata, splits)
    difference = _compare_with_last(last, frozen, lambda lines: on_turns(2 * dataset.turn_count + lines))
    facts = _describe_changed_facts(last, metadata, splits)
    schema = changelog.compare_schemas(last.fields, contents.fields)
    proposed = changelog.propose_bump(difference, schema, metadata_changed=bool(facts))
    entry = changelog.draft_entry(difference, schema, facts)
    return ReleaseDraft(frozen, last, difference, schema, proposed, entry, metadata, splits)


def _compare_with_last(last: Release, frozen: FrozenData, on_lines: OnLines) -> Difference:
    if last.content_digest == frozen.contents.content_digest:
        return Difference(sessions_same=last.session_count)
    return compare_files(lambda: read_release_lines(last), frozen.lines, on_lines)


def _build_metadata(dataset: Dataset, frozen: FrozenData) -> DatasetMetadata:
    contents = frozen.contents
    metadata = frozen.terms.state(
        dataset_facts.build_metadata(
            dataset, sessions=contents.sessions, turns=contents.turns, sha256=frozen.sha256
        )
    )
    return add_quality(metadata, hooks.labels.build_quality_statement(dataset))


def add_quality(metadata: DatasetMetadata, statement: QualityStatement) -> DatasetMetadata:
    """With what is known of judges and rates, as of now."""
    others = {key: value for key, value in metadata.extra.items() if key != METADATA_KEY}
    stated = {METADATA_KEY: statement.as_json()} if statement else {}
    return replace(metadata, extra=others | stated)


def _describe_changed_facts(last: Release, metadata: DatasetMetadata, splits: dict[str, int]) -> list[str]:
    """Lines for the changelog about facts that differ from the last version."""
    before = parse_metadata(files.read_text(last, ReleaseFile.Kind.METADATA))
    lines = [
        f"Metadata: {name}"
        for name, value in vars(metadata).items()
        if name not in _VERSION_FIELDS and value != getattr(before, name)
    ]
    if splits != last.splits:
        lines.append("Splits: " + (", ".join(f"{name} {n:,}" for name, n in splits.items()) or "none"))
    return lines


def add_version_metadata(metadata: DatasetMetadata, release: Release) -> DatasetMetadata:
    """The metadata with the fields that only this version has."""
    extra = {**metadata.extra, "released": release.created_at.date().isoformat()}
    return replace(metadata, version=release.version, extra=extra)
