"""What is due is deleted for good, dataset by dataset; safe to kill, and gone on with by the next run.

A dataset is first marked as expired, in one transaction: from then on nothing reads it or adds to it. Its
row keeps what the certificate will say until that is written; so a deletion that was cut short is known,
and has one certificate.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app import hooks
from datasets_app.catalog.require_active import require_active
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.purge import remove_traces
from datasets_app.models import Dataset, JobRun, Release, ReleaseFile, SourceFile
from datasets_app.releasing import files
from datasets_app.retention import delete_contents, due
from datasets_app.retention.dry_run import rule_details
from datasets_app.retention.due import RetentionDecision
from datasets_app.retention.holds import normalize_reason, refuse_held

log = logging.getLogger(__name__)

# In the provenance of a dataset that is being deleted: what its certificate will say.
DELETION_KEY = "deletion"
# A job that began just before the dataset was marked may take so long to see it.
MAX_JOB_WAIT_SECONDS = 30.0


def apply_retention(
    *,
    actor: Any = None,
    dataset: Dataset | None = None,
    reason: str | None = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Delete all that is due; or ``dataset`` alone, if it is due, or whether or not for a ``reason``.

    Not to be called in a transaction: every step is committed by itself. Also ends what an earlier run has
    left. What can't be deleted now (a job is at work on it) is told in ``skipped`` and done by the next
    run; of a single dataset that is Refused. Progress is in turns.
    """
    if dataset is not None:
        expiring = [_expire_dataset(dataset, actor, reason, job_run)]
        skipped: list[str] = []
    else:
        expiring, skipped = _expire_due_datasets(actor, job_run)
        expiring = [*_find_unfinished(expiring), *expiring]
    progress = _TurnProgress(expiring, report_progress)
    emptied = []
    for expired in expiring:
        try:
            _delete_dataset(expired, job_run, progress)
            emptied.append(expired)
        except UserError as refusal:
            if dataset is not None:
                raise
            skipped.append(refusal.message)
    traces = remove_traces(progress.report, deleted=True) if emptied else []
    certified = [item for item in (_issue_certificate(expired, traces, actor) for expired in emptied) if item]
    return _build_result(certified, skipped, traces)


class _TurnProgress:
    def __init__(self, expiring: Iterable[Dataset], report: ProgressCallback) -> None:
        self.done, self.total, self._report = 0, sum(row.turn_count for row in expiring), report

    def add(self, turns: int) -> None:
        self.done += turns
        self.report()

    def report(self, *_: Any) -> None:
        self._report(self.done, max(self.total, self.done))


# --- which, and from when on ----------------------------------------------------------------------


def _expire_due_datasets(actor: Any, job_run: JobRun | None) -> tuple[list[Dataset], list[str]]:
    marked, skipped = [], []
    day = due.today_in_utc()
    for item in due.decide_all():
        if not item.is_deletable(day):
            continue
        try:
            marked.append(_expire_dataset(item.dataset, actor, None, job_run))
        except UserError as refusal:
            skipped.append(refusal.message)
    return marked, skipped


def _find_unfinished(excluded: list[Dataset]) -> list[Dataset]:
    """Marked by an earlier run that came to no end."""
    rows = Dataset.objects.filter(status=Dataset.Status.EXPIRED, provenance__has_key=DELETION_KEY)
    return list(rows.exclude(pk__in=[row.pk for row in excluded]).order_by("name"))


def _expire_dataset(dataset: Dataset, actor: Any, reason: str | None, job_run: JobRun | None) -> Dataset:
    """The dataset's row, expired: hold, rule and running jobs are looked at once more under its lock."""
    reason = normalize_reason(reason) if reason is not None else None
    with transaction.atomic():
        row: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        if row.status == Dataset.Status.EXPIRED and DELETION_KEY in row.provenance:
            return row
        require_active(row)
        refuse_held(row)
        _refuse_busy(row, job_run)
        verdict = due.decide_for_dataset(row)
        if reason is None and not verdict.is_deletable(due.today_in_utc()):
            raise UserError(f"{row.name} is not due; give a reason to delete it all the same.")
        _mark_expired(row, _begin_certificate(row, verdict if reason is None else None, reason, actor))
    return row


