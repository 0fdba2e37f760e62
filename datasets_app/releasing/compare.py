"""Compares two versions of a dataset, or a version and the current dataset."""

import gzip
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from datasets_app.catalog import gates
from datasets_app.catalog.rows.field_names import read_field_names
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.changelog import SchemaChange
from datasets_app.domain.releases.comparison import Difference, compare_files
from datasets_app.models import Dataset, Release
from datasets_app.releasing.freeze import read_dataset_lines, read_release_lines
from datasets_app.releasing.versions import check_is_stored

# Raised for a byte that has changed in the storage, compressed or not.
READ_ERRORS = (ValueError, EOFError, zlib.error, gzip.BadGzipFile)
UNREADABLE = "A stored version can't be read, because a file has changed; verify the releases to see which."


class ReleaseComparison(NamedTuple):
    """``after`` is None for the current dataset; ``bump`` is None if nothing has changed."""

    before: Release
    after: Release | None
    difference: Difference
    schema: SchemaChange
    bump: str | None

    @property
    def names(self) -> tuple[str, str]:
        return self.before.version, self.after.version if self.after else "now"


def compare_releases(
    dataset: Dataset,
    before: Release,
    after: Release | None = None,
    *,
    report_progress: ProgressCallback = ignore_progress,
) -> ReleaseComparison:
    """Read both, at most twice; memory grows by a digest for each session."""
    for release in (before, after):
        if release is not None:
            check_is_stored(release)
    if after is None:
        gates.check_can_copy(dataset)
    turns = before.turn_count + (after.turn_count if after else dataset.turn_count)
    try:
        difference = compare_files(
            lambda: read_release_lines(before),
            lambda: read_release_lines(after) if after else read_dataset_lines(dataset),
            lambda lines: report_progress(min(lines, 2 * turns), 2 * turns),
        )
    except READ_ERRORS:
        raise UserError(UNREADABLE) from None
    schema = changelog.compare_schemas(before.fields, after.fields if after else read_field_names(dataset))
    return ReleaseComparison(before, after, difference, schema, changelog.propose_bump(difference, schema))


def write_comparison(compared: ReleaseComparison, dataset: Dataset, folder: Path) -> Path:
    """Write what has changed, without texts, into a file in ``folder``."""
    path = folder / f"{dataset.name}_{'_'.join(compared.names)}.comparison.json"
    listed = msgspec.json.encode(comparison_to_json(compared, include_values=False))
    path.write_bytes(msgspec.json.format(listed) + b"\n")
    return path


def comparison_to_json(compared: ReleaseComparison, *, include_values: bool) -> dict[str, Any]:
    """For JSON: counts and lists; with ``include_values`` also values of fields, which may be texts."""
    difference = compared.difference
    return {
        "before": compared.names[0],
        "after": compared.names[1],
        **difference.counts_as_json(),
        "fields_appeared": compared.schema.added_fields,
        "fields_vanished": compared.schema.removed_fields,
        "proposed": compared.bump,
        "added": difference.added,
        "removed": difference.removed,
        "changed": [
            {
                "session_id": change.session_id,
                "turns": [
                    {
                        **turn._asdict(),
                        "fields": [
                            item._asdict() if include_values else {"name": item.name} for item in turn.fields
                        ],
                    }
                    for turn in change.turns
                ],
            }
            for change in difference.changes
        ],
    }
