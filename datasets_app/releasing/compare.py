"""Two versions of a dataset, or a version and the dataset as it stands now: what differs."""

import gzip
import zlib
from typing import Any, NamedTuple

import msgspec

from datasets_app.catalog import activity
from datasets_app.catalog.require_active import refuse_expired
from datasets_app.catalog.rows.field_names import field_names
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.releases import changelog, versions
from datasets_app.domain.releases.changelog import Schema
from datasets_app.domain.releases.comparison import Difference, compare
from datasets_app.jobs import files
from datasets_app.models import Dataset, JobRun, Release
from datasets_app.releasing.freeze import dataset_lines, release_lines

# What comes of a byte that has changed in the storage, packed or unpacked.
_UNREADABLE = (ValueError, EOFError, zlib.error, gzip.BadGzipFile)


class Compared(NamedTuple):
    """``after`` is None for the dataset as it stands; ``bump`` is None if nothing has changed."""

    before: Release
    after: Release | None
    difference: Difference
    schema: Schema
    bump: str | None

    @property
    def names(self) -> tuple[str, str]:
        return self.before.version, self.after.version if self.after else "now"


def compare_releases(
    dataset: Dataset,
    before: Release,
    after: Release | None = None,
    *,
    report_progress: ProgressCallback = ignore,
) -> Compared:
    """Read both, twice at most; memory grows by a digest for each session."""
    for release in (before, after):
        if release is not None and release.destroyed_at is not None:
            raise Refused(f"{release} was destroyed; there is nothing left to compare.")
    if after is None:
        refuse_expired(dataset)
        activity.refuse_while_scrubbed(dataset)
    turns = before.turn_count + (after.turn_count if after else dataset.turn_count)
    try:
        difference = compare(
            lambda: release_lines(before),
            lambda: release_lines(after) if after else dataset_lines(dataset),
            lambda lines: report_progress(min(lines, 2 * turns), 2 * turns),
        )
    except _UNREADABLE:
        raise Refused(
            "A stored version can't be read; verify_releases tells what is wrong with it."
        ) from None
    schema = changelog.schema_change(before.fields, after.fields if after else field_names(dataset))
    return Compared(before, after, difference, schema, changelog.proposed_bump(difference, schema))


def compare_for_job(job_run: JobRun, *, report_progress: ProgressCallback = ignore) -> dict[str, Any]:
    """The comparison that a page asked for: numbers, and a file of what has changed, without texts."""
    given, dataset = job_run.parameters, job_run.dataset
    if dataset is None:
        raise Refused("The dataset is gone; there is nothing to compare.")
    before = release_of(dataset, str(given["before"]))
    after = release_of(dataset, str(given["after"])) if given.get("after") else None
    compared = compare_releases(dataset, before, after, report_progress=report_progress)
    with files.folder(job_run) as folder:
        path = folder / f"{dataset.name}_{'_'.join(compared.names)}.comparison.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(as_object(compared, values=False))) + b"\n")
        files.keep(job_run, "export", [path])
    counts = {name: count for name, count in compared.difference.counts().items() if name != "fields"}
    return {"proposed": compared.bump or "no new version", **counts}


def release_of(dataset: Dataset, version: str) -> Release:
    """The release of that version; refuses with those that there are."""
    try:
        wanted = versions.parse(version)
    except ValueError as error:
        raise Refused(f"{version[:40]!r} is no version: {error}.") from None
    found: Release | None = dataset.releases.filter(
        major=wanted.major, minor=wanted.minor, patch=wanted.patch
    ).first()
    if found is not None:
        return found
    there = ", ".join(release.version for release in dataset.releases.all()[:10])
    raise Refused(f"{dataset.name} has no version {wanted}. {f'It has {there}.' if there else _NONE}")


_NONE = "Nothing of it was released yet."


def latest_release(dataset: Dataset) -> Release | None:
    """The highest version whose files are there."""
    return dataset.releases.filter(destroyed_at=None).first()


def as_object(compared: Compared, *, values: bool) -> dict[str, Any]:
    """For JSON: counts, and what is listed; ``values`` of fields, which may be texts, only if asked for."""
    difference = compared.difference
    return {
        "before": compared.names[0],
        "after": compared.names[1],
        **difference.counts(),
        "fields_appeared": compared.schema.appeared,
        "fields_vanished": compared.schema.vanished,
        "proposed": compared.bump,
        "added": difference.added,
        "removed": difference.removed,
        "changed": [
            {
                "session_id": change.session_id,
                "turns": [
                    {
                        "turn_index": turn.turn_index,
                        "kind": turn.kind,
                        "fields": [
                            {"name": item.name, "before": item.before, "after": item.after}
                            if values
                            else {"name": item.name}
                            for item in turn.fields
                        ],
                    }
                    for turn in change.turns
                ],
            }
            for change in difference.changes
        ],
    }
