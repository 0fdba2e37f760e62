"""Checks, scrubs and splits: starting them, and what they found."""

from typing import Any

from ninja import Query, Router

from datasets_app.api.datasets import VIEW_DATASET, After, Limit
from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.problems import ApiError, check_form, not_found
from datasets_app.api.routing import get_dataset, make_page, page_latest, read_cursor, route
from datasets_app.api.schemas import CheckReportOut, FindingPage, ScrubIn, ScrubPage, SplitIn, SplitsOut
from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.rows.attach_sessions import attach_sessions
from datasets_app.checking.check_dataset import why_outdated
from datasets_app.domain.splits.splits import DEFAULT_RATIOS, SplitError, SplitSettings
from datasets_app.models import CheckFinding, ScrubRun
from datasets_app.scrubbing.forms import ScrubForm, initial_answers
from datasets_app.scrubbing.parameters import ScrubParameters
from datasets_app.scrubbing.report import policy_to_json
from datasets_app.scrubbing.scrub_dataset import parse_policy
from datasets_app.splitting.parameters import SplitParameters
from datasets_app.splitting.rows import count_splits

router = Router(tags=["Checks, scrubs and splits"])

VIEW_SCRUBS = (*VIEW_DATASET, "datasets_app.view_scrubrun")


@job_route(router, "/datasets/{name}/checks", needs=(*VIEW_DATASET, "datasets_app.check_dataset"))
def run_checks(request: Any, name: str) -> Any:
    return start_job(request, "check_dataset", get_dataset(request, name))


@route(router, "GET", "/datasets/{name}/checks/latest", CheckReportOut, needs=VIEW_DATASET)
def get_check_report(request: Any, name: str) -> Any:
    """The last report; 404 before the first."""
    dataset = get_dataset(request, name)
    report = dataset.check_reports.first()
    if report is None:
        raise not_found()
    report.outdated = why_outdated(report, dataset)
    return report


@route(router, "GET", "/datasets/{name}/checks/latest/findings", FindingPage, needs=VIEW_DATASET)
def list_findings(
    request: Any,
    name: str,
    code: str = Query("", pattern="^([EW][0-9]{3})?$"),
    after: str = After,
    limit: int = Limit,
) -> Any:
    """Of the last report, which keeps a few hundred of each code."""
    dataset = get_dataset(request, name)
    findings = CheckFinding.objects.filter(report=dataset.check_reports.first(), id__gt=read_cursor(after))
    rows = list((findings.filter(code=code) if code else findings).order_by("id")[: limit + 1])
    attach_sessions(dataset.pk, rows)
    withheld = not raw_access.may_read(request.person, dataset)
    page = make_page(rows, limit, lambda finding: _describe_finding(finding, withheld))
    if page["items"] and not withheld:
        raw_access.record_access(dataset, request.person, place="api checks", findings=len(page["items"]))
    return {**page, "withheld": withheld}


def _describe_finding(finding: Any, withheld: bool) -> CheckFinding:
    if withheld:
        finding.message = finding.field = None
    return finding


@job_route(router, "/datasets/{name}/scrubs", needs=(*VIEW_SCRUBS, "datasets_app.scrub_dataset"))
def create_scrub(request: Any, name: str, options: ScrubIn) -> Any:
    """Preview or scrub. A scrub replaces the text for good."""
    dataset = get_dataset(request, name)
    chosen = {
        "kinds": options.classes,
        "placeholders": options.placeholders,
        "prefer": options.prefer,
        "hash_session_ids": options.hash_session_ids,
        "timestamps": "drop" if options.drop_timestamps else "keep",
        "patterns": "\n".join(options.patterns),
        "sample": options.sample,
    }
    defaults = initial_answers(dataset, None)
    answers = defaults | {name: value for name, value in chosen.items() if value is not None}
    may_read = raw_access.may_read(request.person, dataset)
    if options.patterns and not may_read:
        raise ApiError(403, "forbidden", "Custom patterns take the permission to read raw text.")
    form = ScrubForm(answers, may_read=may_read)
    check_form(form)
    if not options.dry_run:
        gates.check_can_replace_text(dataset)
    parameters = ScrubParameters(
        policy=form.policy().as_json(),
        dry_run=options.dry_run,
        sample=form.cleaned_data["sample"] if options.dry_run else None,
        check=options.check and not options.dry_run,
    )
    return start_job(request, "scrub_dataset", dataset, parameters)


@route(router, "GET", "/datasets/{name}/scrubs", ScrubPage, needs=VIEW_SCRUBS)
def list_scrubs(request: Any, name: str, after: str = After, limit: int = Limit) -> Any:
    """Scrubs and previews, the latest first. They hold counts, never a value."""
    runs = ScrubRun.objects.filter(dataset=get_dataset(request, name))
    return page_latest(runs, after, limit, _describe_scrub)


def _describe_scrub(run: ScrubRun) -> ScrubRun:
    run.policy = policy_to_json(parse_policy(run.policy), run.key_fingerprint)
    return run


@job_route(router, "/datasets/{name}/splits", needs=(*VIEW_DATASET, "datasets_app.split_dataset"))
def create_split(request: Any, name: str, options: SplitIn) -> Any:
    """Split a dataset, or place the sessions added since. Splitting again takes an override."""
    dataset = get_dataset(request, name)
    settings = None
    if options.ratios and dataset.split_settings:
        raise ApiError(409, "already_split", f"{name} is already split. Split it again on its page.")
    if not dataset.split_settings:
        ratios = options.ratios or DEFAULT_RATIOS
        try:
            chosen = SplitSettings.parse(ratios, options.seed, options.stratify, options.similarity)
        except SplitError as error:
            raise ApiError(422, "invalid", str(error)) from None
        settings = chosen.as_json()
    return start_job(request, "split_dataset", dataset, SplitParameters(settings=settings))


@route(router, "GET", "/datasets/{name}/splits", SplitsOut, needs=VIEW_DATASET)
def get_splits(request: Any, name: str) -> Any:
    dataset = get_dataset(request, name)
    stored = dataset.split_settings or {}
    names = ("ratios", "seed", "stratify", "similarity", "at")
    return {
        "sessions": {split or "none": count for split, count in count_splits(dataset).items()},
        # The report beside them has tags and personas.
        "settings": {key: stored[key] for key in names if key in stored} or None,
    }
