"""Metrics in the text format of Prometheus. They are counts and ages, without names of datasets or people."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import redis
from django.db.models import Count, Max, Min, Sum
from django.utils import timezone

from alignmenter_site.monitoring import health, request_times
from annotations_app.models import Annotation
from datasets_app.backups.schedule import last_backup_at
from datasets_app.core.disk_space import measure_room
from datasets_app.jobs import queue
from datasets_app.models import AuditHeadPlace, JobRun, ScrubChunk
from datasets_app.retention.due import list_due_datasets

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_REQUESTS = "alignmenter_request_duration_seconds"


def render_metrics() -> str:
    """What can't be read while a server is away is missing; ``alignmenter_up`` says which one is."""
    failures = health.find_failures()
    lines = [*_describe("alignmenter_up", "gauge", "Whether a check of /readyz passes.")]
    lines += [f'alignmenter_up{{check="{name}"}} {int(not failed)}' for name, failed in failures.items()]
    lines += _gauge("alignmenter_workers", "Workers, busy or idle.", queue.worker_count())
    lines += _gauge("alignmenter_disk_room_bytes", "Free bytes on the disk of var.", measure_room())
    if not failures["database"] and not failures["migrations"]:
        lines += [*_job_metrics(), *_data_metrics()]
    with suppress(redis.RedisError, OSError):
        lines += _request_metrics()
    return "\n".join(lines) + "\n"


def _job_metrics() -> Iterator[str]:
    counts = dict(JobRun.objects.values_list("state").annotate(Count("pk")).order_by())
    yield from _describe("alignmenter_jobs", "gauge", "Jobs by state.")
    for state in JobRun.State.values:
        yield f'alignmenter_jobs{{state="{state}"}} {counts.get(state, 0)}'
    waiting = JobRun.objects.filter(state="queued").aggregate(first=Min("queued_at"))["first"]
    yield from _gauge("alignmenter_queue_length", "Jobs that wait for a worker.", counts.get("queued", 0))
    yield from _gauge("alignmenter_queue_oldest_seconds", "How long the first of them waits.", _age(waiting))


def _data_metrics() -> Iterator[str]:
    scrubbed = ScrubChunk.objects.filter(done=True, scrub__dry_run=False).aggregate(sum=Sum("turn_count"))
    yield from _gauge("alignmenter_scrubbed_turns", "Turns of all scrubs.", scrubbed["sum"] or 0)
    yield from _gauge("alignmenter_labels", "Labels of replies.", Annotation.objects.count())
    due = len(list_due_datasets(timedelta()))
    yield from _gauge("alignmenter_retention_due_datasets", "Datasets due for deletion, or on hold.", due)
    head = AuditHeadPlace.objects.aggregate(last=Max("recorded_at"))["last"]
    if head is not None:
        help = "Time since a head of the audit log was recorded outside the database."
        yield from _gauge("alignmenter_audit_head_age_seconds", help, _age(head))
    if (last := last_backup_at()) is not None:
        yield from _gauge("alignmenter_backup_age_seconds", "Time since the last backup.", _age(last))


def _request_metrics() -> Iterator[str]:
    yield from _describe(_REQUESTS, "histogram", "Seconds that requests took, by view.")
    for (view, status), times in request_times.read_times().items():
        labels = f'view="{view}",status="{status}"'
        for limit, count in zip(request_times.BUCKETS, times.buckets, strict=True):
            yield f'{_REQUESTS}_bucket{{{labels},le="{limit}"}} {count}'
        yield f'{_REQUESTS}_bucket{{{labels},le="+Inf"}} {times.count}'
        yield f"{_REQUESTS}_sum{{{labels}}} {times.seconds:g}"
        yield f"{_REQUESTS}_count{{{labels}}} {times.count}"


def _age(moment: Any) -> float:
    return max(0.0, round((timezone.now() - moment).total_seconds(), 1)) if moment else 0.0


def _gauge(name: str, help: str, value: float) -> Iterable[str]:
    return [*_describe(name, "gauge", help), f"{name} {value}"]


def _describe(name: str, kind: str, help: str) -> Iterable[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
