"""Replaces personal data in a dataset, or previews it. Can be killed at any time and resumed."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache, partial
from typing import Any

from django.db import OperationalError, transaction
from django.utils import timezone

from datasets_app.catalog import gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.rows.partitions import list_tables
from datasets_app.catalog.scrubbers import apply_marks, make_scrubber
from datasets_app.catalog.text_scans import record_text_change
from datasets_app.core.disk_space import require_room_to_rewrite
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.purge import remove_traces
from datasets_app.core.queries import execute
from datasets_app.domain.pii import session_ids
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.models import Dataset, JobRun, ScrubChunk, ScrubRun
from datasets_app.scrubbing import chunks as scrub_chunks
from datasets_app.scrubbing.chunks import PatternMatchesRemain
from datasets_app.scrubbing.complete import complete_scrub, covers_all_kinds
from datasets_app.scrubbing.proposals import find_proposals
from datasets_app.scrubbing.verify import verify_scrub

# Imports lock the dataset's row while they write; everything else only for a moment.
LOCK_TIMEOUT = timedelta(seconds=5)
# PostgreSQL's code for it.
_LOCK_TIMED_OUT = "55P03"

# Called with the scrub and the number of its open chunks; starts jobs that let other workers help.
StartHelpers = Callable[[ScrubRun, int], None]


def scrub_dataset(
    dataset: Dataset,
    policy: Policy,
    *,
    actor: Any = None,
    dry_run: bool = False,
    sample: int | None = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
    start_helpers: StartHelpers = lambda scrub, chunks: None,
) -> dict[str, Any]:
    """Scrub every session of ``dataset`` in place, or with ``dry_run`` only store findings, for all sessions
    or for a random ``sample`` of them.

    Don't call it in a transaction: each chunk is committed. A scrub that was canceled, failed or killed
    resumes when the same job or the same policy runs again. Progress is in turns. Raises UserError; each turn
    is then either unchanged or scrubbed.
    """
    # Raises UserError for an invalid policy before anything is created.
    scrubber = make_scrubber(policy, dataset)
    if finished := _find_finished(job_run):
        return _build_result(finished, Policy.from_json(finished.policy))
    scrub = _prepare_scrub(dataset, scrubber, dry_run=dry_run, sample=sample, job_run=job_run)
    policy = Policy.from_json(scrub.policy)
    if scrub.verified_at is None:
        make = cache(partial(make_scrubber, policy, dataset))
        _run_scrub(scrub, make, actor, report_progress, start_helpers)
    if not scrub.dry_run:
        scrub.traces = remove_traces(
            lambda *_: report_progress(scrub.turn_count, scrub.turn_count),
            partitions=list_tables([scrub.dataset_id]),
        )
    scrub.finished_at = timezone.now()
    scrub.save(update_fields=["traces", "finished_at"])
    _finish_idle_helpers(scrub)
    return _build_result(scrub, policy)


def scrub_part(scrub_pk: int, *, report_progress: ProgressCallback = ignore_progress) -> dict[str, Any]:
    """Help with a running scrub: process chunks until none is left; returns how many.

    An error is stored with the scrub, and the job that started it reports it.
    """
    scrub = ScrubRun.objects.filter(pk=scrub_pk, finished_at=None, error="").first()
    if scrub is None:
        return {"chunks": 0}
    make = partial(make_scrubber, Policy.from_json(scrub.policy), scrub.dataset)
    try:
        return {"chunks": scrub_chunks.process_chunks(scrub, make, report_progress)}
    except PatternMatchesRemain as found:
        ScrubRun.objects.filter(pk=scrub_pk).update(error=str(found))
        return {"chunks": 0}


def parse_policy(value: Any) -> Policy:
    """The policy that a job's row keeps, or the default. Raises UserError."""
    try:
        return Policy.from_json(value or {})
    except (PolicyError, TypeError, ValueError) as error:
        said = str(error) if isinstance(error, PolicyError) else "What is to be scrubbed can't be understood."
        raise UserError(said) from None


# --- preparing ---------------------------------------------------------------------------------------


