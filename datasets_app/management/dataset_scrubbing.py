"""sanitize_dataset on a dataset: scrubbed in place, by this process and whatever workers there are."""

import json
from typing import Any

from django.core.management.base import CommandError

from datasets_app.core.errors import UserError
from datasets_app.domain.pii.batches import MAX_PLACES_LISTED
from datasets_app.domain.pii.policy import Policy
from datasets_app.management import terminal
from datasets_app.management.files import open_output
from datasets_app.management.terminal import EXIT_FINDINGS, command_error, pluralize
from datasets_app.scrubbing.report import build_dataset_report

FILE_ONLY_OPTIONS = ("out", "persona", "processes")


def run(options: dict[str, Any], policy: Policy, stdout: Any, stderr: Any) -> None:
    from datasets_app.catalog.facts import get_dataset
    from datasets_app.models import ScrubRun

    for name in FILE_ONLY_OPTIONS:
        if options[name]:
            raise command_error(f"--{name} is for files; a dataset is scrubbed in place, with its personas.")
    dataset, dry_run = get_dataset(options["dataset"]), options["dry_run"]
    try:
        facts = _run_scrub(dataset, policy, dry_run=dry_run)
    except UserError as refusal:
        stopped = ScrubRun.objects.filter(dataset=dataset, error=refusal.message).order_by("-pk").first()
        if stopped is None:
            raise
        _write_report(options, stopped, stdout)
        raise CommandError(refusal.message, returncode=EXIT_FINDINGS) from None
    scrub = ScrubRun.objects.get(pk=facts["scrub"])
    _write_report(options, scrub, stdout)
    if dry_run:
        _print_findings(scrub, stdout)
    for notice in (facts.get("notice"), *(facts.get("traces") or ())):
        if notice:
            stderr.write(str(notice))
    stdout.write(_format_summary(scrub))
    if not dry_run:
        stdout.write(f"Verified: nothing with a pattern is left in {dataset.name}.")
    elif scrub.totals:
        raise SystemExit(EXIT_FINDINGS)


def _run_scrub(dataset: Any, policy: Policy, *, dry_run: bool) -> dict[str, Any]:
    """As a job that a person started would, with a row of its own; workers that are idle help."""
    from datasets_app import tasks
    from datasets_app.jobs import runs
    from datasets_app.scrubbing.scrub_dataset import scrub_dataset

    progress = terminal.Progress("Looking through" if dry_run else "Scrubbing", "turns")
    try:
        facts: dict[str, Any] = runs.run_in_foreground_steps(
            "scrub_dataset",
            lambda row, report: scrub_dataset(
                dataset,
                policy,
                dry_run=dry_run,
                job_run=row,
                report_progress=report,
                start_helpers=tasks.start_helper_jobs,
            ),
            dataset_name=dataset.name,
            parameters={"policy": policy.as_json(), "dry_run": dry_run},
            report_progress=progress,
        )
    finally:
        progress.clear()
    return facts


def _format_summary(scrub: Any) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(scrub.totals.items()))
    found, changed = ("found", "would change") if scrub.dry_run else ("replaced", "changed")
    return (
        f"{pluralize(scrub.finding_count, 'value')} {found}{f' ({kinds})' if kinds else ''} in "
        f"{pluralize(scrub.turn_count, 'turn')}, {pluralize(scrub.session_count, 'session')}; "
        f"{pluralize(scrub.changed_turns, 'turn')} {changed}."
    )


def _print_findings(scrub: Any, stdout: Any) -> None:
    first = scrub.findings.order_by("id")[:MAX_PLACES_LISTED]
    for finding in first:
        turn = f" turn {finding.turn_index}" if finding.turn_index is not None else ""
        stdout.write(
            f"session #{finding.session_id}{turn}: {finding.kind} in {finding.field}, "
            f"column {finding.start + 1}, {pluralize(finding.length, 'character')}, score {finding.score:.2f}"
        )
    if (more := scrub.finding_count - len(first)) > 0:
        stdout.write(f"… and {more:,} more.")


def _write_report(options: dict[str, Any], scrub: Any, stdout: Any) -> None:
    if options["report"] is None:
        return
    with open_output(options["report"], stdout) as file:
        file.write(json.dumps(build_dataset_report(scrub), indent=2).encode() + b"\n")
