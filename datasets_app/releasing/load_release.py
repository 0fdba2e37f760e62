"""Loads a release as a dataset, where rows are needed: to compare the replies of two versions."""

import shutil
from typing import Any

from django.db import transaction

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.access.limit_access import copy_restriction
from datasets_app.catalog import policies, raw_access
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.domain.wording import format_count
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.models import Dataset, Release, ReleaseFile, Session, SourceFile
from datasets_app.models.dataset_queryset import get_token_datasets
from datasets_app.releasing import files
from datasets_app.releasing.versions import check_is_stored
from datasets_app.splitting.rows import write_splits

# So many are loaded while a person waits for a page; the command line has no limit.
MAX_TURNS_AT_ONCE = 20_000
# Of a hidden dataset not even the name is told, and a token that is limited to datasets makes none.
_NO_ACCESS = "{} can't be loaded as a dataset with the access that you have here."


def load_release(release: Release, *, actor: Any) -> Dataset:
    """The dataset ``NAME-VERSION`` with the conversations of a release; made if there is
    none, as restricted as its own and with its splits. Raises UserError."""
    name, source = f"{release.dataset.name}-{release.version}", release.dataset
    check_is_stored(release)
    if actor is not None and not _may_read(actor, release):
        raise UserError(f"You don't have permission to read {release}.")
    loaded: Dataset | None = Dataset.objects.filter(name=name).first()
    if loaded:
        _check_is_loaded(loaded, release, actor)
        with transaction.atomic():
            _take_splits(loaded, release)  # the dataset may have been split since
        return loaded
    if actor is not None:
        _check_may_load(release, actor)
    with files.work_folder() as folder, transaction.atomic():
        for kind in (ReleaseFile.Kind.DATA, ReleaseFile.Kind.METADATA):
            stored = files.get_file(release, kind)
            with files.open_file(stored) as packed, (folder / stored.name).open("wb") as out:
                shutil.copyfileobj(packed, out)
        data = files.get_file(release, ReleaseFile.Kind.DATA).name
        import_dataset([ImportSource(folder / data, data)], name=name, origin=source.origin, actor=actor)
        loaded = Dataset.objects.get(name=name)
        copy_restriction(loaded, source, actor=actor)
        _take_splits(loaded, release)
    return loaded


def _take_splits(loaded: Dataset, release: Release) -> None:
    """Give sessions without a split that of the same session in the dataset: files of releases have none.

    If the release had a test split, it may be that of a session which the dataset hasn't any more.
    """
    splits: dict[str, str | None] = {}
    sessions = Session.objects.filter(dataset=release.dataset_id)
    for session_id, id_hashed, split in sessions.values_list("session_id", "id_hashed", "split").iterator():
        splits[session_id] = split
        if not id_hashed:
            splits[hash_session_id(session_id, hash_key())] = split
    if not any(splits.values()) and not release.splits:
        return
    unknown = policies.LOCKED_SPLIT if policies.LOCKED_SPLIT in release.splits else None
    placed: list[tuple[int, str]] = []
    for row in Session.objects.filter(dataset=loaded, split=None).only("pk", "session_id").iterator():
        same = row.session_id if row.session_id in splits else hash_session_id(row.session_id, hash_key())
        if split := splits.get(same, unknown):
            placed.append((row.pk, split))
    write_splits(loaded, placed)


def _may_read(actor: Any, release: Release) -> bool:
    return actor.has_perm("datasets_app.view_release") and raw_access.may_read_release(actor, release)


def _check_is_loaded(loaded: Dataset, release: Release, actor: Any) -> None:
    is_release = SourceFile.objects.filter(dataset=loaded, sha256=release.sha256).exists()
    if actor is not None and not Dataset.objects.visible_to(actor).filter(pk=loaded.pk).exists():
        raise UserError(_NO_ACCESS.format(release))
    if not is_release:
        raise UserError(
            f"The dataset {loaded.name} isn't {release}. Rename it, or choose it by its own name."
        )


def _check_may_load(release: Release, actor: Any) -> None:
    if get_token_datasets(actor) is not None:
        raise UserError(_NO_ACCESS.format(release))
    if not actor.has_perm("datasets_app.import_dataset"):
        raise UserError(
            f"{release} isn't loaded as a dataset yet, which takes the permission to import conversations."
        )
    if release.turn_count > MAX_TURNS_AT_ONCE:
        raise UserError(
            f"{release} has {format_count(release.turn_count, 'turn')}, more than the {MAX_TURNS_AT_ONCE:,} "
            "that are loaded at once; create the campaign on the command line."
        )