def _begin_certificate(
    row: Dataset, verdict: RetentionDecision | None, reason: str | None, actor: Any
) -> dict[str, Any]:
    """Of the certificate, what is known before anything is deleted."""
    releases = Release.objects.filter(dataset=row).order_by("major", "minor", "patch")
    facts: dict[str, Any] = {
        "asked_by": audit.actor_name(actor),
        "created": due.creation_day(row).isoformat(),
        "source_files": list(SourceFile.objects.filter(dataset=row).values_list("sha256", flat=True)),
        "releases": [{"version": release.version, "sha256": release.sha256} for release in releases],
        "deleted": {},
    }
    if verdict is not None and verdict.policy is not None and verdict.due is not None:
        facts |= {"rule": rule_details(verdict.policy), "due": verdict.due.isoformat()}
    if reason is not None:
        facts["reason"] = reason
    return facts


def _mark_expired(row: Dataset, facts: dict[str, Any]) -> None:
    row.status, row.expired_at = Dataset.Status.EXPIRED, timezone.now()
    row.source = row.license = row.attribution = row.hold_reason = ""
    row.provenance, row.split_settings, row.warned_of = {DELETION_KEY: facts}, None, None
    row.save()
    for beside in hooks.deletion_hooks:
        beside.close(row)


def _refuse_busy(row: Dataset, job_run: JobRun | None) -> None:
    delete_contents.refuse_busy(row, job_run, "it is deleted by the next run after that.")


# --- what is deleted ------------------------------------------------------------------------------


def _delete_dataset(row: Dataset, job_run: JobRun | None, progress: _TurnProgress) -> None:
    """Everything of an expired dataset, in steps; each can be repeated."""
    _wait_for_jobs(row, job_run, progress)
    jobs = delete_contents.list_other_jobs(row, job_run)
    delete_contents.clear_jobs(jobs)
    _destroy_releases(row)
    delete_contents.delete_files(jobs, lambda deleted: _add_to_certificate(row, deleted))
    last = 0
    while keys := delete_contents.next_session_batch(row, last):
        last = keys[-1]
        deleted = delete_contents.retry_transaction(partial(_delete_sessions, row, keys))
        progress.add(deleted["turns"])
    delete_contents.retry_transaction(
        lambda: _add_to_certificate(row, delete_contents.delete_dataset_rows(row))
    )


def _delete_sessions(row: Dataset, keys: list[int]) -> Counter[str]:
    # The row's lock first: two runs at work on one dataset delete nothing twice, and count it once.
    Dataset.objects.select_for_update(no_key=True).get(pk=row.pk)
    deleted = delete_contents.delete_sessions(keys)
    _add_to_certificate(row, deleted)
    return deleted


def _add_to_certificate(row: Dataset, deleted: Counter[str]) -> None:
    """Add to what the certificate will say was deleted; in the transaction that deletes it."""
    stored: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=row.pk)
    facts = stored.provenance.get(DELETION_KEY)
    if facts is None:
        return  # another run has come to the end of it meanwhile
    sums = Counter(facts["deleted"])
    sums.update(deleted)
    facts["deleted"] = {kind: count for kind, count in sorted(sums.items()) if count}
    stored.save(update_fields=["provenance"])


def _wait_for_jobs(row: Dataset, job_run: JobRun | None, progress: _TurnProgress) -> None:
    """One that looked at the dataset a moment before it was marked may still be at work."""
    deadline = time.monotonic() + MAX_JOB_WAIT_SECONDS
    while True:
        try:
            return _refuse_busy(row, job_run)
        except UserError:
            if time.monotonic() > deadline:
                raise
        progress.report()
        time.sleep(0.2)


def _destroy_releases(row: Dataset) -> None:
    for release in Release.objects.filter(dataset=row, destroyed_at=None):
        with transaction.atomic():
            Dataset.objects.select_for_update(no_key=True).get(pk=row.pk)
            if Release.objects.filter(pk=release.pk).exclude(destroyed_at=None).exists():
                continue
            sizes = release.files.exclude(file="").values_list("size", flat=True)
            deleted = Counter(releases=1, release_bytes=sum(sizes))
            files.destroy_files(release, reason="retention")
            _add_to_certificate(row, deleted)
    files.destroy_orphans(row)
    if ReleaseFile.objects.filter(release__dataset=row).exclude(file="").exists():
        raise UserError(f"Files of releases of {row.name} can't be deleted: the storage can't be reached.")
    Release.objects.filter(dataset=row).update(
        notes="", changelog="", override_reason="", fault="", checks={}, sharing=[], fields=[], splits={}
    )


# --- the end --------------------------------------------------------------------------------------


def _issue_certificate(row: Dataset, traces: list[str], actor: Any) -> dict[str, Any] | None:
    """The certificate, once; the row stays behind with its name and its dates. None: another run did it."""
    with transaction.atomic():
        stored: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=row.pk)
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
