"""sanitize_dataset on a dataset: scrubbed in place, by this process and any idle workers."""

import json
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.dataset_facts import say_verified
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.batches import MAX_PLACES_LISTED
from datasets_app.domain.pii.custom_patterns import parse_pattern
from datasets_app.domain.pii.network.languages import say_languages
from datasets_app.domain.pii.pattern_kinds import find_pattern_kind
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS, Policy
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.files import open_output
from datasets_app.management.kept_terms import write_proposals
from datasets_app.management.terminal import command_error, print_limited
from datasets_app.models import Dataset, ScrubRun
from datasets_app.scrubbing.marks import keep_terms
from datasets_app.scrubbing.parameters import ScrubParameters
from datasets_app.scrubbing.pattern_counts import describe_matches
from datasets_app.scrubbing.proposals import list_proposals
from datasets_app.scrubbing.report import build_dataset_report
from datasets_app.scrubbing.tasks import scrub_dataset

FILE_ONLY_OPTIONS = ("out", "persona", "processes")


def run(options: dict[str, Any], policy: Policy, stdout: Any, stderr: Any) -> None:
    for name in FILE_ONLY_OPTIONS:
        if options[name]:
            raise command_error(
                f"--{name} is for files. A dataset is scrubbed in place, with its own personas; leave it out."
            )
    for term in policy.allow:
        if kind := find_pattern_kind(term):
            raise command_error(
                f"A value of --allow is one of the {KIND_DESCRIPTIONS[kind]} that a scrub replaces. To "
                "keep it in a dataset, exempt it with a reason: see exempt_term."
            )
    dataset, dry_run = get_dataset(options["dataset"]), options["dry_run"]
    for sentence in describe_matches(dataset, [parse_pattern(text) for text in options["pattern"]]):
        stdout.write(f"{sentence}.")
    if options["propose_terms"] is not None and not dry_run:
        raise command_error("--propose-terms goes with --dry-run: what a scrub has replaced can't be kept.")
    if not dry_run:
        # They count in every statement about the dataset from now on.
        keep_terms((*policy.allow, *policy.allow_names), dataset=dataset, actor=None)
        policy = replace(policy, allow=(), allow_names=())
    try:
        facts = _scrub(dataset, policy, dry_run=dry_run)
    except UserError as error:
        failed_run = ScrubRun.objects.filter(dataset=dataset, error=error.message).order_by("-pk").first()
        if failed_run is None:
            raise
        _write_report(options, failed_run)
        raise CommandError(error.message, returncode=EXIT_FINDINGS) from None
    scrub = ScrubRun.objects.get(pk=facts["scrub"])
    _write_report(options, scrub)
    if dry_run:
        _print_findings(scrub, stdout)
        _write_proposals(options, scrub, stdout)
    for notice in (facts.get("notice"), *(facts.get("traces") or ())):
        if notice:
            stderr.write(str(notice))
    stdout.write(_format_summary(scrub))
    if not dry_run:
        stdout.write(say_verified(gates.load_facts(dataset).verified_except, dataset.name))
        if languages := say_languages((scrub.verification or {}).get("languages"), policy.prefer):
            stdout.write(languages)
    elif scrub.totals:
        raise SystemExit(EXIT_FINDINGS)


def _scrub(dataset: Dataset, policy: Policy, *, dry_run: bool) -> dict[str, Any]:
    return run_job(
        "scrub_dataset",
        scrub_dataset,
        progress=Progress("Looking through" if dry_run else "Scrubbing", "turns"),
        dataset_name=dataset.name,
        parameters=ScrubParameters(policy=policy.as_json(), dry_run=dry_run),
    )


def _format_summary(scrub: ScrubRun) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(scrub.totals.items()))
    verb, turns_verb = ("found", "would change") if scrub.dry_run else ("replaced", "changed")
    return (
        f"{format_count(scrub.finding_count, 'value')} {verb}{f' ({kinds})' if kinds else ''} in "
        f"{format_count(scrub.turn_count, 'turn')}, {format_count(scrub.session_count, 'session')}; "
        f"{format_count(scrub.changed_turns, 'turn')} {turns_verb}."
    )


def _print_findings(scrub: ScrubRun, stdout: Any) -> None:
    lines = []
    for finding in scrub.findings.order_by("id")[:MAX_PLACES_LISTED]:
        turn = f" turn {finding.turn_index}" if finding.turn_index is not None else ""
        lines.append(
            f"session #{finding.session_id}{turn}: {finding.kind} in {finding.field}, column "
            f"{finding.start + 1}, {format_count(finding.length, 'character')}, score {finding.score:.2f}"
        )
    print_limited(lines, scrub.finding_count, stdout.write)


def _write_proposals(options: dict[str, Any], scrub: ScrubRun, stdout: Any) -> None:
    if options["propose_terms"] is None:
        return
    raw_access.record_access(scrub.dataset, None, place="sanitize_dataset", scrub=scrub.pk)
    proposals = [(each.snippet.value, each.counts) for each in list_proposals(scrub)]
    write_proposals(options["propose_terms"], proposals)
    stdout.write(f"{format_count(len(proposals), 'term')} proposed.")


def _write_report(options: dict[str, Any], scrub: ScrubRun) -> None:
    if options["report"] is None:
        return
    with open_output(options["report"]) as file:
        file.write(json.dumps(build_dataset_report(scrub), indent=2).encode() + b"\n")
