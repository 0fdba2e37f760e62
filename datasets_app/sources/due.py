"""Starts the jobs that nobody asks for: pulls, every night and when received conversations are complete, and
the storing of large requests."""

from datetime import timedelta

from django.utils import timezone

from datasets_app.jobs import runs
from datasets_app.jobs.parameters import JobParameters
from datasets_app.models import JobRun, ReceivedRequest, Source
from datasets_app.sources.parameters import PullParameters, StoreParameters
from datasets_app.sources.received import has_complete_conversations

# Received conversations are imported together: each import is an event of the audit log.
ASSEMBLY_INTERVAL = timedelta(minutes=15)
RETRY_INTERVAL = timedelta(hours=1)


def start_nightly_pulls() -> int:
    """Of all active sources; returns how many were started."""
    return sum(_start_pull(source, scrub=True) for source in Source.objects.filter(active=True))


def start_due_assembly() -> int:
    """Also of sources that are off: what they received before is not lost."""
    sources = Source.objects.filter(kind=Source.Kind.OTLP)
    recent = JobRun.objects.filter(
        operation="pull_source", created_at__gt=timezone.now() - ASSEMBLY_INTERVAL
    ).values_list("parameters__source", flat=True)
    return sum(
        _start_pull(source, scrub=False)
        for source in sources.exclude(pk__in=list(recent))
        if has_complete_conversations(source)
    )


def start_due_storing() -> int:
    """Of requests that wait; returns how many jobs were started."""
    waiting = Source.objects.filter(pk__in=ReceivedRequest.objects.values("source"))
    return sum(_start("store_spans", source, StoreParameters(source=source.pk)) for source in waiting)


def _start_pull(source: Source, *, scrub: bool) -> bool:
    return _start("pull_source", source, PullParameters(source=source.pk, scrub=scrub))


def _start(operation: str, source: Source, parameters: JobParameters) -> bool:
    """Whether a job was started: not while one runs, nor soon after one has failed."""
    jobs = JobRun.objects.filter(operation=operation, parameters__source=source.pk)
    failed = jobs.filter(state="failed", finished_at__gt=timezone.now() - RETRY_INTERVAL)
    if jobs.active().exists() or failed.exists():
        return False
    runs.start_follow_up(operation, actor=None, dataset_name=source.dataset_name, parameters=parameters)
    return True
