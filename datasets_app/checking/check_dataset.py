"""Runs all checks on a dataset and stores a report."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Q

from datasets_app.catalog import gates
from datasets_app.catalog.rows.turn_reader import read_turns
from datasets_app.catalog.searching import open_searching
from datasets_app.catalog.text_scans import (
    list_exemptions,
    load_kept_terms,
    record_check,
    start_scan,
)
from datasets_app.core import audit, outgoing
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.records import Finding, TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.quality.checks import TURN_CHECKS
from datasets_app.domain.quality.output import Totals
from datasets_app.domain.quality.runner import run_checks, run_metadata_checks
from datasets_app.domain.quality.text_tally import TextTally, count_found
from datasets_app.domain.quality.w406_names import make_names_check
from datasets_app.models import AuditEvent, CheckFinding, CheckReport, Dataset, JobRun, ScrubRun, Session
from datasets_app.models.check_report import OUTDATING_ACTIONS, TEXT_PRESERVING_ACTIONS

MAX_FINDINGS_PER_CODE = 500
PROGRESS_INTERVAL_TURNS = 1000
ROW_BATCH_SIZE = 1000


def check_dataset(
    dataset: Dataset,
    *,
    actor: Any,
    name_models: Sequence[str] = (),
    report_progress: ProgressCallback = ignore_progress,
    job_run: JobRun | None = None,
) -> CheckReport:
    """Check every turn and the dataset's metadata.

    The report has complete totals and the first findings of each code. ``name_models`` also search for
    names of people. Saves nothing if ``report_progress`` raises.
    """
    gates.check_can_copy(dataset)
    start, kept_terms = start_scan(dataset), load_kept_terms(dataset)
    tally = TextTally(list_exemptions(dataset))
    names = (make_names_check(name_models, kept_terms),) if name_models else ()
    totals = Totals()
    kept: list[Finding] = []
    with open_searching(dataset.turn_count) as search_batches:
        turns, exempt = tally.count_terms(_read_turns(dataset, report_progress)), AllowList(kept_terms.values)
        findings = run_checks(turns, (*TURN_CHECKS, *names), exempt, search_batches=search_batches)
        for finding in chain(run_metadata_checks(dataset_metadata(dataset)), findings):
            totals[finding.code] += 1
            if totals[finding.code] <= MAX_FINDINGS_PER_CODE:
                kept.append(finding)
    with transaction.atomic():
        report = CheckReport.objects.create(
            dataset=dataset,
            job_run=job_run,
            turn_count=tally.turn_count,
            error_count=totals.errors,
            warning_count=totals.warnings,
            totals=dict(sorted(totals.items())),
            names_looked_for=bool(name_models),
        )
        _save_findings(report, dataset, kept)
        record_check(
            dataset,
            start,
            turn_count=tally.turn_count,
            found=count_found(totals),
            exempt=tally.exempt,
            names_searched=bool(name_models),
        )
        _record_report(report, dataset, actor)
    return report


def _record_report(report: CheckReport, dataset: Dataset, actor: Any) -> None:
    audit.record(
        "check",
        actor=actor,
        dataset_name=dataset.name,
        turns=report.turn_count,
        errors=report.error_count,
        warnings=report.warning_count,
        text=gates.load_facts(dataset).description,
    )
    outgoing.emit(
        outgoing.Kind.CHECK_FINISHED,
        dataset=dataset,
        recipients=[actor],
        turns=report.turn_count,
        errors=report.error_count,
        warnings=report.warning_count,
    )


def dataset_metadata(dataset: Dataset) -> DatasetMetadata:
    """The dataset's own fields as file metadata."""
    generator = dataset.provenance.get("generator")
    return DatasetMetadata(
        name=dataset.name,
        license=dataset.license.strip() or None,
        source=dataset.source.strip() or None,
        attribution=dataset.attribution.strip() or None,
        generator=str(generator) if generator else None,
    )


def current_report(dataset: Dataset) -> CheckReport | None:
    """The latest report, unless the turns have changed since."""
    return _find_report(dataset, OUTDATING_ACTIONS)


def report_of_texts(dataset: Dataset) -> CheckReport | None:
    """The latest report, unless the texts have changed since; tags and terms to keep may have."""
    return _find_report(dataset, [name for name in OUTDATING_ACTIONS if name not in TEXT_PRESERVING_ACTIONS])


def _find_report(dataset: Dataset, outdated_by: Sequence[str]) -> CheckReport | None:
    report = CheckReport.objects.filter(dataset=dataset).first()
    if report is None or is_scrubbed_since(report):
        return None
    if not Dataset.objects.filter(pk=dataset.pk, turn_count=report.turn_count).exists():
        return None
    # The comparison of turn counts above finds changes that were running when the checks started.
    changed = AuditEvent.objects.filter(
        dataset_name=dataset.name, action__in=outdated_by, at__gt=report.created_at
    )
    return None if changed.exists() else report


def why_outdated(report: CheckReport, dataset: Dataset) -> str:
    """What happened since a report, if it is no longer about the text as it is; else empty."""
    if is_scrubbed_since(report):
        return "the dataset was scrubbed since"
    return "" if current_report(dataset) == report else "the dataset has changed since"


def is_scrubbed_since(report: CheckReport) -> bool:
    """Whether a scrub has changed the text that the report is about."""
    scrubs = ScrubRun.objects.filter(dataset=report.dataset_id, dry_run=False)
    return scrubs.filter(Q(verified_at__gt=report.created_at) | Q(verified_at=None)).exists()


def _read_turns(dataset: Dataset, report_progress: ProgressCallback) -> Iterator[TurnRecord]:
    done = 0
    for done, turn in enumerate(read_turns(dataset), 1):
        yield turn
        if done % PROGRESS_INTERVAL_TURNS == 0:
            report_progress(done, max(dataset.turn_count, done))
    report_progress(done, done)


def _save_findings(report: CheckReport, dataset: Dataset, findings: list[Finding]) -> None:
    field_length = CheckFinding._meta.get_field("field").max_length
    for batch in batched(findings, ROW_BATCH_SIZE):
        sessions = _session_keys(dataset, batch)
        CheckFinding.objects.bulk_create(
            CheckFinding(
                report=report,
                code=finding.code,
                message=finding.message,
                session_id=sessions.get(finding.session_id or ""),
                turn_index=finding.turn_index,
                field=(finding.field or "")[:field_length],
            )
            for finding in batch
        )


def _session_keys(dataset: Dataset, findings: list[Finding]) -> dict[str, int]:
    wanted = {finding.session_id for finding in findings if finding.session_id is not None}
    rows = Session.objects.filter(dataset=dataset, session_id__in=wanted)
    return dict(rows.values_list("session_id", "pk"))
