"""Metrics in the text format of Prometheus. They are counts and ages, without names of datasets or people."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

import redis
from django.conf import settings
from django.db.models import Count, Max, Min, Sum
from django.utils import timezone

from alignmenter_site.monitoring import health
from annotations_app.models import Annotation
from datasets_app.backups.schedule import last_backup_at
from datasets_app.core.disk_space import measure_room
from datasets_app.jobs import queue
from datasets_app.models import AuditHeadPlace, JobRun, ScrubChunk
from datasets_app.retention.due import list_due_datasets

# How long pages take, counted by all web processes together.
#
# The counts are in Redis, whose increments no two processes can lose, and begin anew when it forgets them.
# Like Prometheus' histograms they only ever grow in between.
KEY = "alignmenter:request_seconds"
BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
RETRY_SECONDS = 15.0
_away_until = 0.0


class ViewTimes(NamedTuple):
    """Requests of a view with one class of status: of each bucket, of all, and their seconds in all."""

    buckets: list[int]
    count: int
    seconds: float


def record_request(view: str, status: int, seconds: float) -> None:
    """Never fails, and asks no server that was away within the last seconds."""
    global _away_until
    if time.monotonic() < _away_until:
        return
    name = f"{view}|{status // 100}xx"
    try:
        with _connect().pipeline(transaction=False) as pipeline:
            # One bucket only; reading adds up those below.
            bucket = next((limit for limit in BUCKETS if seconds <= limit), None)
            if bucket is not None:
                pipeline.hincrby(KEY, f"{name}|{bucket}", 1)
            pipeline.hincrby(KEY, f"{name}|count", 1)
            pipeline.hincrbyfloat(KEY, f"{name}|sum", round(seconds, 6))
            pipeline.execute()
    except (redis.RedisError, OSError):
        _away_until = time.monotonic() + RETRY_SECONDS


def read_times() -> dict[tuple[str, str], ViewTimes]:
    """By view and class of status, such as ("admin:index", "2xx"). Raises RedisError, OSError."""
    fields: dict[tuple[str, str], dict[str, float]] = {}
    for key, value in _connect().hgetall(KEY).items():
        view, status, part = key.decode().rsplit("|", 2)
        fields.setdefault((view, status), {})[part] = float(value)
    times = {}
    for name, parts in sorted(fields.items()):
        below, buckets = 0, []
        for limit in BUCKETS:
            below += int(parts.get(str(limit), 0))
            buckets.append(below)
        times[name] = ViewTimes(buckets, int(parts.get("count", 0)), parts.get("sum", 0.0))
    return times


def _connect() -> "redis.Redis[bytes]":
    global _client
    # A second client would close the connections of the first one as it is dropped, while they are in use.
    with _lock:
        if _client is None:
            _client = redis.Redis.from_url(str(settings.RQ_QUEUES["default"]["URL"]), socket_timeout=1)
        return _client


_lock = threading.Lock()
_client: "redis.Redis[bytes] | None" = None


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
    for (view, status), times in read_times().items():
        labels = f'view="{view}",status="{status}"'
        for limit, count in zip(BUCKETS, times.buckets, strict=True):
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