def _prepare_scrub(
    dataset: Dataset, scrubber: Scrubber, *, dry_run: bool, sample: int | None, job_run: JobRun | None
) -> ScrubRun:
    """The scrub to resume, or a new one, with chunks for all sessions that are not in one yet."""
    if sample is not None and (sample < 1 or not dry_run):
        raise UserError("A sample needs at least one session and works only with a preview.")
    if not dry_run:
        require_room_to_rewrite(list_tables([dataset.pk]))
    try:
        with transaction.atomic():
            set_lock_timeout(LOCK_TIMEOUT)
            lock_dataset(dataset.pk)
            gates.check_can_use(dataset)
            scrub = _find_unfinished(dataset, scrubber, job_run) or _find_resumable(
                dataset, scrubber, dry_run, sample, job_run
            )
            scrub = scrub or _create_scrub(dataset, scrubber, dry_run=dry_run, sample=sample, job_run=job_run)
            if scrub.verified_at is None and not dry_run:
                record_text_change(dataset)
            if scrub.verified_at is None and scrub.sample is None:
                scrub_chunks.make_chunks(scrub)
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) == _LOCK_TIMED_OUT:
            raise UserError(
                f"An import into {dataset.name} is running. Start the scrub when it has finished."
            ) from None
        raise
    if not dry_run:
        _refuse_concurrent_jobs(dataset, scrub)
    return scrub


def set_lock_timeout(limit: timedelta) -> None:
    """For the rest of the transaction, fail if a lock takes longer than ``limit``."""
    execute("SELECT set_config('lock_timeout', %s, true)", [f"{limit.total_seconds() * 1000:.0f}"])


def _find_finished(job_run: JobRun | None) -> ScrubRun | None:
    """A scrub that this job has finished, in case its worker died before the job ended."""
    if job_run is None:
        return None
    scrub = ScrubRun.objects.filter(job_run=job_run).exclude(finished_at=None).first()
    if scrub and not scrub.dry_run and scrub.dataset.sessions.filter(pk__gt=scrub.last_session).exists():
        return None  # the job itself has added sessions since
    return scrub


def _find_unfinished(dataset: Dataset, scrubber: Scrubber, job_run: JobRun | None) -> ScrubRun | None:
    """The unfinished scrub of the same job, which was killed, canceled or failed.

    None if the key has changed since, because ids must not be hashed with two keys.
    """
    if job_run is None:
        return None
    mine = ScrubRun.objects.filter(dataset=dataset, job_run=job_run, finished_at=None)
    scrub = mine.filter(key_fingerprint=session_ids.fingerprint_key(scrubber.key)).first()
    return _resume_scrub(scrub, job_run) if scrub else None


def _find_resumable(
    dataset: Dataset, scrubber: Scrubber, dry_run: bool, sample: int | None, job_run: JobRun | None
) -> ScrubRun | None:
    """The unfinished scrub of an earlier job with the same policy. Deletes all other unfinished ones."""
    others = ScrubRun.objects.filter(dataset=dataset)
    # The facts of a dataset name the same scrub (``fact_rows``).
    jobs = JobRun.objects.active().filter(operation="scrub_dataset")
    active = others.filter(finished_at=None, job_run__in=jobs).exclude(job_run=job_run).first()
    if active is not None:
        raise UserError(f"{active} of {dataset.name} is already running (job {active.job_run_id}).")
    if not dry_run:
        gates.check_can_scrub(dataset, job_run)
    policy = apply_marks(dataset, scrubber.policy)
    unfinished = others.filter(dry_run=False, verified_at=None)
    resumable = unfinished.filter(key_fingerprint=session_ids.fingerprint_key(scrubber.key)).order_by("-pk")
    alike = (run for run in resumable if Policy.from_json(run.policy) == policy)
    same = None if dry_run else next(alike, None)
    # A preview's positions refer to raw text, so a scrub or another preview makes them obsolete.
    obsolete = others.filter(dry_run=True)
    if not dry_run:
        obsolete = obsolete | (unfinished.exclude(pk=same.pk) if same else unfinished)
    # Wait for workers that are still processing one of their chunks.
    list(ScrubChunk.objects.filter(scrub__in=obsolete).select_for_update().values_list("pk"))
    for scrub in obsolete:
        scrub.delete()
    return _resume_scrub(same, job_run) if same else None


def _resume_scrub(scrub: ScrubRun, job_run: JobRun | None) -> ScrubRun:
    if scrub.verification and scrub.verified_at is None:
        # The verification found remaining values, so all chunks are processed again.
        scrub.chunks.update(done=False)
        scrub.verification = None
    scrub.job_run, scrub.error = job_run, ""
    scrub.save(update_fields=["job_run", "error", "verification"])
    return scrub


