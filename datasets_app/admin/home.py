"""What the home page shows: counts, what is running, and what needs attention."""

from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q, Sum
from django.urls import reverse
from django.utils import timezone

from datasets_app import hooks
from datasets_app.admin.dataset_pages import list_active_jobs
from datasets_app.core.web.pages import dataset_url
from datasets_app.models import Dataset, JobFile, JobRun, Release
from datasets_app.retention.warnings import list_warnings

# A failure older than this is no news.
MAX_FAILURE_AGE_DAYS = 7
MAX_ITEMS = 6


def home_context(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """What there is, and what wants attention. A handful of queries, however much there is."""
    has = request.user.has_perm
    datasets = Dataset.objects.visible_to(request.user)
    may_see = has("datasets_app.view_dataset")
    may_see_jobs = has("datasets_app.view_jobrun")
    return {
        **context,
        "title": "Start",
        "may_see": may_see,
        "is_annotator_only": not may_see and has("annotations_app.annotate"),
        "may_import": has("datasets_app.import_dataset"),
        "may_generate": may_see and has("datasets_app.generate_dataset"),
        "may_see_jobs": may_see_jobs,
        "may_see_turns": has("datasets_app.view_turn"),
        **(_dataset_context(datasets) if may_see else {}),
        **({"active_jobs": list_active_jobs(request.user)} if may_see_jobs else {}),
        "attention": [
            *(_failed_job_items(request.user) if may_see_jobs else []),
            *(_faulty_release_items(datasets) if has("datasets_app.view_release") else []),
            *(_deletion_items(datasets) if may_see else []),
            *(_unscrubbed_items(datasets, has("datasets_app.view_scrubrun")) if may_see else []),
            *(_check_items(datasets, has("datasets_app.check_dataset")) if may_see else []),
            *(_quarantine_items(request.user) if has("datasets_app.import_dataset") else []),
            *(item for items in hooks.attention for item in items(request.user)),
        ],
    }


def _dataset_context(datasets: Any) -> dict[str, Any]:
    kinds = {
        f"{field}_{value}": Count("pk", filter=Q((field, value)))
        for field, choices in (("status", Dataset.Status), ("origin", Dataset.Origin))
        for value in choices.values
    }
    counts = datasets.aggregate(
        datasets=Count("pk"), turns=Sum("turn_count"), sessions=Sum("session_count"), **kinds
    )
    return {
        "counts": counts,
        "by_status": [(key, label, counts[f"status_{key}"]) for key, label in Dataset.Status.choices],
        "by_origin": [(key, label, counts[f"origin_{key}"]) for key, label in Dataset.Origin.choices],
        "recent": datasets.with_last_check().order_by("-updated_at")[:MAX_ITEMS],
    }


def _failed_job_items(user: Any) -> list[dict[str, Any]]:
    since = timezone.now() - timedelta(days=MAX_FAILURE_AGE_DAYS)
    # Who runs a command sees it fail; only jobs that nobody waits for are news.
    started_here = JobRun.objects.visible_to(user).filter(
        state="failed", foreground=False, finished_at__gte=since
    )
    failed = started_here.order_by("-id")[:MAX_ITEMS]
    return [
        {
            "kind": "bad",
            "icon": "error",
            "name": f"{job.get_operation_label()} {job.dataset_name}".strip(),
            "text": "failed",
            "detail": job.error,
            "address": reverse("admin:datasets_app_jobrun_change", args=[job.pk]),
            "link": "See why",
        }
        for job in failed
    ]


def _unscrubbed_items(datasets: Any, may_open: bool) -> list[dict[str, Any]]:
    """Production data that is still raw: it can be neither exported nor annotated."""
    raw = datasets.filter(origin="production", status="raw", turn_count__gt=0)
    return [
        {
            "kind": "warn",
            "icon": "shield_person",
            "name": dataset.name,
            "text": "is raw production data and waits for a scrub",
            "address": dataset_url(dataset, "scrub" if may_open else "sharing"),
            "link": "Scrub it" if may_open else "See why",
        }
        for dataset in raw.order_by("-updated_at")[:MAX_ITEMS]
    ]


def _faulty_release_items(datasets: Any) -> list[dict[str, Any]]:
    """Versions of which a stored file is not as it was signed."""
    faulty = Release.objects.filter(dataset__in=datasets, destroyed_at=None).exclude(fault="")
    return [
        {
            "kind": "bad",
            "icon": "gpp_bad",
            "name": str(release),
            "text": "is not as it was released",
            "detail": release.fault,
            "address": reverse(
                "admin:datasets_app_dataset_release", args=[release.dataset_id, release.version]
            ),
            "link": "See what differs",
        }
        for release in faulty.select_related("dataset")[:MAX_ITEMS]
    ]


def _deletion_items(datasets: Any) -> list[dict[str, Any]]:
    """What retention deletes within a fortnight, and what is due but on legal hold."""
    return [
        {
            "kind": "warn" if item.held else "bad",
            "icon": "gavel" if item.held else "auto_delete",
            "name": item.dataset.name,
            "text": f"is due for deletion on {item.due:%-d %b %Y}" + ", but on legal hold" * item.held,
            "detail": f"Rule {item.policy.pattern}, kept {item.policy.retention}" if item.policy else "",
            "address": dataset_url(item.dataset, "retention"),
            "link": "See why",
        }
        for item in list_warnings(datasets)[:MAX_ITEMS]
    ]


def _check_items(datasets: Any, may_check: bool) -> list[dict[str, Any]]:
    wanting = datasets.with_last_check().filter(
        Q(last_errors__gt=0) | Q(last_check=None) | Q(license=""), turn_count__gt=0
    )
    # Errors first, and of those the worst; what was never checked comes next.
    rows = wanting.order_by(F("last_errors").desc(nulls_last=True), "-updated_at")[: 2 * MAX_ITEMS]
    return [_check_item(dataset, may_check) for dataset in rows]


def _check_item(dataset: Any, may_check: bool) -> dict[str, Any]:
    wants = []
    if dataset.last_check is None:
        wants.append("was never checked")
    elif dataset.last_errors:
        wants.append(f"has {dataset.last_errors:,} error{'s' * (dataset.last_errors != 1)} in its checks")
    if not dataset.license:
        wants.append("names no licence")
    never_checked = dataset.last_check is None
    only_licence = not never_checked and not dataset.last_errors
    return {
        "kind": "bad" if dataset.last_errors else "warn",
        "icon": "rule" if dataset.last_errors else "license" if only_licence else "pending_actions",
        "name": dataset.name,
        "text": " and ".join(wants),
        "address": dataset_url(dataset, "change" if only_licence else "checks"),
        "link": "Open" if only_licence else "See checks",
        "run_checks": dataset_url(dataset, "run_checks") if may_check and never_checked else None,
    }


def _quarantine_items(user: Any) -> list[dict[str, Any]]:
    kept = Q(files__kind=JobFile.Kind.QUARANTINE, files__expires_at__gt=timezone.now()) & ~Q(files__file="")
    visible = JobRun.objects.visible_to(user).filter(kept)
    jobs = visible.annotate(kept=Count("files")).order_by("-id")[:MAX_ITEMS]
    return [
        {
            "kind": "warn",
            "icon": "inventory_2",
            "name": job.dataset_name,
            "text": "has lines set aside that were not imported",
            "detail": "1 file" if job.kept == 1 else f"{job.kept:,} files",
            "address": reverse("admin:datasets_app_jobrun_change", args=[job.pk]),
            "link": "See them",
        }
        for job in jobs
    ]
