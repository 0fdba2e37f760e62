"""Loads what :mod:`datasets_app.catalog.steps` decides by, for one dataset and one person."""

from typing import Any, NamedTuple

from django.contrib.auth.models import Group

from datasets_app import hooks
from datasets_app.catalog import gates, steps
from datasets_app.catalog.dataset_facts import DatasetFacts
from datasets_app.catalog.steps import Step, StepFacts
from datasets_app.checking.check_dataset import current_report, report_of_texts
from datasets_app.domain.quality.output import Totals
from datasets_app.domain.quality.personal_data_codes import CODE_BY_KIND
from datasets_app.models import AuditEvent, CheckReport, Dataset, Release, ScrubRun
from datasets_app.releasing.ask import list_requested
from datasets_app.releasing.readiness import Readiness
from datasets_app.releasing.sharing.checklist import current_review
from datasets_app.releasing.versions import latest_release

# What hands a version to somebody.
_SHARING_ACTIONS = ("export", "download")
# What changes the turns that the next version has. An erasure replaces the versions itself.
_RELEASE_CHANGING_ACTIONS = (
    "import",
    "generate",
    "sample",
    "tag_sessions",
    "untag_sessions",
    "exclude_sessions",
    "include_sessions",
    "split",
)
# What the page of a step takes.
_VIEW_PERMISSIONS = {"scrub": "datasets_app.view_scrubrun", "release": "datasets_app.view_release"}


class NextSteps(NamedTuple):
    """``next`` is the step this person may take, or None; ``waiting`` are those that someone else has to."""

    facts: DatasetFacts
    all: list[Step]
    next: Step | None
    waiting: list[Step]


def find_next_steps(dataset: Dataset, user: Any) -> NextSteps:
    """The steps of a dataset in a fixed number of queries, whatever its size."""
    facts = load_step_facts(dataset)
    every = steps.decide_steps(facts)
    for step in every:
        step.allowed = user.has_perm(step.permission)
        step.may_view = user.has_perm(_view_permission(step.name))
    waiting = steps.find_waiting(every)
    for step in waiting:
        step.who = list_roles(step.permission)
    for step in list_requested(dataset, waiting):
        step.is_requested = True
    # Nothing is done with a dataset once its contents are deleted.
    is_closed = facts.dataset.is_expired
    return NextSteps(
        facts.dataset, every, None if is_closed else steps.find_next(every), [] if is_closed else waiting
    )


def _view_permission(step: str) -> str:
    if step == "label":
        return hooks.labels.SESSION_LABELS.permission
    return _VIEW_PERMISSIONS.get(step, "datasets_app.view_dataset")


def can_take_step(dataset: Dataset, user: Any, name: str, action: str | None) -> bool:
    """Whether this step is still open and the person may take it."""
    return any(
        (step.name, step.action) == (name, action) and not step.is_done and user.has_perm(step.permission)
        for step in steps.decide_steps(load_step_facts(dataset, only=name))
    )


def load_step_facts(dataset: Dataset, *, only: str = "") -> StepFacts:
    """``only`` leaves out what this step, by its name, isn't decided by."""

    def is_needed(*names: str) -> bool:
        return not only or only in names

    facts = gates.load_facts(dataset)
    report, state = _find_report(dataset, facts) if is_needed("check", "scrub", "release") else (None, "none")
    readiness = Readiness(facts, Totals(report.totals) if report else None)
    last = latest_release(dataset) if is_needed("release", "share") else None
    labels, campaigns = False, 0
    if is_needed("label"):
        labels, campaigns = hooks.labels.find_label_progress(dataset)
    return StepFacts(
        dataset=facts,
        report=state,
        blockers=readiness.blockers,
        is_split=bool(dataset.split_settings),
        labels=labels,
        open_campaigns=campaigns,
        version=last.version if last else "",
        version_changed=last is not None and is_needed("release") and _has_changed_since(dataset, last),
        review_signed=is_needed("share") and current_review(dataset) is not None,
        shared=last is not None and is_needed("share") and _was_shared(dataset, last),
    )


def _find_report(dataset: Dataset, facts: DatasetFacts) -> tuple[CheckReport | None, str]:
    """The report that still tells about the texts, and what ``StepFacts`` calls its state."""
    if report := current_report(dataset):
        return report, "current"
    report = report_of_texts(dataset)
    # Without findings, only another search tells whether what was kept is all there is.
    if report and (not facts.is_unscanned or (not facts.is_scrubbed and _found_personal_data(report))):
        return report, "same_text"
    return None, "outdated" if CheckReport.objects.filter(dataset=dataset).exists() else "none"


def _found_personal_data(report: CheckReport) -> bool:
    return any(report.totals.get(code) for code in CODE_BY_KIND.values())


def _has_changed_since(dataset: Dataset, last: Release) -> bool:
    scrubs = ScrubRun.objects.filter(dataset=dataset, dry_run=False, verified_at__gt=last.created_at)
    changes = AuditEvent.objects.filter(
        dataset_name=dataset.name, action__in=_RELEASE_CHANGING_ACTIONS, at__gt=last.created_at
    )
    return scrubs.exists() or changes.exists()


def _was_shared(dataset: Dataset, last: Release) -> bool:
    events = AuditEvent.objects.filter(dataset_name=dataset.name, at__gte=last.created_at)
    return events.filter(action__in=_SHARING_ACTIONS, details__release=last.version).exists()


def list_roles(permission: str) -> list[str]:
    """The roles that hold a permission and have an active member."""
    app, _, codename = permission.partition(".")
    groups = Group.objects.filter(
        permissions__content_type__app_label=app, permissions__codename=codename, user__is_active=True
    )
    return list(groups.order_by("name").values_list("name", flat=True).distinct())
