"""Gathers the contents of a package: from the documents of a release, or from the current dataset."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any

from django.db.models import QuerySet

from datasets_app import hooks
from datasets_app.catalog import facts as dataset_facts
from datasets_app.catalog import gates
from datasets_app.checking.check_dataset import current_report, is_scrubbed_since
from datasets_app.domain.generation.offline import GENERATOR as OFFLINE_WRITER
from datasets_app.domain.metadata.licenses import find_spdx_id
from datasets_app.domain.metadata.metadata import DatasetMetadata, parse_metadata
from datasets_app.domain.packages.package import (
    DEFAULT_LICENSE,
    JSONL,
    CheckSummary,
    Package,
    ScrubSummary,
    SharingAnswer,
)
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, CheckReport, Dataset, Release, ReleaseFile, ScrubRun
from datasets_app.releasing import files
from datasets_app.releasing.draft import add_quality
from datasets_app.releasing.readiness import SCRUBBED_TITLE
from datasets_app.releasing.sharing.checklist import ChecklistItem, build_checklist, build_release_checklist
from datasets_app.releasing.sharing.package_data import WrittenData

LANGUAGE_KEY = "language"


def gather_dataset_facts(dataset: Dataset, written: WrittenData) -> Package:
    report, facts = current_report(dataset), gates.load_facts(dataset)
    last = dataset.check_reports.first()
    metadata = written.terms.state(dataset_facts.build_metadata(dataset, sessions=0, turns=0, sha256=""))
    done = metadata.modifications or ["No version has been released yet."]
    return _build_package(
        dataset,
        metadata,
        written,
        version=None,
        day=_parse_day(metadata.created) or dataset.created_at.date().isoformat(),
        changelog="\n".join(["# Changelog", "", "## Unreleased", "", *(f"- {text}" for text in done), ""]),
        text_state=facts.description,
        checks=_check_facts(report),
        checks_outdated=bool(last and is_scrubbed_since(last)),
        scrubs=_scrub_facts(ScrubRun.objects.filter(dataset=dataset)) if not facts.is_raw else [],
        sharing=_sharing_facts(build_checklist(dataset)),
    )


def gather_release_facts(release: Release, written: WrittenData) -> Package:
    """Independent of later changes to the dataset, except for its labels and the signed legal review."""
    stored = release.files
    others = stored.exclude(kind__in=[ReleaseFile.Kind.DATA, ReleaseFile.Kind.METADATA])
    return _build_package(
        release.dataset,
        parse_metadata(read_file_text(release, ReleaseFile.Kind.METADATA)),
        written,
        version=release.version,
        day=release.created_at.date().isoformat(),
        changelog=read_file_text(release, ReleaseFile.Kind.CHANGELOG),
        text_state=str((release.checks or {}).get("text") or ""),
        checks=_release_check_facts(release),
        scrubs=_release_scrub_facts(release),
        sharing=_sharing_facts(build_release_checklist(release)),
        release_files=[file.name for file in others if file.kind != ReleaseFile.Kind.CHANGELOG],
    )


def _parse_day(stated: str | None) -> str | None:
    """The ISO 8601 date that a text begins with, if it does; people may write anything."""
    try:
        return date.fromisoformat((stated or "")[:10]).isoformat()
    except ValueError:
        return None


def read_file_text(release: Release, kind: str) -> str:
    return b"".join(files.read_verified_blocks(files.get_file(release, kind))).decode()


def _build_package(
    dataset: Dataset, metadata: DatasetMetadata, written: WrittenData, **facts: Any
) -> Package:
    counts, statement = written.counts, hooks.labels.build_quality_statement(dataset)
    if facts["version"] is None:
        # A release states what was known on its day.
        metadata = add_quality(metadata, statement)
    whole = [file for file in written.files if file.format == JSONL]
    notices, stated = list(written.notices), metadata.license
    metadata = replace(
        metadata,
        name=dataset.name,
        license=metadata.license or DEFAULT_LICENSE,
        total_sessions=counts.sessions,
        total_turns=counts.turns,
        # No digest covers several files.
        sha256=whole[0].sha256 if len(whole) == 1 else None,
    )
    if not stated:
        notices.append(f"This dataset states no license; {DEFAULT_LICENSE} is assumed.")
    elif find_spdx_id(stated) is None:
        notices.append(f"The license {stated} is no SPDX id that is known here, so LICENSE lacks its text.")
    language = metadata.extra.get(LANGUAGE_KEY)
    # The application's own phrases are English.
    if not language and metadata.generator == OFFLINE_WRITER:
        language = "en"
    return Package(
        metadata=metadata,
        origin=dataset.origin,
        files=written.files,
        counts=counts,
        language=str(language) if language else None,
        labels=hooks.labels.build_label_facts(dataset),
        quality=statement,
        notices=notices,
        **facts,
    )


def _sharing_facts(items: Iterable[ChecklistItem]) -> list[SharingAnswer]:
    return [SharingAnswer(item.title, item.answer_label, item.reason) for item in items]


def _check_facts(report: CheckReport | None) -> CheckSummary | None:
    if report is None:
        return None
    return CheckSummary(report.error_count, report.warning_count, report.turn_count, dict(report.totals))


def _release_check_facts(release: Release) -> CheckSummary | None:
    checks = release.checks
    if not checks:
        return None
    return CheckSummary(
        int(checks.get("errors") or 0),
        int(checks.get("warnings") or 0),
        int(checks.get("turns") or release.turn_count),
        dict(checks.get("totals") or {}),
    )


def _release_scrub_facts(release: Release) -> list[ScrubSummary]:
    """The scrubs that the lines of a release went through: none if it was released raw by an override, and
    none later than its first version, which an erasure may have replaced."""
    first = release
    while first.replaces is not None:
        first = first.replaces
    events = AuditEvent.objects.filter(
        action="release", dataset_name=release.dataset.name, details__release=first.version
    )
    if any(SCRUBBED_TITLE in event.details.get("unmet", []) for event in events):
        return []
    return _scrub_facts(ScrubRun.objects.filter(dataset=release.dataset, verified_at__lte=first.created_at))


def _scrub_facts(runs: QuerySet[ScrubRun]) -> list[ScrubSummary]:
    """The verified ones, oldest first."""
    return [
        ScrubSummary(
            run.verified_at.date().isoformat(),
            Policy.from_json(run.policy).describe(),
            {kind: count for kind, count in sorted(run.totals.items()) if count},
            (run.verification or {}).get("turns", run.turn_count),
        )
        for run in runs.exclude(verified_at=None).order_by("pk")
        if run.verified_at
    ]
