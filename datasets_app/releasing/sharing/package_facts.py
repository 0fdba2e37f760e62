"""What a package is to tell of a dataset, gathered: from the release's own papers, or as things stand."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any

from django.db.models import QuerySet

from datasets_app import hooks
from datasets_app.catalog import facts as dataset_facts
from datasets_app.catalog import policies
from datasets_app.checking.check_dataset import report_in_force
from datasets_app.domain.generation.offline import GENERATOR as OFFLINE_WRITER
from datasets_app.domain.metadata.metadata import DatasetMetadata, parse_metadata
from datasets_app.domain.packages.package import (
    JSONL,
    CheckFacts,
    LabelFacts,
    Package,
    ScrubFacts,
    SharingFact,
)
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, CheckReport, Dataset, Release, ReleaseFile, ScrubRun
from datasets_app.releasing import files
from datasets_app.releasing.gate import SCRUBBED
from datasets_app.releasing.sharing.checklist import SharingItem, sharing_list
from datasets_app.releasing.sharing.export_release import stored_blocks
from datasets_app.releasing.sharing.package_data import WrittenData

LANGUAGE = "language"


def facts_of_dataset(dataset: Dataset, written: WrittenData) -> Package:
    report = report_in_force(dataset)
    metadata = dataset_facts.metadata_of(dataset, sessions=0, turns=0, sha256="")
    done = metadata.modifications or ["No version has been released yet."]
    return _package(
        dataset,
        metadata,
        written,
        version=None,
        day=_day(metadata.created) or dataset.created_at.date().isoformat(),
        changelog="\n".join(["# Changelog", "", "## Unreleased", "", *(f"- {text}" for text in done), ""]),
        checks=_checks(report),
        scrubs=_scrubs(ScrubRun.objects.filter(dataset=dataset)) if policies.is_scrubbed(dataset) else [],
        sharing=_answers(sharing_list(dataset)),
    )


def facts_of_release(release: Release, written: WrittenData) -> Package:
    """Nothing of it depends on what has become of the dataset since, but for its labels."""
    stored = release.files
    others = stored.exclude(kind__in=[ReleaseFile.Kind.DATA, ReleaseFile.Kind.METADATA])
    return _package(
        release.dataset,
        parse_metadata(text_of(release, ReleaseFile.Kind.METADATA)),
        written,
        version=release.version,
        day=release.created_at.date().isoformat(),
        changelog=text_of(release, ReleaseFile.Kind.CHANGELOG),
        checks=_released_checks(release),
        scrubs=_scrubs_of(release),
        sharing=_answers(SharingItem(**item) for item in release.sharing),
        release_files=[file.name for file in others if file.kind != ReleaseFile.Kind.CHANGELOG],
    )


def _day(stated: str | None) -> str | None:
    """The day that a text begins with, as ISO 8601 has it; what people write may be anything."""
    try:
        return date.fromisoformat((stated or "")[:10]).isoformat()
    except ValueError:
        return None


def text_of(release: Release, kind: str) -> str:
    return b"".join(stored_blocks(files.file_of(release, kind))).decode()


def _package(dataset: Dataset, metadata: DatasetMetadata, written: WrittenData, **facts: Any) -> Package:
    counts = written.counts
    whole = [file for file in written.files if file.format == JSONL]
    metadata = replace(
        metadata,
        name=dataset.name,
        total_sessions=counts.sessions,
        total_turns=counts.turns,
        # Of several files none has the digest of all.
        sha256=whole[0].sha256 if len(whole) == 1 else None,
    )
    notices = list(written.notices)
    if not metadata.license:
        notices.append("No licence is stated for this dataset; Apache-2.0 is assumed.")
    language = metadata.extra.get(LANGUAGE)
    # The application's own phrases are English.
    if not language and metadata.generator == OFFLINE_WRITER:
        language = "en"
    return Package(
        metadata=metadata,
        origin=dataset.origin,
        files=written.files,
        counts=counts,
        language=str(language) if language else None,
        labels=_labels(dataset),
        notices=notices,
        **facts,
    )


def _labels(dataset: Dataset) -> LabelFacts | None:
    told = [facts for read in hooks.label_facts if (facts := read(dataset))]
    return told[0] if told else None


def _answers(items: Iterable[SharingItem]) -> list[SharingFact]:
    return [SharingFact(item.title, item.answer_words, item.reason) for item in items]


def _checks(report: CheckReport | None) -> CheckFacts | None:
    if report is None:
        return None
    return CheckFacts(report.error_count, report.warning_count, report.turn_count, dict(report.totals))


def _released_checks(release: Release) -> CheckFacts | None:
    said = release.checks
    if not said:
        return None
    return CheckFacts(
        int(said.get("errors") or 0),
        int(said.get("warnings") or 0),
        int(said.get("turns") or release.turn_count),
        dict(said.get("totals") or {}),
    )


def _scrubs_of(release: Release) -> list[ScrubFacts]:
    """Those that the lines of a release went through: none of what was released raw, by an override, nor any
    since, though an erasure may have had it made anew after them."""
    first = release
    while first.replaces is not None:
        first = first.replaces
    events = AuditEvent.objects.filter(
        action="release", dataset_name=release.dataset.name, details__release=first.version
    )
    if any(SCRUBBED in event.details.get("unmet", []) for event in events):
        return []
    return _scrubs(ScrubRun.objects.filter(dataset=release.dataset, verified_at__lte=first.created_at))


def _scrubs(runs: "QuerySet[ScrubRun]") -> list[ScrubFacts]:
    """Those that were verified, the oldest first."""
    return [
        ScrubFacts(
            run.verified_at.date().isoformat(),
            Policy.from_json(run.policy).as_words(),
            {kind: count for kind, count in sorted(run.totals.items()) if count},
            (run.verification or {}).get("turns", run.turn_count),
        )
        for run in runs.exclude(verified_at=None).order_by("pk")
        if run.verified_at
    ]
