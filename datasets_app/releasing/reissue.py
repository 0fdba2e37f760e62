"""A release without some of its sessions: the next patch version takes its place, and it is destroyed."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from datasets_app.catalog.files import Digest, packer
from datasets_app.core import audit
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.metadata.metadata import DatasetMetadata, parse_metadata
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.manifest import Contents, Study
from datasets_app.domain.releases.versions import Version
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import documents, files
from datasets_app.releasing.draft import metadata_of_version
from datasets_app.releasing.freeze import looked_at, release_lines

IsErased = Callable[[str], bool]
ENTRY = "### Removed\n\n- {count} (erasure)"


class Kept(NamedTuple):
    """What is left of a data file. ``erased`` are the ids that are gone: for use here, and nowhere else."""

    path: Path
    contents: Contents
    sha256: str
    size: int
    erased: set[str]


def reissue_without(
    release: Release,
    is_erased: IsErased,
    *,
    actor: Any,
    reason: str,
    report_progress: ProgressCallback = ignore,
) -> Release | None:
    """The release that replaces ``release``, or None if nothing of it has to go.

    What has to go are the sessions of whose id ``is_erased`` is true, and their names in the changelog,
    which may name one that the data no longer has. The new version, the end of the old one and the texts
    of all other versions are committed together; a process that dies leaves all as it was, or all done.
    """
    if release.destroyed_at is not None:
        return None
    with tempfile.TemporaryDirectory(prefix=files.WORK, dir=_place()) as folder:
        kept = _without(release, is_erased, Path(folder), report_progress)
        if not kept.erased and not _is_mentioned(release, is_erased):
            return None
        with transaction.atomic():
            dataset = Dataset.objects.select_for_update(no_key=True).get(pk=release.dataset_id)
            release = Release.objects.select_for_update(no_key=True).get(pk=release.pk)
            if release.destroyed_at is not None:
                return None
            _clean_texts(dataset, is_erased, kept.erased)
            release.refresh_from_db()
            new = _replacement(release, kept, actor)
            files.destroy(release, reason=reason, keeps_texts=True)
            _record(release, new, kept, actor, reason)
        return new


def _place() -> Path:
    place = Path(settings.VAR_DIR, "tmp")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _without(release: Release, is_erased: IsErased, folder: Path, report_progress: ProgressCallback) -> Kept:
    """The data file without those sessions, byte for byte the lines that it had."""
    path, study, erased = folder / "data.jsonl.gz", Study(), set[str]()
    total = release.turn_count

    def lines() -> Iterator[bytes]:
        asked: str | None = None
        goes = False
        for line in release_lines(release):
            session_id = json.loads(line)["session_id"]
            if session_id != asked:
                asked, goes = session_id, is_erased(session_id)
            if goes:
                erased.add(session_id)
            else:
                yield line

    with path.open("wb") as out:
        digest = Digest(out)
        with packer(digest, packed=True) as target:
            for line in looked_at(lines(), study, lambda count: report_progress(count, total)):
                target.write(line)
    return Kept(path, study.contents(), digest.hex, digest.size, erased)


def _is_mentioned(release: Release, is_erased: IsErased) -> bool:
    """Whether its stored CHANGELOG.md, which tells of all versions up to it, names such a session: rows are
    cleaned for all versions at once, files one after the other."""
    with files.open_file(files.file_of(release, ReleaseFile.Kind.CHANGELOG)) as stored:
        return changelog.mentions(stored.read().decode(), is_erased)


def _clean_texts(dataset: Dataset, is_erased: IsErased, erased: set[str]) -> None:
    for row in dataset.releases.all():
        notes = changelog.without(row.notes, is_erased, erased)
        entry = changelog.without(row.changelog, is_erased, erased)
        if (notes, entry) != (row.notes, row.changelog):
            Release.objects.filter(pk=row.pk).update(notes=notes, changelog=entry)


def _replacement(release: Release, kept: Kept, actor: Any) -> Release:
    version = _next_patch(release)
    metadata = _metadata(release, kept)
    new = Release.objects.create(
        dataset=release.dataset,
        **version._asdict(),
        session_count=kept.contents.sessions,
        turn_count=kept.contents.turns,
        splits=_splits(release, kept),
        fields=kept.contents.fields,
        sha256=kept.sha256,
        content_digest=kept.contents.content_digest,
        notes=f"Replaces {release.version}.",
        changelog=_entry(kept),
        checks=release.checks,
        sharing=release.sharing,
        override_reason=release.override_reason,
        created_by=actor,
        created_by_name=audit.actor_name(actor),
        replaces=release,
    )
    data = kept.path.rename(kept.path.with_name(documents.data_name(release.dataset, version)))
    documents.write_and_store(new, data, kept.contents, metadata_of_version(metadata, new), release)
    return new


def _next_patch(release: Release) -> Version:
    """The first that is free after all of the same major and minor."""
    family = release.dataset.releases.filter(major=release.major, minor=release.minor)
    return Version(release.major, release.minor, family.aggregate(last=Max("patch"))["last"] + 1)


def _entry(kept: Kept) -> str:
    if not kept.erased:
        return "### Changed\n\n- The changelog no longer names what was erased."
    return ENTRY.format(count="1 session" if len(kept.erased) == 1 else f"{len(kept.erased):,} sessions")


def _metadata(release: Release, kept: Kept) -> DatasetMetadata:
    with files.open_file(files.file_of(release, ReleaseFile.Kind.METADATA)) as stored:
        metadata = parse_metadata(stored.read().decode())
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


def _splits(release: Release, kept: Kept) -> dict[str, int]:
    """Which split an erased session was in is known only while it stands in the dataset."""
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


def _record(old: Release, new: Release, kept: Kept, actor: Any, reason: str) -> None:
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
