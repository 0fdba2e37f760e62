"""What the home page tells people that needs attention."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Q
from django.urls import reverse
from django.utils import timezone

from datasets_app import hooks
from datasets_app.browsing.comments import list_mentions
from datasets_app.catalog import raw_access
from datasets_app.catalog.dataset_facts import DatasetFacts, Remedy
from datasets_app.core.web.pages import dataset_url
from datasets_app.domain.wording import format_count
from datasets_app.hooks import AttentionItem
from datasets_app.jobs.approvals import can_decide, list_waiting
from datasets_app.models import JobFile, JobRun, OutgoingEvent, Release
from datasets_app.models.check_report import with_last_check
from datasets_app.notifications.wording import describe
from datasets_app.releasing.next_steps import can_take_step
from datasets_app.retention.due import WARNING_PERIOD, list_due_datasets

MAX_FAILURE_AGE_DAYS = 7
# Somebody who asks for a step can ask again.
MAX_REQUEST_AGE_DAYS = 14
MAX_ITEMS = 6


def list_attention_items(user: Any, datasets: Any, facts: dict[int, DatasetFacts]) -> list[AttentionItem]:
    """What a user is told about ``datasets``, most urgent kinds first."""
    has = user.has_perm
    may_see = has("datasets_app.view_dataset")
    return [
        *_request_items(user),
        *(_asked_items(user, datasets) if may_see else []),
        *(_failed_job_items(user) if has("datasets_app.view_jobrun") else []),
        *(_faulty_release_items(datasets) if has("datasets_app.view_release") else []),
        *(_deletion_items(datasets) if may_see else []),
        *(_raw_items(facts, has) if may_see else []),
        *(_check_items(datasets, has("datasets_app.check_dataset")) if may_see else []),
        *(_quarantine_items(user) if has("datasets_app.import_dataset") else []),
        *list_mentions(user),
        *hooks.panels.list_campaign_attention(user),
    ]


def _request_items(user: Any) -> list[AttentionItem]:
    """What the user can approve or decline; with four eyes only."""
    if not settings.FOUR_EYES:
        return []
    return [
        AttentionItem(
            "warn",
            "approval",
            f"{job.get_operation_label()} {job.dataset_name}".strip(),
            f"waits for approval, requested by {job.actor_name}",
            reverse("admin:datasets_app_jobrun_requests"),
            "Open requests",
        )
        for job in list_waiting(user)
        if can_decide(user, job)
    ][:MAX_ITEMS]


def _asked_items(user: Any, datasets: Any) -> list[AttentionItem]:
    """The step of each dataset that somebody asked the user to take last, until it is taken."""
    since = timezone.now() - timedelta(days=MAX_REQUEST_AGE_DAYS)
    asked = OutgoingEvent.objects.filter(
        kind=OutgoingEvent.Kind.STEP_REQUESTED,
        dataset__in=datasets,
        recipients__contains=[user.pk],
        at__gte=since,
    ).select_related("dataset")
    items: dict[int, AttentionItem] = {}
    for event in asked.order_by("-pk")[:MAX_ITEMS]:
        if event.dataset is None or event.dataset.pk in items:
            continue
        if can_take_step(event.dataset, user, event.data["step"], event.data.get("action")):
            items[event.dataset.pk] = AttentionItem(
                "warn",
                "person_raised_hand",
                event.dataset_name,
                describe(event).text,
                dataset_url(event.dataset),
                "Open dataset",
            )
    return list(items.values())


def _failed_job_items(user: Any) -> list[AttentionItem]:
    """Recent failures of background jobs. People who run a command see it fail."""
    since = timezone.now() - timedelta(days=MAX_FAILURE_AGE_DAYS)
    background = JobRun.objects.visible_to(user).filter(foreground=False)
    failed = (
        background.filter(state="failed", finished_at__gte=since).select_related("dataset").order_by("-id")
    )
    return [
        AttentionItem(
            "bad",
            "error",
            f"{job.get_operation_label()} {job.dataset_name}".strip(),
            "failed",
            reverse("admin:datasets_app_jobrun_change", args=[job.pk]),
            "View error",
            detail=job.error if raw_access.may_read_job(user, job) else "",
        )
        for job in failed[:MAX_ITEMS]
    ]


def _raw_items(facts: dict[int, DatasetFacts], has: Callable[[str], bool]) -> list[AttentionItem]:
    """Raw text, which can be neither exported nor annotated; the newest datasets first."""
    raw = [(pk, known) for pk, known in sorted(facts.items(), reverse=True) if known.is_known_raw]
    return [
        AttentionItem(
            "warn",
            "shield_person",
            known.name,
            f"contains {known.raw_because}",
            reverse(f"admin:datasets_app_dataset_{page}", args=[pk]),
            link_text,
        )
        for pk, known in raw[:MAX_ITEMS]
        for page, link_text in [_choose_raw_page(known, has)]
    ]


def _choose_raw_page(known: DatasetFacts, has: Callable[[str], bool]) -> tuple[str, str]:
    """The page of what opens the gates, if the user may open it, and the text of its link."""
    if known.remedy == Remedy.ATTEST and has("datasets_app.override_gate"):
        return "attest", "Attest that it may stay"
    if known.remedy == Remedy.SCRUB and has("datasets_app.view_scrubrun"):
        return "scrub", "Scrub dataset"
    return "sharing", "View checklist"


def _faulty_release_items(datasets: Any) -> list[AttentionItem]:
    """Releases with a stored file that differs from the signed one."""
    faulty = Release.objects.filter(dataset__in=datasets, destroyed_at=None).exclude(fault="")
    return [
        AttentionItem(
            "bad",
            "gpp_bad",
            str(release),
            "has changed since it was released",
            reverse("admin:datasets_app_dataset_release", args=[release.dataset_id, release.version]),
            "View differences",
            detail=release.fault,
        )
        for release in faulty.select_related("dataset")[:MAX_ITEMS]
    ]


def _deletion_items(datasets: Any) -> list[AttentionItem]:
    """What retention deletes within two weeks, and what is due but on legal hold."""
    return [
        AttentionItem(
            "warn" if item.is_on_hold else "bad",
            "gavel" if item.is_on_hold else "auto_delete",
            item.dataset.name,
            f"is due for deletion on {item.due:%-d %b %Y}" + ", but on legal hold" * item.is_on_hold,
            dataset_url(item.dataset, "retention"),
            "View retention",
            detail=f"Rule {item.policy.pattern}, kept {item.policy.retention}" if item.policy else "",
        )
        for item in list_due_datasets(WARNING_PERIOD, datasets)[:MAX_ITEMS]
    ]


def _check_items(datasets: Any, may_check: bool) -> list[AttentionItem]:
    unfinished = with_last_check(datasets).filter(
        Q(last_errors__gt=0) | Q(last_check=None) | Q(is_outdated=True) | Q(license=""), turn_count__gt=0
    )
    # Most errors first, then datasets without a check.
    rows = unfinished.order_by(F("last_errors").desc(nulls_last=True), "-updated_at")[: 2 * MAX_ITEMS]
    return [_check_item(dataset, may_check) for dataset in rows]


def _check_item(dataset: Any, may_check: bool) -> AttentionItem:
    needs_check = dataset.last_check is None or dataset.is_outdated
    errors = 0 if needs_check else dataset.last_errors
    problems = []
    if dataset.last_check is None:
        problems.append("has not been checked")
    elif dataset.is_outdated:
        since = "was scrubbed" if dataset.is_scrubbed_since else "has changed"
        problems.append(f"{since} since its last checks")
    elif errors:
        problems.append(f"has {format_count(errors, 'check error')}")
    if not dataset.license:
        problems.append("has no license")
    only_license = not needs_check and not errors
    return AttentionItem(
        "bad" if errors else "warn",
        "rule" if errors else "license" if only_license else "pending_actions",
        dataset.name,
        " and ".join(problems),
        dataset_url(dataset, "change" if only_license else "checks"),
        "Open dataset" if only_license else "View checks",
        run_checks_url=dataset_url(dataset, "run_checks") if may_check and needs_check else "",
    )


def _quarantine_items(user: Any) -> list[AttentionItem]:
    kept = Q(files__kind=JobFile.Kind.QUARANTINE, files__expires_at__gt=timezone.now()) & ~Q(files__file="")
    jobs = JobRun.objects.visible_to(user).filter(kept).annotate(file_count=Count("files")).order_by("-id")
    return [
        AttentionItem(
            "warn",
            "inventory_2",
            job.dataset_name,
            "has quarantined lines that were not imported",
            reverse("admin:datasets_app_jobrun_change", args=[job.pk]),
            "View files",
            detail=format_count(job.file_count, "file"),
        )
        for job in jobs[:MAX_ITEMS]
    ]
