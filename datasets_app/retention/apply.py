"""Deletes the datasets that are due. Can be killed at any time; the next run continues.

One transaction first marks a dataset as expired; from then on nothing reads it or adds to it. Its row keeps
the data for the deletion certificate until that is issued, so an interrupted deletion is found again and gets
exactly one certificate.
"""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app.catalog import gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.rows.partitions import drop_unused_partitions, list_tables
from datasets_app.catalog.tombstones import bury_datasets
from datasets_app.core import audit
from datasets_app.core.audit import require_second_person
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, Tally, ignore_progress
from datasets_app.core.purge import remove_traces
from datasets_app.core.queries import measure_clock_difference
from datasets_app.models import Dataset, JobRun, Release, ReleaseFile, SourceFile, session_data
from datasets_app.releasing import files
from datasets_app.retention import delete_contents, due
from datasets_app.retention.dry_run import rule_details
from datasets_app.retention.due import RetentionDecision
from datasets_app.retention.holds import normalize_reason

# Provenance key of a dataset that is being deleted; holds the data for its certificate.
DELETION_KEY = "deletion"
_RETRY_ADVICE = "the first retention run after that will delete it."
# How long a job that started just before the dataset expired may take to notice.
MAX_JOB_WAIT_SECONDS = 30.0
# Of the difference between two clocks, one of which is wrong.
MAX_CLOCK_SECONDS = 60.0