def _create_scrub(
    dataset: Dataset, scrubber: Scrubber, *, dry_run: bool, sample: int | None, job_run: JobRun | None
) -> ScrubRun:
    scrub = ScrubRun.objects.create(
        dataset=dataset,
        job_run=job_run,
        dry_run=dry_run,
        sample=sample,
        policy=apply_marks(dataset, scrubber.policy).as_json(),
        key_fingerprint=session_ids.fingerprint_key(scrubber.key),
    )
    if sample is not None:
        scrub_chunks.make_chunks(scrub, seed=scrubber.policy.seed or 0)
    return scrub


def _refuse_concurrent_jobs(dataset: Dataset, scrub: ScrubRun) -> None:
    """Check again for an export or a check that started before it could see this scrub."""
    try:
        gates.check_can_scrub(dataset, scrub.job_run)
    except UserError:
        if not scrub.chunks.filter(done=True).exists():
            scrub.delete()
        raise


# --- scrubbing ---------------------------------------------------------------------------------------


def _run_scrub(
    scrub: ScrubRun,
    make: Callable[[], Scrubber],
    actor: Any,
    report_progress: ProgressCallback,
    start_helpers: StartHelpers,
) -> None:
    while True:
        left = scrub_chunks.count_progress(scrub)[1]
        if left > 1:
            start_helpers(scrub, left)
        _process_all_chunks(scrub, make, report_progress)
        scrub.totals, scrub.changed_turns = scrub_chunks.sum_totals(scrub)
        if scrub.dry_run:
            scrub.proposals = find_proposals(scrub)
            scrub.save(update_fields=["totals", "changed_turns", "proposals"])
            return
        if _verify_and_complete(scrub, make(), actor, report_progress):
            return
        with transaction.atomic():
            scrub_chunks.make_chunks(scrub)  # for sessions added meanwhile


def _process_all_chunks(
    scrub: ScrubRun, make: Callable[[], Scrubber], report_progress: ProgressCallback
) -> None:
    """Return when this and other workers have processed every chunk."""
    while True:
        try:
            scrub_chunks.process_chunks(scrub, make, report_progress)
        except PatternMatchesRemain as found:
            raise _record_stop(scrub, str(found)) from None
        if error := ScrubRun.objects.values_list("error", flat=True).get(pk=scrub.pk):
            raise UserError(error)
        if scrub_chunks.wait_for_others(scrub, report_progress):
            return
        if JobRun.objects.filter(scrubs=scrub, state__in=JobRun.FINISHED).exists():
            raise UserError("The job of this scrub has ended. Start the scrub again to resume it.")


def _verify_and_complete(
    scrub: ScrubRun, scrubber: Scrubber, actor: Any, report_progress: ProgressCallback
) -> bool:
    verification = verify_scrub(scrub.dataset, scrubber, report_progress)
    if verification["remaining"]:
        scrub.verification = verification
        scrub.save(update_fields=["verification", "totals", "changed_turns"])
        sentence = scrub_chunks.describe_remaining(verification["remaining"], verification["places"])
        raise _record_stop(scrub, sentence)
    return complete_scrub(scrub, scrubber, verification, actor=actor)


def _finish_idle_helpers(scrub: ScrubRun) -> None:
    """End the jobs of helpers that no worker has started yet."""
    waiting = JobRun.objects.filter(operation="scrub_part", parameters__scrub=scrub.pk, state="queued")
    waiting.update(state="done", finished_at=timezone.now(), result={"chunks": 0})


def _record_stop(scrub: ScrubRun, sentence: str) -> UserError:
    ScrubRun.objects.filter(pk=scrub.pk).update(error=sentence)
    return UserError(sentence)


def _build_result(scrub: ScrubRun, policy: Policy) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "scrub": scrub.pk,
        "sessions": scrub.session_count,
        "turns": scrub.turn_count,
        "changed_turns": scrub.changed_turns,
        "findings": scrub.finding_count,
        "totals": scrub.totals,
    }
    if scrub.dry_run:
        return facts | {"dry_run": True}
    facts["turns_verified"] = (scrub.verification or {}).get("turns", 0)
    if scrub.traces:
        facts["traces"] = scrub.traces
    if not covers_all_kinds(policy):
        facts["notice"] = "Some types were not selected, so this scrub does not mark the dataset as scrubbed."
    return facts
