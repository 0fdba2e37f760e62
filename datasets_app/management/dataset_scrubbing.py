"""sanitize_dataset on a dataset: scrubbed in place, by this process and whatever workers there are."""

import json
from typing import Any

from django.core.management.base import CommandError

from datasets_app.core.errors import Refused
from datasets_app.domain.pii.batches import PLACES_LISTED
from datasets_app.domain.pii.policy import Policy
from datasets_app.management import terminal
from datasets_app.management.files import output_file
from datasets_app.management.terminal import FINDINGS, could_not_run, counted
from datasets_app.scrubbing.report import report_of_dataset

FILES_ONLY = ("out", "persona", "processes")


def run(given: dict[str, Any], policy: Policy, stdout: Any, stderr: Any) -> None:
    from datasets_app.catalog.facts import dataset_named
    from datasets_app.models import ScrubRun

    for name in FILES_ONLY:
        if given[name]:
            raise could_not_run(f"--{name} is for files; a dataset is scrubbed in place, with its personas.")
    dataset, dry_run = dataset_named(given["dataset"]), given["dry_run"]
    try:
        facts = _scrub(dataset, policy, dry_run=dry_run)
    except Refused as refusal:
        stopped = ScrubRun.objects.filter(dataset=dataset, error=refusal.message).order_by("-pk").first()
        if stopped is None:
            raise
        _write_report(given, stopped, stdout)
        raise CommandError(refusal.message, returncode=FINDINGS) from None
    scrub = ScrubRun.objects.get(pk=facts["scrub"])
    _write_report(given, scrub, stdout)
    if dry_run:
        _tell_places(scrub, stdout)
    for notice in (facts.get("notice"), *(facts.get("traces") or ())):
        if notice:
            stderr.write(str(notice))
    stdout.write(_summary(scrub))
    if not dry_run:
        stdout.write(f"Verified: nothing with a pattern is left in {dataset.name}.")
    elif scrub.totals:
        raise SystemExit(FINDINGS)


def _scrub(dataset: Any, policy: Policy, *, dry_run: bool) -> dict[str, Any]:
    """As a job that a person started would, with a row of its own; workers that are idle help."""
    from datasets_app import tasks
    from datasets_app.jobs import runs
    from datasets_app.scrubbing.scrub_dataset import scrub_dataset

    progress = terminal.Progress("Looking through" if dry_run else "Scrubbing", "turns")
    try:
        facts: dict[str, Any] = runs.run_here_in_steps(
            "scrub_dataset",
            lambda row, report: scrub_dataset(
                dataset,
                policy,
                dry_run=dry_run,
                job_run=row,
                report_progress=report,
                call_for_help=tasks.call_for_help,
            ),
            dataset_name=dataset.name,
            parameters={"policy": policy.as_json(), "dry_run": dry_run},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return facts


def _summary(scrub: Any) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(scrub.totals.items()))
    found, changed = ("found", "would change") if scrub.dry_run else ("replaced", "changed")
    return (
        f"{counted(scrub.finding_count, 'value')} {found}{f' ({kinds})' if kinds else ''} in "
        f"{counted(scrub.turn_count, 'turn')}, {counted(scrub.session_count, 'session')}; "
        f"{counted(scrub.changed_turns, 'turn')} {changed}."
    )


def _tell_places(scrub: Any, stdout: Any) -> None:
    first = scrub.findings.order_by("id")[:PLACES_LISTED]
    for finding in first:
        turn = f" turn {finding.turn_index}" if finding.turn_index is not None else ""
        stdout.write(
            f"session #{finding.session_id}{turn}: {finding.kind} in {finding.field}, "
            f"column {finding.start + 1}, {counted(finding.length, 'character')}, score {finding.score:.2f}"
        )
    if (more := scrub.finding_count - len(first)) > 0:
        stdout.write(f"… and {more:,} more.")


def _write_report(given: dict[str, Any], scrub: Any, stdout: Any) -> None:
    if given["report"] is None:
        return
    with output_file(given["report"], stdout) as file:
        file.write(json.dumps(report_of_dataset(scrub), indent=2).encode() + b"\n")
