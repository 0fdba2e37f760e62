"""What a worker does for each operation: unpack the job's parameters, call the operation, keep its files."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser

from datasets_app.core.errors import UserError
from datasets_app.jobs import files, parameters, queue, runs
from datasets_app.jobs.registry import Operation, operations, task
from datasets_app.jobs.running import RunningJob
from datasets_app.models import JobRun, ScrubRun

# Only commands run it; its parameters are shown on the job's page.
operations["reapply_erasures"] = Operation(parameters.NoParameters, commits_itself=True)


@task(parameters.ImportParameters)
def import_dataset(job: RunningJob[parameters.ImportParameters]) -> dict[str, Any]:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.importing.import_options import read_import_options
    from datasets_app.importing.stated_origins import PreparedUpload

    upload = job.row.files.get(kind="upload")
    if not upload.file:
        raise UserError("The uploaded file has been deleted; upload it again.")
    options = job.parameters
    with files.work_folder(job.row) as folder:
        quarantine_dir = folder / "quarantine"
        quarantine_dir.mkdir()
        result = import_dataset(
            [ImportSource(files.get_local_path(upload, folder), upload.name)],
            name=job.row.dataset_name,
            origin=options.origin or None,
            options=read_import_options(options),
            quarantine_dir=quarantine_dir,
            upload=PreparedUpload(options.uploaded_by or "", options.prepared_origin),
            override=job.override,
            actor=job.actor,
            report_progress=job.report_progress,
        )
        files.store_files(job.row, "quarantine", sorted(quarantine_dir.iterdir()))
    # The dataset holds what was imported; the upload is one more copy of private text.
    files.discard_file(upload)
    runs.request_text_scan_of(result["dataset"], actor=job.actor)
    return result


@task(commits_itself=True)
def scan_text(job: RunningJob[parameters.NoParameters]) -> dict[str, Any]:
    from datasets_app.catalog.gates import scan_and_describe

    return {"text": scan_and_describe(job.dataset, job.report_progress)}


@task(parameters.ExportParameters)
def export_dataset(job: RunningJob[parameters.ExportParameters]) -> dict[str, Any]:
    from datasets_app.domain.metadata.metadata import metadata_path
    from datasets_app.releasing.sharing.export_request import export_to_folder

    with files.work_folder(job.row) as folder:
        path, facts = export_to_folder(
            job.dataset,
            folder,
            job.parameters,
            override=job.override,
            actor=job.actor,
            report_progress=job.report_progress,
        )
        files.store_files(job.row, "export", [path])
        if not job.parameters.package:
            files.store_files(job.row, "metadata", [metadata_path(path)])
    return facts


@task(parameters.SplitParameters)
def split_dataset(job: RunningJob[parameters.SplitParameters]) -> dict[str, Any]:
    from datasets_app.domain.splits.splits import SplitSettings
    from datasets_app.splitting.split_dataset import split_dataset

    options = job.parameters
    return split_dataset(
        job.dataset,
        SplitSettings.from_json(options.settings) if options.settings else None,
        resplit=options.again,
        override=job.override,
        actor=job.actor,
        report_progress=job.report_progress,
    ).facts()


@task()
def check_dataset(job: RunningJob[parameters.NoParameters]) -> dict[str, Any]:
    from datasets_app.checking.check_dataset import check_dataset

    report = check_dataset(
        job.dataset,
        actor=job.actor,
        name_models=settings.NAME_MODELS,
        report_progress=job.report_progress,
        job_run=job.row,
    )
    return {"report": report.pk, "errors": report.error_count, "warnings": report.warning_count}


@task(parameters.ScrubParameters, commits_itself=True)
def scrub_dataset(job: RunningJob[parameters.ScrubParameters]) -> dict[str, Any]:
    from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset

    options = job.parameters
    result = scrub_dataset(
        job.dataset,
        parse_policy(options.policy),
        actor=job.actor,
        dry_run=options.dry_run,
        sample=options.sample,
        job_run=job.row,
        report_progress=job.report_progress,
        start_helpers=start_helper_jobs,
    )
    if options.check:
        runs.start_follow_up("check_dataset", actor=job.actor, dataset=job.dataset)
    return result


@task(parameters.ScrubPartParameters, commits_itself=True)
def scrub_part(job: RunningJob[parameters.ScrubPartParameters]) -> dict[str, Any]:
    from datasets_app.scrubbing.scrub_part import scrub_part

    return scrub_part(job.parameters.scrub, report_progress=job.report_progress)


@task(parameters.CanaryParameters)
def canary_dataset(job: RunningJob[parameters.CanaryParameters]) -> dict[str, Any]:
    from datasets_app.scrubbing.canary_dataset import canary_dataset

    options = job.parameters
    return canary_dataset(
        job.dataset,
        count=options.count,
        seed=options.seed,
        limit=options.limit,
        report_progress=job.report_progress,
    ).facts(options.limit)


def start_helper_jobs(scrub: ScrubRun, chunks: int) -> None:
    """Start a job for each other worker, unless it has one from an earlier attempt."""
    existing = JobRun.objects.active().filter(operation="scrub_part", parameters__scrub=scrub.pk)
    missing = min(queue.worker_count() - 1, chunks - 1) - existing.count()
    actor = scrub.job_run.actor if scrub.job_run else None
    part = parameters.ScrubPartParameters(scrub=scrub.pk)
    for _ in range(missing):
        runs.start_follow_up("scrub_part", actor=actor, dataset=scrub.dataset, parameters=part)


@task(parameters.GenerationParameters, commits_itself=True)
def bootstrap_dataset(job: RunningJob[parameters.GenerationParameters]) -> dict[str, Any]:
    from datasets_app.generating.factory import OFFLINE, is_model

    generate = _generate_with_model if is_model(job.parameters.model or OFFLINE) else _generate_offline
    result = generate(job)
    runs.request_text_scan_of(job.row.dataset_name, actor=job.actor)
    return result


def _generate_offline(job: RunningJob[parameters.GenerationParameters]) -> dict[str, Any]:
    from datasets_app.catalog.personas import load_persona
    from datasets_app.generating import bootstrap_dataset as generation

    persona, persona_sha256 = load_persona(job.parameters.persona or "")
    writer = generation.make_offline_writer(persona)
    request = generation.build_request(job.parameters.request_options(), persona, writer)
    plan = generation.make_plan(request, writer, persona_sha256=persona_sha256)
    _keep_plan(job, plan.digest)
    return generation.bootstrap_dataset(
        job.row.dataset_name,
        plan,
        writer,
        provenance=generation.build_provenance(plan, writer, persona=persona, persona_sha256=persona_sha256),
        actor=job.actor,
        report_progress=job.report_progress,
    )


def _generate_with_model(job: RunningJob[parameters.GenerationParameters]) -> dict[str, Any]:
    """Whether the address may be called is checked again: much can have changed since the form."""
    from datasets_app.catalog.personas import load_persona
    from datasets_app.generating import bootstrap_by_model as by_model
    from datasets_app.generating import bootstrap_dataset as generation
    from datasets_app.generating.factory import ModelRequest, make_model_writer

    options = job.parameters
    persona, persona_sha256 = load_persona(options.persona or "")
    # A person whose account was deleted is not the command line.
    actor = job.actor or AnonymousUser()
    writer = make_model_writer(ModelRequest(**options.model_options()), actor=actor, persona=persona)
    request = generation.build_request(
        options.request_options(), persona, by_model.try_offline_writer(persona)
    )
    plan = generation.make_plan(request, writer, persona_sha256=persona_sha256)
    _keep_plan(job, plan.digest)
    return by_model.generate_dataset_with_model(
        job.row.dataset_name,
        plan,
        writer,
        provenance=lambda: generation.build_provenance(
            plan, writer, persona=persona, persona_sha256=persona_sha256
        ),
        resume=options.resume,
        actor=job.actor,
        job_run=job.row,
        report_progress=job.report_progress,
    )


def _keep_plan(job: RunningJob[parameters.GenerationParameters], digest: str) -> None:
    """A job that runs again resumes only if it would write the same: with another text of the persona, other
    prompts or another version of the writer it would begin anew and leave half of each."""
    if (job.parameters.plan or digest) != digest:
        raise UserError(
            "The persona or the writer has changed since this job began, so it can't resume. Start a new one."
        )
    job.update_parameters(plan=digest)


@task(parameters.ReleaseParameters)
def release_dataset(job: RunningJob[parameters.ReleaseParameters]) -> dict[str, Any]:
    from datasets_app.releasing.release_dataset import release_dataset

    with files.work_folder(job.row) as folder:
        return release_dataset(
            job.dataset,
            folder=folder,
            bump=job.parameters.bump or None,
            notes=job.parameters.notes or "",
            override=job.override,
            actor=job.actor,
            report_progress=job.report_progress,
        ).facts()


@task()
def verify_releases(job: RunningJob[parameters.NoParameters]) -> dict[str, Any]:
    from datasets_app.releasing.verify import verify_releases

    return verify_releases(job.row.dataset, actor=job.actor, report_progress=job.report_progress).facts()


@task(parameters.CompareParameters)
def compare_releases(job: RunningJob[parameters.CompareParameters]) -> dict[str, Any]:
    """Numbers, and a file of what has changed, without texts."""
    from datasets_app.releasing.compare import compare_releases, write_comparison
    from datasets_app.releasing.versions import find_release

    dataset, options = job.dataset, job.parameters
    before = find_release(dataset, options.before)
    after = find_release(dataset, options.after) if options.after else None
    compared = compare_releases(dataset, before, after, report_progress=job.report_progress)
    with files.work_folder(job.row) as folder:
        files.store_files(job.row, "export", [write_comparison(compared, dataset, folder)])
    counts = {name: count for name, count in compared.difference.counts_as_json().items() if name != "fields"}
    return {"proposed": compared.bump or "no new version", **counts}


@task(parameters.NightlyParameters, commits_itself=True)
def nightly(job: RunningJob[parameters.NightlyParameters]) -> dict[str, Any]:
    from datasets_app.nightly import run_nightly

    return run_nightly(job_run=job.row, report_progress=job.report_progress)


@task(parameters.RetentionParameters, commits_itself=True)
def apply_retention(job: RunningJob[parameters.RetentionParameters]) -> dict[str, Any]:
    from datasets_app.retention.apply import apply_retention

    return apply_retention(
        actor=job.actor,
        dataset=job.row.dataset,
        reason=job.parameters.reason,
        job_run=job.row,
        report_progress=job.report_progress,
    )


@task(parameters.EraseParameters, commits_itself=True)
def erase_session(job: RunningJob[parameters.EraseParameters]) -> dict[str, Any]:
    from datasets_app.retention.erase_session import erase_by_keys

    return erase_by_keys(
        job.parameters, actor=job.actor, job_run=job.row, report_progress=job.report_progress
    )


@task(parameters.AuditExportParameters)
def export_audit(job: RunningJob[parameters.AuditExportParameters]) -> dict[str, Any]:
    from datasets_app.auditing.events import AuditFilter
    from datasets_app.auditing.export_audit import export_audit

    options = job.parameters
    with files.work_folder(job.row) as folder:
        path = folder / f"audit-trail.{options.format}"
        with path.open("wb") as out:
            result = export_audit(
                out,
                AuditFilter(options.action, options.dataset, options.actor, options.since, options.until),
                format=options.format,
                actor=job.actor,
                report_progress=job.report_progress,
            )
        files.store_files(job.row, "export", [path])
    return result._asdict()


@task()
def verify_audit(job: RunningJob[parameters.NoParameters]) -> dict[str, Any]:
    """Fails, with the faults listed, if the audit log was tampered with."""
    from datasets_app.auditing.heads import verify_and_append_head

    verified = verify_and_append_head(report_progress=job.report_progress)
    if verified.fault_count:
        problems = [{"message": fault.message, "line": None, "code": ""} for fault in verified.faults]
        raise UserError(
            "The audit log was changed outside this application. See the problems below.",
            {"problems": problems, "problem_total": verified.fault_count},
        )
    return {"events": verified.events, "position": verified.head.position, "head": verified.head.digest}


# --- acts that pages perform at once, unless they wait for a second person ---------------------------------


@task(parameters.SignParameters)
def sign_review(job: RunningJob[parameters.SignParameters]) -> dict[str, Any]:
    from datasets_app.releasing.sharing.sign_review import ReviewedState, sign_review

    asked = job.parameters
    reviewed = ReviewedState(asked.last_session, asked.last_scrub)
    review = sign_review(
        job.dataset,
        statement=asked.statement,
        actor=job.actor,
        reviewed=reviewed,
        reviewed_at=job.row.created_at,
    )
    return {"signed_by": review.name}


@task(parameters.ActivationParameters)
def activate_retention(job: RunningJob[parameters.ActivationParameters]) -> dict[str, Any]:
    from datasets_app.models import RetentionPolicy
    from datasets_app.retention.activate import activate_retention

    asked = job.parameters
    policy = RetentionPolicy.objects.filter(pk=asked.policy).first()
    if policy is None:
        raise UserError("The rule was deleted since the request.")
    activate_retention([policy], expected_digest=asked.seen, actor=job.actor)
    return {"pattern": policy.pattern}


@task(parameters.OriginParameters)
def change_origin(job: RunningJob[parameters.OriginParameters]) -> dict[str, Any]:
    from datasets_app.catalog.edit import change_origin

    change_origin(job.dataset, job.parameters.origin, override=job.override, actor=job.actor)
    return {"origin": job.parameters.origin}


@task(parameters.AttestParameters)
def attest_dataset(job: RunningJob[parameters.AttestParameters]) -> dict[str, Any]:
    from datasets_app.catalog import gates

    last_session = job.parameters.last_session or 0
    if job.dataset.sessions.filter(pk__gt=last_session).exists():
        raise UserError(f"Sessions were added to {job.dataset.name} since the request. Request it again.")
    gates.attest(job.dataset, actor=job.actor, reason=job.override)
    return {}


@task(parameters.ExemptParameters)
def exempt_value(job: RunningJob[parameters.ExemptParameters]) -> dict[str, Any]:
    from datasets_app.models import ScrubFinding
    from datasets_app.scrubbing.marks import mark_not_personal

    findings = ScrubFinding.objects.filter(scrub__dataset=job.dataset).select_related("scrub")
    finding = findings.filter(pk=job.parameters.finding).first()
    if finding is None:
        raise UserError("The preview of the value was deleted. Preview the scrub and request it again.")
    mark_not_personal(job.dataset, finding=finding, actor=job.actor, override=job.override)
    return {}
