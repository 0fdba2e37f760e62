"""One person's conversation goes for good: from the dataset, from all its releases, from what jobs have kept.

First the releases are made anew without it, while its row still tells which it is; then its rows go, in one
transaction with the entry in the audit trail. So a run that is cut short is repeated from where it was.
"""

import hmac
import json
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any

from django.db.models import QuerySet

from alignmenter_site.keys.hash_key import hash_key
from datasets_app import hooks
from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.require_active import require_active
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.purge import remove_traces
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun, Release, ScrubFinding, Session, Turn
from datasets_app.releasing import files
from datasets_app.releasing.freeze import read_release_lines
from datasets_app.releasing.reissue import reissue_release
from datasets_app.retention import delete_contents
from datasets_app.retention.holds import normalize_reason, refuse_held

ACTION = "erase_session"
# In the parameters of a job: what came of it, if its worker died before it could say so.
_ERASED_KEY = "erased"
_DIGEST_PREFIX = b"erased session\0"


def find_session(dataset: Dataset, session_id: str) -> Session | None:
    """The session of this id, or of the id that this one was hashed to."""
    sessions = Session.objects.filter(dataset=dataset)
    return (
        sessions.filter(session_id=session_id).first()
        or sessions.filter(session_id=hash_session_id(session_id, hash_key())).first()
    )


def find_copies(session: Session) -> QuerySet[Session]:
    """The session and its copies in other datasets: by the id, and by what either is hashed to."""
    return Session.objects.filter(session_id__in=_possible_ids(session.session_id)).select_related("dataset")


def matches_session(session_id: str, candidate: str) -> bool:
    """Whether ``candidate`` in some file is the session of this id, hashed or not."""
    key = hash_key()
    return session_id in (candidate, hash_session_id(candidate, key)) or candidate == hash_session_id(
        session_id, key
    )


def digest_session_id(session_id: str, *, id_hashed: bool) -> str:
    """By which the audit trail knows an erased session again, under the installation's key: the same for
    one whose id was hashed and for one whose id was not."""
    canonical = session_id if id_hashed else hash_session_id(session_id, hash_key())
    return hmac.new(
        hash_key(), _DIGEST_PREFIX + canonical.encode("utf-8", "surrogatepass"), "sha256"
    ).hexdigest()


def preview_erasure(session: Session, *, include_releases: bool = True) -> dict[str, Any]:
    """What erasing the session would do; changes nothing. Reads the data file of every release, or takes
    none to hold it."""
    dataset = session.dataset
    looked_into = _list_releases(dataset) if include_releases else []
    erased = [session, *_find_label_sessions(session)]
    releases = [release for release in looked_into if _contains_session(release, erased)]
    versions = [release.version for release in releases]
    return {
        "sessions": len(erased),
        "turns": sum(one.turn_count for one in erased),
        **_count_related_rows(erased),
        "releases": versions,
        "handed_out": list_recipients(dataset, versions),
        "also_in": _list_other_datasets(session),
    }


