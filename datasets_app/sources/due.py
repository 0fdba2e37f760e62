"""Starts the pulls that nobody asks for: every night, and when received conversations are complete."""

from datetime import timedelta

from django.utils import timezone

from datasets_app.jobs import runs
from datasets_app.models import JobRun, Source
from datasets_app.sources.parameters import PullParameters
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


def _start_pull(source: Source, *, scrub: bool) -> bool:
    """Whether a pull was started: not while one runs, nor soon after one has failed."""
    pulls = JobRun.objects.filter(operation="pull_source", parameters__source=source.pk)
    failed = pulls.filter(state="failed", finished_at__gt=timezone.now() - RETRY_INTERVAL)
    if pulls.active().exists() or failed.exists():
        return False
    parameters = PullParameters(source=source.pk, scrub=scrub)
    runs.start_follow_up("pull_source", actor=None, dataset_name=source.dataset_name, parameters=parameters)
    return True
