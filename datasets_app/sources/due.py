"""Starts the pulls that nobody asks for: every night, and when received conversations are complete."""

from datetime import timedelta

from django.utils import timezone

from datasets_app.jobs import runs
from datasets_app.models import JobRun, Source
from datasets_app.sources.parameters import PullParameters
from datasets_app.sources.received import has_complete_conversations

RETRY_INTERVAL = timedelta(hours=1)


def start_nightly_pulls() -> int:
    """Of all active sources that are pulled; returns how many were started."""
    sources = Source.objects.filter(active=True).exclude(kind=Source.Kind.OTLP)
    return sum(map(_start_pull, sources))


def start_due_assembly() -> int:
    """Also of sources that are off: what they received before is not lost."""
    sources = Source.objects.filter(kind=Source.Kind.OTLP)
    return sum(_start_pull(source) for source in sources if has_complete_conversations(source))


def _start_pull(source: Source) -> bool:
    """Whether a pull was started: not while one runs, nor soon after one has failed."""
    pulls = JobRun.objects.filter(operation="pull_source", parameters__source=source.pk)
    failed = pulls.filter(state="failed", finished_at__gt=timezone.now() - RETRY_INTERVAL)
    if pulls.active().exists() or failed.exists():
        return False
    parameters = PullParameters(source=source.pk)
    runs.start_follow_up("pull_source", actor=None, dataset_name=source.dataset_name, parameters=parameters)
    return True