def erase_session(
    session: Session,
    reason: str,
    *,
    actor: Any = None,
    everywhere: Iterable[Session] = (),
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Erase ``session``, and its copies in ``everywhere`` (of :func:`same_session`), with all that is about
    them. Not to be called in a transaction.

    Returns what was deleted, the versions that were replaced, and who had been handed one of them or an
    export. Raises Refused: a dataset is on hold, or something is at work on it.
    """
    reason = normalize_reason(reason)
    targets = {target.pk: target for target in (session, *everywhere)}
    for target in targets.values():
        _refuse_unerasable(target.dataset, job_run)
    results = _load_erased(job_run)
    results += [_erase_one(target, reason, actor, job_run, report_progress) for target in targets.values()]
    return _finish_erasure(results, report_progress)


def erase_for_job(job_run: JobRun, *, report_progress: ProgressCallback = ignore_progress) -> dict[str, Any]:
    """``parameters``: {"session": primary key, "reason": why, "copies": primary keys}; never the id."""
    given = job_run.parameters
    rows = Session.objects.select_related("dataset")
    session = rows.filter(pk=given.get("session")).first()
    copies = list(rows.filter(pk__in=given.get("copies") or []))
    if session is None and not copies:
        if erased := _load_erased(job_run):
            return _finish_erasure(erased, report_progress)
        raise UserError("The session is not there (any more).")
    first = session or copies[0]
    return erase_session(
        first,
        str(given.get("reason") or ""),
        actor=job_run.actor,
        everywhere=copies,
        job_run=job_run,
        report_progress=report_progress,
    )


def erase_session_by_id(
    name: str,
    session_id: str,
    reason: str,
    *,
    everywhere: bool = False,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """As :func:`erase_session`, by names: for the command line. One that is erased already is told so, after
    what may have been left of it on the disk is gone."""
    dataset = get_dataset(name)
    session = find_session(dataset, session_id)
    if session is None:
        refuse_missing_session(dataset, session_id, report_progress)
    assert session is not None
    copies = list(find_copies(session)) if everywhere else []
    return erase_session(session, reason, everywhere=copies, job_run=job_run, report_progress=report_progress)


def refuse_missing_session(
    dataset: Dataset, session_id: str, report_progress: ProgressCallback = ignore_progress
) -> None:
    """There is no such session: Refused, with the day on which it was erased if it was."""
    digests = [digest_session_id(session_id, id_hashed=known) for known in (False, True)]
    erased = AuditEvent.objects.filter(action=ACTION, dataset_name=dataset.name, details__digest__in=digests)
    last = erased.order_by("-id").first()
    if last is None:
        raise UserError(f"{dataset.name} has no session of that id.")
    remove_traces(report_progress, deleted=True)
    raise UserError(
        f"That session was erased from {dataset.name} on {last.at:%-d %B %Y}; nothing is left of it."
    )


def list_recipients(dataset: Dataset, versions: list[str]) -> list[dict[str, Any]]:
    """Who was given one of these releases, or an export of the dataset: they hold a copy that nobody but
    they can delete. Newest first."""
    events = AuditEvent.objects.filter(dataset_name=dataset.name, action__in=["download", "export"])
    told = []
    for event in events.order_by("-id"):
        release = event.details.get("release")
        if release is None or release in versions:
            told.append({"at": event.at.isoformat(timespec="seconds"), "by": event.actor, "release": release})
    return told


# --- one session --------------------------------------------------------------------------------


def _refuse_unerasable(dataset: Dataset, job_run: JobRun | None) -> None:
    require_active(dataset)
    refuse_held(dataset)
    delete_contents.refuse_busy(dataset, job_run, "erase the session when that has ended.")


def _erase_one(
    session: Session, reason: str, actor: Any, job_run: JobRun | None, report_progress: ProgressCallback
) -> dict[str, Any]:
    dataset = session.dataset
    jobs = delete_contents.list_other_jobs(dataset, job_run)
    waiting = jobs.filter(state__in=["prepared", "queued"])
    deleted: Counter[str] = Counter()
    while True:
        waiting.update(
            state="cancelled", error="Its files were deleted as a session was erased; ask for it anew."
        )
        delete_contents.delete_files(jobs, deleted.update)
        erased = [session, *_find_label_sessions(session)]
        looked_at = _reissue_releases(erased, actor, report_progress)
        facts: dict[str, Any] | None = delete_contents.retry_transaction(
            partial(_delete_sessions, erased, reason, actor, job_run, Counter(deleted), looked_at)
        )
        if facts is not None:
            return facts


def _find_label_sessions(session: Session) -> list[Session]:
    """Sessions of the same dataset that were made for labels of this one, before it was stored."""
    matches = _session_matcher([session])
    keys = {key for hook in hooks.erasure_hooks for key in hook.find_sessions(session.dataset, matches)}
    return list(Session.objects.filter(pk__in=keys - {session.pk}).order_by("pk"))


def _session_matcher(sessions: list[Session]) -> Callable[[str], bool]:
    ids = [session.session_id for session in sessions]
    return lambda candidate: any(matches_session(session_id, candidate) for session_id in ids)


def _reissue_releases(sessions: list[Session], actor: Any, report_progress: ProgressCallback) -> set[int]:
    """Replace the releases that have any of the sessions; returns the keys of all that have none of them."""
    session, looked_at = sessions[0], set()
    for release in _list_releases(session.dataset):
        made = reissue_release(
            release,
            _session_matcher(sessions),
            actor=actor,
            reason=_destruction_reason(session),
            report_progress=report_progress,
        )
        looked_at.add(made.pk if made is not None else release.pk)
    files.destroy_orphans(session.dataset)
    return looked_at


def _destruction_reason(session: Session) -> str:
    """By which the replaced releases of one erasure are known, also to a run that goes on with it."""
    return f"erasure {digest_session_id(session.session_id, id_hashed=session.id_hashed)[:16]}"


def _delete_sessions(
    sessions: list[Session],
    reason: str,
    actor: Any,
    job_run: JobRun | None,
    deleted: Counter[str],
    looked_at: set[int],
) -> dict[str, Any] | None:
    """Rows, findings and the entry in the audit trail; None if a release or a file came meanwhile: releases
    that are large take their time."""
    session = sessions[0]
    dataset: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=session.dataset_id)
    _refuse_unerasable(dataset, job_run)
    if not {release.pk for release in _list_releases(dataset)} <= looked_at:
        return None
    if not set(_find_label_sessions(session)) <= set(sessions):
        return None
    jobs = delete_contents.list_other_jobs(dataset, job_run)
    if JobFile.objects.filter(job_run__in=jobs).exclude(file="").exists():
        return None
    words, also_in = _session_terms(sessions), _list_other_datasets(session)
    deleted.update(delete_contents.delete_reports(dataset))
    for hook in hooks.erasure_hooks:
        deleted.update(hook.delete(dataset, _session_matcher([session])))
    deleted.update(delete_contents.delete_sessions([one.pk for one in sessions]))
    _redact_jobs(dataset, [one.session_id for one in sessions], words, job_run)
    dataset.session_count -= deleted["sessions"]
    dataset.turn_count -= deleted["turns"]
    dataset.save(update_fields=["session_count", "turn_count", "updated_at"])
    replaced = Release.objects.filter(dataset=dataset, destroyed_reason=_destruction_reason(session))
    # A field that only this session had.
    replaced.update(fields=[])
    versions = [release.version for release in replaced.order_by("major", "minor", "patch")]
    facts = {
        "deleted": {kind: count for kind, count in sorted(deleted.items()) if count},
        "releases": versions,
    }
    if deleted["sessions"]:
        digest = digest_session_id(session.session_id, id_hashed=session.id_hashed)
        audit.record(ACTION, actor=actor, dataset_name=dataset.name, digest=digest, reason=reason, **facts)
    handed = list_recipients(dataset, versions)
    erased = {"dataset": dataset.name, **facts, "handed_out": handed, "also_in": also_in}
    if job_run is not None:
        _save_erased(job_run, erased)
    return erased


def _session_terms(sessions: list[Session]) -> set[str]:
    """What jobs are asked for sessions by, beside their ids: its persona, its tags."""
    tags = Turn.objects.filter(session__in=sessions).values_list("tags", flat=True)
    personas = (session.persona_id for session in sessions)
    return {word for word in (*personas, *chain.from_iterable(tags)) if word}


def _redact_jobs(dataset: Dataset, session_ids: list[str], words: set[str], job_run: JobRun | None) -> None:
    """Results tell of sessions by their ids (problems, pairs that are alike): of results that do, the
    numbers stay. What was asked for stays unless it names the session, or what it was found by."""
    written = [json.dumps(session_id, ensure_ascii=False)[1:-1] for session_id in session_ids]
    jobs = delete_contents.list_other_jobs(dataset, job_run)
    for job in jobs.iterator(500):
        result = _keep_numbers(job.result) if isinstance(job.result, dict) else None
        asked = json.dumps(job.parameters, ensure_ascii=False)
        named = any(one in asked for one in written) or not words.isdisjoint(
            map(str, job.parameters.values())
        )
        parameters = _keep_numbers(job.parameters) if named else job.parameters
        error = "" if any(word in job.error for word in (*session_ids, *words)) else job.error
        if (result, parameters, error) != (job.result, job.parameters, job.error):
            JobRun.objects.filter(pk=job.pk).update(result=result, parameters=parameters, error=error)


def _keep_numbers(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if isinstance(value, int | float)}


# --- what is told -------------------------------------------------------------------------------


def _list_releases(dataset: Dataset) -> list[Release]:
    rows = Release.objects.filter(dataset=dataset, destroyed_at=None)
    return list(rows.order_by("major", "minor", "patch"))


def _contains_session(release: Release, sessions: list[Session]) -> bool:
    """Whether the release's data file has one of the sessions; reads it up to there."""
    matches = _session_matcher(sessions)
    asked = None
    for line in read_release_lines(release):
        candidate = json.loads(line)["session_id"]
        if candidate != asked and matches(candidate):
            return True
        asked = candidate
    return False


def _count_related_rows(sessions: list[Session]) -> dict[str, int]:
    counts: Counter[str] = Counter(scrub_findings=ScrubFinding.objects.filter(session__in=sessions).count())
    for hook in hooks.deletion_hooks:
        counts.update(hook.count(sessions[0].dataset, [session.pk for session in sessions]))
    return {kind: count for kind, count in counts.items() if count}


def _possible_ids(session_id: str) -> list[str]:
    return [session_id, hash_session_id(session_id, hash_key())]


def _list_other_datasets(session: Session) -> list[str]:
    copies = find_copies(session).exclude(dataset=session.dataset_id)
    return sorted(set(copies.values_list("dataset__name", flat=True)))


def _sum_results(results: list[dict[str, Any]]) -> dict[str, Any]:
    deleted: Counter[str] = Counter()
    for result in results:
        deleted.update(result["deleted"])
    gone = [result["dataset"] for result in results]
    return {
        **dict(sorted(deleted.items())),
        "erased_from": gone,
        "releases": {result["dataset"]: result["releases"] for result in results if result["releases"]},
        "handed_out": [
            {"dataset": result["dataset"], **told} for result in results for told in result["handed_out"]
        ],
        "also_in": sorted({name for result in results for name in result["also_in"]} - set(gone)),
    }


def _finish_erasure(results: list[dict[str, Any]], report_progress: ProgressCallback) -> dict[str, Any]:
    """What came of all of them, when nothing is left of the rows on the disk either."""
    facts = _sum_results(results)
    traces = remove_traces(report_progress, deleted=True)
    return facts | ({"traces": traces} if traces else {})


def _load_erased(job_run: JobRun | None) -> list[dict[str, Any]]:
    """What this job has erased before its worker died."""
    return list(job_run.parameters.get(_ERASED_KEY) or []) if job_run is not None else []


def _save_erased(job_run: JobRun, erased: dict[str, Any]) -> None:
    """In the transaction that erases it: neither is known without the other."""
    parameters = JobRun.objects.values_list("parameters", flat=True).get(pk=job_run.pk)
    told = {**parameters, _ERASED_KEY: [*(parameters.get(_ERASED_KEY) or []), erased]}
    JobRun.objects.filter(pk=job_run.pk).update(parameters=told)
