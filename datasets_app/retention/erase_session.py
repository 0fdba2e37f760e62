"""Erases sessions of one person from their datasets, all releases and the results of jobs.

First the releases of a dataset are rebuilt without them, while their rows still identify them. Then one
transaction deletes their rows and writes the audit events. An interrupted run is therefore repeated from
where it stopped.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any, NoReturn

from django.db import transaction
from django.utils import timezone

from datasets_app.catalog import gates
from datasets_app.catalog.facts import get_dataset, lock_dataset
from datasets_app.catalog.rows.partitions import list_tables
from datasets_app.catalog.text_scans import record_deletion
from datasets_app.catalog.tombstones import bury_sessions
from datasets_app.core import audit
from datasets_app.core.audit import require_second_person
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.purge import remove_traces
from datasets_app.jobs.files import discard_file
from datasets_app.jobs.parameters import read_parameters
from datasets_app.models import (
    AuditEvent,
    Dataset,
    JobFile,
    JobRun,
    ReceivedSpan,
    Release,
    Session,
    SourceFile,
    session_data,
)
from datasets_app.releasing import files
from datasets_app.releasing.reissue import reissue_release
from datasets_app.retention import delete_contents
from datasets_app.retention.erasure_preview import list_recipients, list_releases
from datasets_app.retention.holds import normalize_reason
from datasets_app.retention.parameters import EraseParameters
from datasets_app.retention.person_files import name_dataset
from datasets_app.retention.redact_jobs import keep_numbers, list_session_terms, redact_jobs
from datasets_app.retention.session_identity import (
    digest_session_id,
    find_copies,
    find_label_sessions,
    find_session,
    get_session,
    list_other_datasets,
    match_any,
)
from datasets_app.sources.received import delete_received_of, delete_traces_of

ACTION = "erase_session"
# The name of a file that named the person.
ERASED = "erased"
_RETRY_ADVICE = "erase the session when the job has finished."


def erase_session(
    session: Session,
    reason: str,
    *,
    actor: Any = None,
    everywhere: Iterable[Session] = (),
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Erase ``session`` and its copies in ``everywhere`` (see :func:`find_copies`). Don't call it in a
    transaction.

    Returns what was deleted, the versions that were replaced and who has received one of them or an export.
    Raises UserError if a dataset is on legal hold or a job is running on it.
    """
    require_second_person()
    reason = normalize_reason(reason)
    by_dataset: dict[int, dict[int, Session]] = {}
    for target in (session, *everywhere):
        by_dataset.setdefault(target.dataset_id, {})[target.pk] = target
    together = [list(targets.values()) for targets in by_dataset.values()]
    for first, *_ in together:
        _refuse_unerasable(first.dataset, job_run)
    results = _load_erased(job_run)
    results += [_erase_together(some, reason, actor, job_run, report_progress) for some in together]
    return _finish_erasure(results, report_progress)


