"""Replaces a release by a patch version without some of its sessions, and destroys the old one."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max

from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.files import DigestWriter, gzip_writer
from datasets_app.core import audit
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.metadata.metadata import DatasetMetadata, parse_metadata
from datasets_app.domain.quality.kept_terms import TermSearch, read_kept_terms
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.manifest import ContentCounter, ContentSummary
from datasets_app.domain.releases.versions import Version
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import documents, files
from datasets_app.releasing.draft import add_version_metadata
from datasets_app.releasing.freeze import read_release_lines, study_lines
from datasets_app.releasing.versions import announce_version

IsErased = Callable[[str], bool]
REMOVED_ENTRY = "### Removed\n\n- {count} (erasure)"


class RemainingData(NamedTuple):
    """What remains of a data file, and its ``metadata``. ``erased`` are the erased ids, which must not leave
    this module."""

    path: Path
    contents: ContentSummary
    sha256: str
    erased: set[str]
    metadata: DatasetMetadata


def reissue_release(
    release: Release,
    is_erased: IsErased,
    *,
    actor: Any,
    reason: str,
    report_progress: ProgressCallback = ignore_progress,
) -> Release | None:
    """The release that replaces ``release``, or None if it contains nothing to erase.

    Sessions whose id ``is_erased`` are removed, and their ids in the changelog, which may name a session that
    the data no longer has. The new version, the end of the old one and the texts of all other versions are
    committed together.
    """
    if release.destroyed_at is not None:
        return None
    with files.work_folder() as folder:
        kept = _write_remaining(release, is_erased, folder, report_progress)
        if not kept.erased and not _is_in_changelog(release, is_erased):
            return None
        with transaction.atomic():
            dataset = lock_dataset(release.dataset_id)
            release = Release.objects.select_for_update(no_key=True).get(pk=release.pk)
            if release.destroyed_at is not None:
                return None
            _redact_texts(dataset, is_erased, kept.erased)
            release.refresh_from_db()
            new = _create_replacement(release, kept, actor)
            files.destroy_files(release, reason=reason, keep_texts=True)
            _record_reissue(release, new, kept, actor, reason)
        return new


def _write_remaining(
    release: Release, is_erased: IsErased, folder: Path, report_progress: ProgressCallback
) -> RemainingData:
    """The data file without those sessions; all other lines stay byte for byte."""
    path, study, erased = folder / "data.jsonl.gz", ContentCounter(), set[str]()
    total = release.turn_count
    metadata = parse_metadata(files.read_text(release, ReleaseFile.Kind.METADATA))
    # A term that only an erased session has must not stay in the metadata.
    terms = TermSearch(read_kept_terms(metadata))

    def lines() -> Iterator[bytes]:
        asked: str | None = None
        goes = False
        for line in read_release_lines(release):
            session_id = json.loads(line)["session_id"]
            if session_id != asked:
                asked, goes = session_id, is_erased(session_id)
            if goes:
                erased.add(session_id)
            else:
                yield line

    with path.open("wb") as out:
        digest = DigestWriter(out)
        with gzip_writer(digest, gzipped=True) as target:
            for line in study_lines(lines(), study, lambda count: report_progress(count, total)):
                target.write(line)
                terms.add(line)
    return RemainingData(path, study.summarize(), digest.hex, erased, terms.state(metadata))


def _is_in_changelog(release: Release, is_erased: IsErased) -> bool:
    """Whether its stored CHANGELOG.md, which covers all versions up to it, names an erased session: rows are
    redacted for all versions at once, files one after the other."""
    text = files.read_text(release, ReleaseFile.Kind.CHANGELOG)
    return changelog.redact_erased(text, is_erased) != text


def _redact_texts(dataset: Dataset, is_erased: IsErased, erased: set[str]) -> None:
    for row in dataset.releases.all():
        notes = changelog.redact_erased(row.notes, is_erased, erased)
        entry = changelog.redact_erased(row.changelog, is_erased, erased)
        if (notes, entry) != (row.notes, row.changelog):
            Release.objects.filter(pk=row.pk).update(notes=notes, changelog=entry)


def _create_replacement(release: Release, kept: RemainingData, actor: Any) -> Release:
    version = _next_patch(release)
    metadata = _build_metadata(kept)
    new = Release.objects.create(
        dataset=release.dataset,
        **version._asdict(),
        session_count=kept.contents.sessions,
        turn_count=kept.contents.turns,
        splits=_remaining_splits(release, kept),
        fields=kept.contents.fields,
        sha256=kept.sha256,
        content_digest=kept.contents.content_digest,
        notes=f"Replaces {release.version}.",
        changelog=_changelog_entry(kept),
        checks=release.checks,
        sharing=release.sharing,
        override_reason=release.override_reason,
        raw=release.raw,
        created_by=actor,
        created_by_name=audit.actor_name(actor),
        replaces=release,
    )
    data = kept.path.rename(kept.path.with_name(documents.data_file_name(release.dataset, version)))
    documents.store_release_files(new, data, kept.contents, add_version_metadata(metadata, new), release)
    return new


def _next_patch(release: Release) -> Version:
    """The first free patch version of the same major and minor."""
    family = release.dataset.releases.filter(major=release.major, minor=release.minor)
    return Version(release.major, release.minor, family.aggregate(last=Max("patch"))["last"] + 1)


def _changelog_entry(kept: RemainingData) -> str:
    if not kept.erased:
        return "### Changed\n\n- The changelog no longer names erased sessions."
    return REMOVED_ENTRY.format(count=format_count(len(kept.erased), "session"))


def _build_metadata(kept: RemainingData) -> DatasetMetadata:
    metadata = kept.metadata
    done = [*metadata.modifications]
    if kept.erased and "sessions erased on request" not in done:
        done.append("sessions erased on request")
    return replace(
        metadata,
        modifications=done,
        sha256=kept.sha256,
        total_sessions=kept.contents.sessions,
        total_turns=kept.contents.turns,
    )


def _remaining_splits(release: Release, kept: RemainingData) -> dict[str, int]:
    """The split of an erased session is known only while the session is in the dataset."""
    if not release.splits or not kept.erased:
        return dict(release.splits)
    rows = release.dataset.sessions.filter(session_id__in=kept.erased).values_list("split", flat=True)
    left = dict(release.splits)
    for split in rows:
        if split in left:
            left[split] -= 1
    if sum(left.values()) > kept.contents.sessions:
        return {}
    return left


def _record_reissue(old: Release, new: Release, kept: RemainingData, actor: Any, reason: str) -> None:
    audit.record(
        "reissue",
        actor=actor,
        dataset_name=old.dataset.name,
        release=new.version,
        replaces=old.version,
        sessions_erased=len(kept.erased),
        sha256=new.sha256,
        destroyed_sha256=old.sha256,
        reason=reason,
    )
    announce_version(new, actor=actor)