def apply_retention(
    *,
    actor: Any = None,
    dataset: Dataset | None = None,
    reason: str | None = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Delete all datasets that are due, or only ``dataset``; with a ``reason`` even if it isn't due.

    Don't call it in a transaction: every step commits. Also finishes the deletions of interrupted runs.
    Datasets that can't be deleted now, because a job is running on them, are listed in ``skipped`` and
    left to the next run; for a single dataset this raises UserError. Progress is in turns.
    """
    if dataset is not None:
        expiring = [_expire_dataset(dataset, actor, reason, job_run)]
        skipped: list[str] = []
    else:
        expiring, skipped = _expire_due_datasets(actor, job_run)
        expiring = [*_find_unfinished(expiring), *expiring]
    progress = Tally(report_progress, sum(row.turn_count for row in expiring))
    emptied = []
    for expired in expiring:
        try:
            _delete_dataset(expired, job_run, progress)
            emptied.append(expired)
        except UserError as refusal:
            if dataset is not None:
                raise
            skipped.append(refusal.message)
    tables = list_tables(row.pk for row in emptied)
    traces = remove_traces(progress.report, partitions=tables, deleted=True) if emptied else []
    certified = [item for item in (_issue_certificate(expired, traces, actor) for expired in emptied) if item]
    drop_unused_partitions()
    return _build_result(certified, skipped, traces)


# --- expiring -------------------------------------------------------------------------------------


def _expire_due_datasets(actor: Any, job_run: JobRun | None) -> tuple[list[Dataset], list[str]]:
    expired, skipped = [], []
    if (seconds := measure_clock_difference()) > MAX_CLOCK_SECONDS:
        raise UserError(
            f"The clocks of this machine and of the database differ by {seconds:.0f} s, so nothing was "
            "deleted. Set both by NTP."
        )
    day = due.today_in_utc()
    for item in due.decide_all():
        if not item.is_deletable(day):
            continue
        try:
            expired.append(_expire_dataset(item.dataset, actor, None, job_run))
        except UserError as refusal:
            skipped.append(refusal.message)
    return expired, skipped


def _find_unfinished(excluded: list[Dataset]) -> list[Dataset]:
    """Datasets that an interrupted run has expired."""
    rows = Dataset.objects.filter(status=Dataset.Status.EXPIRED, provenance__has_key=DELETION_KEY)
    return list(rows.exclude(pk__in=[row.pk for row in excluded]).order_by("name"))


def _expire_dataset(dataset: Dataset, actor: Any, reason: str | None, job_run: JobRun | None) -> Dataset:
    """Expire the dataset, after checking holds, policies and running jobs again under its lock."""
    if reason is not None:
        require_second_person()
        reason = normalize_reason(reason)
    with transaction.atomic():
        row = lock_dataset(dataset.pk)
        if row.status == Dataset.Status.EXPIRED and DELETION_KEY in row.provenance:
            return row
        gates.check_can_delete(row, job_run, _RETRY_ADVICE)
        decision = due.decide_for_dataset(row)
        if reason is None and not decision.is_deletable(due.today_in_utc()):
            raise UserError(f"{row.name} is not due for deletion; give a reason to delete it anyway.")
        _mark_expired(row, _begin_certificate(row, decision if reason is None else None, reason, actor))
        bury_datasets([row.name], timezone.now())
    return row


def _begin_certificate(
    row: Dataset, decision: RetentionDecision | None, reason: str | None, actor: Any
) -> dict[str, Any]:
    """The part of the certificate that must be collected before the deletion."""
    releases = Release.objects.filter(dataset=row).order_by("major", "minor", "patch")
    facts: dict[str, Any] = {
        "asked_by": audit.actor_name(actor),
        "created": due.creation_day(row).isoformat(),
        "source_files": list(SourceFile.objects.filter(dataset=row).values_list("sha256", flat=True)),
        "releases": [{"version": release.version, "sha256": release.sha256} for release in releases],
        "deleted": {},
    }
    if decision is not None and decision.policy is not None and decision.due is not None:
        facts |= {"rule": rule_details(decision.policy), "due": decision.due.isoformat()}
    if reason is not None:
        facts["reason"] = reason
    return facts


def _mark_expired(row: Dataset, facts: dict[str, Any]) -> None:
    row.status, row.expired_at = Dataset.Status.EXPIRED, timezone.now()
    for name, value in session_data.find(Dataset).make_empty().items():
        setattr(row, name, value)
    row.provenance, row.warned_of = {DELETION_KEY: facts}, None
    row.save()
    for data in session_data.list_deleted():
        data.close(row)


# --- deleting -------------------------------------------------------------------------------------


def _delete_dataset(row: Dataset, job_run: JobRun | None, progress: Tally) -> None:
    """Delete everything in an expired dataset, in repeatable steps."""
    _wait_for_jobs(row, job_run, progress)
    jobs = delete_contents.list_other_jobs(row, job_run)
    delete_contents.clear_jobs(jobs)
    _destroy_releases(row)
    delete_contents.delete_files(jobs, lambda deleted: _add_to_certificate(row, deleted))
    while delete_contents.retry_transaction(partial(_delete_rows, row, delete_contents.delete_batch)):
        progress.report()
    deleted = delete_contents.retry_transaction(
        partial(_delete_rows, row, delete_contents.delete_dataset_rows)
    )
    progress.add(deleted["turns"])


def _delete_rows(row: Dataset, delete: Callable[[Dataset], Counter[str]]) -> Counter[str]:
    # Lock the row first, so that two runs on one dataset count every deletion once.
    lock_dataset(row.pk)
    deleted = delete(row)
    _add_to_certificate(row, deleted)
    return deleted


def _add_to_certificate(row: Dataset, deleted: Counter[str]) -> None:
    """Add counts to the certificate, in the transaction that deletes."""
    stored = lock_dataset(row.pk)
    facts = stored.provenance.get(DELETION_KEY)
    if facts is None:
        return  # another run has issued it meanwhile
    sums = Counter(facts["deleted"])
    sums.update(deleted)
    facts["deleted"] = {kind: count for kind, count in sorted(sums.items()) if kind and count}
    stored.save(update_fields=["provenance"])


def _wait_for_jobs(row: Dataset, job_run: JobRun | None, progress: Tally) -> None:
    """Wait for jobs that read the dataset's status just before it expired."""
    deadline = time.monotonic() + MAX_JOB_WAIT_SECONDS
    while True:
        try:
            return gates.check_is_idle(row.name, job_run, _RETRY_ADVICE)
        except UserError:
            if time.monotonic() > deadline:
                raise
        progress.report()
        time.sleep(0.2)


def _destroy_releases(row: Dataset) -> None:
    for release in Release.objects.filter(dataset=row, destroyed_at=None):
        with transaction.atomic():
            lock_dataset(row.pk)
            if Release.objects.filter(pk=release.pk).exclude(destroyed_at=None).exists():
                continue
            sizes = release.files.exclude(file="").values_list("size", flat=True)
            deleted = Counter(releases=1, release_bytes=sum(sizes))
            files.destroy_files(release, reason="retention")
            _add_to_certificate(row, deleted)
    files.destroy_orphans(row)
    if ReleaseFile.objects.filter(release__dataset=row).exclude(file="").exists():
        raise UserError(
            f"Release files of {row.name} can't be deleted. Check that the file storage is reachable."
        )
    for data in session_data.list_all():
        if data.dataset and data.emptied:
            data.rows(row).update(**data.make_empty())


# --- certifying -----------------------------------------------------------------------------------


def _issue_certificate(row: Dataset, traces: list[str], actor: Any) -> dict[str, Any] | None:
    """Write the certificate to the audit log; the row keeps its name and dates. Returns None if another run
    has already issued it."""
    with transaction.atomic():
        stored = lock_dataset(row.pk)
        facts = stored.provenance.get(DELETION_KEY)
        if facts is None:
            return None
        stored.provenance, stored.session_count, stored.turn_count = {}, 0, 0
        stored.save()
        if traces:
            facts["traces"] = traces
        audit.record("retention", actor=actor, dataset_name=stored.name, **facts)
    return {"dataset": stored.name, **facts}


def _build_result(certified: list[dict[str, Any]], skipped: list[str], traces: list[str]) -> dict[str, Any]:
    deleted: Counter[str] = Counter()
    for item in certified:
        deleted.update(item["deleted"])
    facts: dict[str, Any] = {"datasets": len(certified), **dict(sorted(deleted.items()))}
    if certified:
        facts["certificates"] = certified
    if skipped:
        facts["skipped"] = skipped
    if traces:
        facts["traces"] = traces
    return facts