def erase_by_keys(
    parameters: EraseParameters,
    *,
    actor: Any,
    job_run: JobRun,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """:func:`erase_session` by primary keys, as a job must not store the id; first, received spans and files.

    Rows that the job erased in an earlier attempt are gone already.
    """
    require_second_person()
    reason = normalize_reason(parameters.reason or "")
    keys = [] if parameters.session is None else [parameters.session, *parameters.copies]
    sessions = [session for session in map(get_session, keys) if session]
    for name in {session.dataset.name for session in sessions}:
        _refuse_unerasable(get_dataset(name), job_run)
    _erase_received(parameters.spans or [], reason, actor, job_run)
    _erase_files(parameters.files or [], reason, actor, job_run)
    _erase_file_names(parameters.imports or [], reason, actor, job_run)
    if sessions:
        first, *copies = sessions
        return erase_session(
            first, reason, actor=actor, everywhere=copies, job_run=job_run, report_progress=report_progress
        )
    if erased := _load_erased(job_run):
        return _finish_erasure(erased, report_progress)
    raise UserError("The session does not exist or was erased already.")


def _erase_received(keys: list[int], reason: str, actor: Any, job_run: JobRun) -> None:
    """Delete spans that would become sessions, with the others of their traces."""
    rows = ReceivedSpan.objects.filter(pk__in=keys)
    for name in sorted(set(rows.values_list("source__dataset_name", flat=True))):
        with transaction.atomic():
            _refuse_unerasable_by_name(name, job_run)
            deleted = {"received_spans": delete_traces_of(rows.filter(source__dataset_name=name))}
            _record_deleted(name, deleted, reason, actor, job_run)


def _erase_files(keys: list[int], reason: str, actor: Any, job_run: JobRun) -> None:
    """Delete files of jobs, cancel jobs that were to read them, and keep only numbers of what they say."""
    by_dataset: dict[str, list[JobFile]] = {}
    for row in JobFile.objects.filter(pk__in=keys).exclude(file="").select_related("job_run__dataset"):
        by_dataset.setdefault(name_dataset(row.job_run), []).append(row)
    for name, rows in sorted(by_dataset.items()):
        with transaction.atomic():
            _refuse_unerasable_by_name(name, job_run)
            for job in JobRun.objects.filter(files__in=rows).distinct():
                if job.state in ("prepared", "approval", "queued"):
                    job.state, job.error = "cancelled", "Its file was deleted, as it named an erased person."
                job.result = keep_numbers(job.result) if isinstance(job.result, dict) else None
                job.save(update_fields=["state", "error", "result"])
            for row in rows:
                discard_file(row)
            JobFile.objects.filter(pk__in=[row.pk for row in rows]).update(name=ERASED)
            deleted = {"files": len(rows), "file_bytes": sum(row.size for row in rows)}
            _record_deleted(name, deleted, reason, actor, job_run)


def _erase_file_names(keys: list[int], reason: str, actor: Any, job_run: JobRun) -> None:
    """Of an imported file its digest stays, by which it is recognized."""
    rows = SourceFile.objects.filter(pk__in=keys).exclude(name=ERASED)
    for name in sorted(set(rows.values_list("dataset__name", flat=True))):
        with transaction.atomic():
            _refuse_unerasable_by_name(name, job_run)
            deleted = {"file_names": rows.filter(dataset__name=name).update(name=ERASED)}
            _record_deleted(name, deleted, reason, actor, job_run)


def _refuse_unerasable_by_name(name: str, job_run: JobRun) -> None:
    """Also for a dataset that doesn't exist yet."""
    if dataset := Dataset.objects.select_for_update().filter(name=name).first():
        _refuse_unerasable(dataset, job_run)
    if name:
        gates.check_is_idle(name, job_run, _RETRY_ADVICE)


def _record_deleted(name: str, deleted: dict[str, int], reason: str, actor: Any, job_run: JobRun) -> None:
    """Record what was deleted besides sessions."""
    audit.record(ACTION, actor=actor, dataset_name=name, reason=reason, deleted=deleted)
    erased = {"dataset": name, "deleted": deleted, "releases": [], "handed_out": [], "also_in": []}
    _save_erased(job_run, erased)


def erase_session_by_id(
    name: str,
    session_id: str,
    reason: str,
    *,
    everywhere: bool = False,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Like :func:`erase_session`, but finds the session by its dataset and id, for the command line."""
    dataset = get_dataset(name)
    session = find_session(dataset, session_id)
    if session is None:
        refuse_missing_session(dataset, session_id, report_progress)
    copies = list(find_copies(session)) if everywhere else []
    return erase_session(session, reason, everywhere=copies, job_run=job_run, report_progress=report_progress)


def refuse_missing_session(
    dataset: Dataset, session_id: str, report_progress: ProgressCallback = ignore_progress
) -> NoReturn:
    """Raise UserError for a session that doesn't exist, with the day it was erased if it was.

    In that case this first removes traces that an interrupted run may have left on the disk.
    """
    digests = [digest_session_id(session_id, id_hashed=known) for known in (False, True)]
    erased = AuditEvent.objects.filter(action=ACTION, dataset_name=dataset.name, details__digest__in=digests)
    last = erased.order_by("-id").first()
    if last is None:
        raise UserError(f"{dataset.name} has no session of that id.")
    remove_traces(report_progress, partitions=list_tables([dataset.pk]), deleted=True)
    raise UserError(
        f"This session was erased from {dataset.name} on {last.at:%-d %B %Y}. There is nothing left to erase."
    )


# --- sessions of one dataset --------------------------------------------------------------------


def _refuse_unerasable(dataset: Dataset, job_run: JobRun | None) -> None:
    gates.check_can_delete(dataset, job_run, _RETRY_ADVICE)


def _erase_together(
    sessions: list[Session],
    reason: str,
    actor: Any,
    job_run: JobRun | None,
    report_progress: ProgressCallback,
) -> dict[str, Any]:
    """Each release is rebuilt once, however many of the sessions it contains."""
    dataset = sessions[0].dataset
    jobs = delete_contents.list_other_jobs(dataset, job_run)
    waiting = jobs.filter(state__in=["prepared", "approval", "queued"])
    deleted: Counter[str] = Counter()
    while True:
        waiting.update(
            state="cancelled", error="Its files were deleted because a session was erased; start it again."
        )
        delete_contents.delete_files(jobs, deleted.update)
        made = find_label_sessions(sessions)
        clean_releases = _reissue_releases([*sessions, *made], actor, report_progress)
        facts: dict[str, Any] | None = delete_contents.retry_transaction(
            partial(
                _delete_sessions, sessions, made, reason, actor, job_run, Counter(deleted), clean_releases
            )
        )
        if facts is not None:
            return facts


def _reissue_releases(sessions: list[Session], actor: Any, report_progress: ProgressCallback) -> set[int]:
    """Replace the releases that contain any of the sessions; returns the keys of those without."""
    session, clean = sessions[0], set()
    for release in list_releases(session.dataset):
        new = reissue_release(
            release,
            match_any(sessions),
            actor=actor,
            reason=_destruction_reason(session),
            report_progress=report_progress,
        )
        clean.add(new.pk if new is not None else release.pk)
    files.destroy_orphans(session.dataset)
    return clean


def _destruction_reason(session: Session) -> str:
    """Marks the releases that this erasure replaced, so that a resumed run finds them."""
    return f"erasure {digest_session_id(session.session_id, id_hashed=session.id_hashed)[:16]}"


def _delete_sessions(
    sessions: list[Session],
    made: list[Session],
    reason: str,
    actor: Any,
    job_run: JobRun | None,
    deleted: Counter[str],
    clean_releases: set[int],
) -> dict[str, Any] | None:
    """Delete the rows, with sessions ``made`` for their labels, and write the audit events. Returns None if a
    release or a job file was added while the releases were rebuilt, which can take long."""
    dataset, targets = lock_dataset(sessions[0].dataset_id), [*sessions, *made]
    _refuse_unerasable(dataset, job_run)
    if not {release.pk for release in list_releases(dataset)} <= clean_releases:
        return None
    if not set(find_label_sessions(sessions)) <= set(made):
        return None
    jobs = delete_contents.list_other_jobs(dataset, job_run)
    if JobFile.objects.filter(job_run__in=jobs).exclude(file="").exists():
        return None
    terms = list_session_terms(dataset, targets)
    also_in = sorted({name for session in sessions for name in list_other_datasets(session)})
    bury_sessions(dataset, targets, timezone.now())
    for data in session_data.list_all():
        deleted[data.kind] += data.delete_quoting(dataset)
        deleted[data.kind] += data.delete_naming(dataset, match_any(sessions))
    deleted.update(delete_contents.delete_reports(dataset))
    deleted.update(received_spans=sum(delete_received_of(dataset, target) for target in targets))
    deleted.update(delete_contents.delete_sessions(dataset, [target.pk for target in targets]))
    redact_jobs(dataset, [target.session_id for target in targets], terms, job_run)
    record_deletion(dataset, turns=deleted["turns"])
    dataset.session_count -= deleted["sessions"]
    dataset.turn_count -= deleted["turns"]
    dataset.save(update_fields=["session_count", "turn_count", "updated_at"])
    replaced = Release.objects.filter(dataset=dataset, destroyed_reason=_destruction_reason(sessions[0]))
    replaced.update(fields=[])  # only these sessions may have had one of them
    versions = [release.version for release in replaced.order_by("major", "minor", "patch")]
    facts = {
        "deleted": {kind: count for kind, count in sorted(deleted.items()) if count},
        "releases": versions,
    }
    if deleted["sessions"]:
        _record_sessions(dataset, sessions, reason, actor, facts)
    recipients = list_recipients(dataset, versions)
    erased = {"dataset": dataset.name, **facts, "handed_out": recipients, "also_in": also_in}
    if job_run is not None:
        _save_erased(job_run, erased)
    return erased


def _record_sessions(
    dataset: Dataset, sessions: list[Session], reason: str, actor: Any, facts: dict[str, Any]
) -> None:
    """An event for each session; the first counts what was deleted with all of them."""
    for session in sessions:
        digest = digest_session_id(session.session_id, id_hashed=session.id_hashed)
        audit.record(ACTION, actor=actor, dataset_name=dataset.name, digest=digest, reason=reason, **facts)
        facts = facts | {"deleted": {}}


def _sum_results(results: list[dict[str, Any]]) -> dict[str, Any]:
    deleted: Counter[str] = Counter()
    for result in results:
        deleted.update(result["deleted"])
    erased_from = list(dict.fromkeys(result["dataset"] for result in results))
    return {
        **dict(sorted(deleted.items())),
        "erased_from": erased_from,
        "releases": {result["dataset"]: result["releases"] for result in results if result["releases"]},
        "handed_out": [
            {"dataset": result["dataset"], **recipient}
            for result in results
            for recipient in result["handed_out"]
        ],
        "also_in": sorted({name for result in results for name in result["also_in"]} - set(erased_from)),
    }


def _finish_erasure(results: list[dict[str, Any]], report_progress: ProgressCallback) -> dict[str, Any]:
    facts = _sum_results(results)
    changed = Dataset.objects.filter(name__in=facts["erased_from"]).values_list("pk", flat=True)
    traces = remove_traces(report_progress, partitions=list_tables(changed), deleted=True)
    return facts | ({"traces": traces} if traces else {})


def _load_erased(job_run: JobRun | None) -> list[dict[str, Any]]:
    """Results that an earlier attempt of this job has committed."""
    return list(read_parameters(job_run, EraseParameters).erased or []) if job_run is not None else []


def _save_erased(job_run: JobRun, erased: dict[str, Any]) -> None:
    """Keep the result with the job, in the transaction that erases the session."""
    job_run.refresh_from_db(fields=["parameters"])
    job_run.parameters = job_run.parameters | {"erased": [*_load_erased(job_run), erased]}
    job_run.save(update_fields=["parameters"])
