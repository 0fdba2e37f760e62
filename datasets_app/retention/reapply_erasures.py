"""Erases again what a restored backup has brought back."""

from pathlib import Path
from typing import Any

from django.db import transaction

from datasets_app.catalog import tombstones
from datasets_app.catalog.rows.turn_reader import read_turns
from datasets_app.catalog.tombstones import ErasedSessions, bury_datasets, list_deleted_datasets
from datasets_app.core.audit import approved_by
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, JobRun, Session, Tombstone
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.erase_session import erase_session

REASON = "Erased before; a restored backup had brought it back"
DELETION_REASON = "Deleted before; a restored backup had brought it back"


def check_erasures() -> None:
    """Raises UserError if the file outside the database knows of erasures that the database doesn't: then a
    backup was restored that is older than they are."""
    missing = tombstones.list_missing_in_database(tombstones.read())
    if missing:
        raise UserError(
            f"{format_count(len(missing), 'erasure')} in {tombstones.erasures_path()} are not in the "
            "database, as after restoring a backup. Run reapply_erasures."
        )


def verify_erasures() -> dict[str, Any]:
    """:func:`check_erasures`, then complete the file."""
    check_erasures()
    _bury_expired_datasets()
    return {"added_to_file": tombstones.append_missing()}


def _bury_expired_datasets() -> None:
    """Those that earlier versions deleted without a digest."""
    expired = Dataset.objects.filter(status=Dataset.Status.EXPIRED).exclude(expired_at=None)
    with transaction.atomic():
        for name, expired_at in expired.values_list("name", "expired_at"):
            bury_datasets([name], expired_at)


def reapply_erasures(
    path: Path | None = None,
    *,
    dry_run: bool = False,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Delete every stored dataset and erase every stored session that ``path`` or the database says was.

    Don't call it in a transaction: each erasure commits. A dataset that can't be changed now, for example
    because of a legal hold, is listed in ``skipped``. Progress is in turns.
    """
    missing = tombstones.list_missing_in_database(tombstones.read(path))
    if not dry_run:
        Tombstone.objects.bulk_create(missing, ignore_conflicts=True)
    skipped: list[str] = []
    deleted = list_deleted_datasets(missing)
    for dataset in () if dry_run else deleted:
        skipped += _delete_dataset(dataset, job_run)
    found: dict[str, int] = {}
    datasets = list(Dataset.objects.exclude(status=Dataset.Status.EXPIRED).order_by("name"))
    total, done = sum(dataset.turn_count for dataset in datasets), 0
    for dataset in datasets:
        erased = ErasedSessions(dataset.name, additional=missing)
        for _ in erased.watch(read_turns(dataset)) if erased else ():
            done += 1
            if done % 1000 == 0:
                report_progress(done, max(total, done))
        if erased.found:
            found[dataset.name] = len(erased.found)
            if not dry_run:
                skipped += _erase_found(dataset, erased, job_run)
    if not dry_run:
        tombstones.append_missing()
    optional = {"datasets": [dataset.name for dataset in deleted], "skipped": skipped}
    return {
        "sessions": sum(found.values()),
        "found": found,
        **{name: value for name, value in optional.items() if value},
    }


def _delete_dataset(dataset: Dataset, job_run: JobRun | None) -> list[str]:
    try:
        with approved_by("an earlier deletion"):
            apply_retention(dataset=dataset, reason=DELETION_REASON, job_run=job_run)
    except UserError as refusal:
        return [refusal.message]
    return []


def _erase_found(dataset: Dataset, erased: ErasedSessions, job_run: JobRun | None) -> list[str]:
    rows = Session.objects.filter(dataset=dataset, session_id__in=list(erased.found)).select_related(
        "dataset"
    )
    if not (sessions := list(rows)):
        return []
    first, *others = sessions
    try:
        with approved_by("an earlier erasure"):
            erase_session(first, REASON, everywhere=others, job_run=job_run)
    except UserError as refusal:
        return [refusal.message]
    return []
