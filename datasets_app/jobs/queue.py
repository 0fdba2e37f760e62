"""The queue: it carries the numbers of jobs to workers, and may forget them.

This is the only module that knows RQ. The state of a job is in its JobRun row.
"""

from typing import Any

import django_rq
import redis
from django.conf import settings
from rq.exceptions import NoSuchJobError
from rq.job import Job, JobStatus
from rq.worker import Worker

from alignmenter_site import embedded
from alignmenter_site.embedded import EmbeddedServiceError

QUEUE_NAME = "default"
JOB_FUNCTION = "datasets_app.jobs.perform.perform"


class QueueUnreachable(Exception):
    """The message is the kind of error, without addresses."""


def send_message(job_run_id: int, message_id: str) -> None:
    """Hand a job's number to the next free worker. Raises :class:`QueueUnreachable`."""
    try:
        _get_queue().enqueue_call(
            JOB_FUNCTION, args=(job_run_id,), job_id=message_id, result_ttl=0, failure_ttl=3600
        )
    except (redis.RedisError, OSError, EmbeddedServiceError) as error:
        raise QueueUnreachable(type(error).__name__) from None


def is_queued(message_id: str) -> bool:
    """Whether the message is still in the queue. Raises :class:`QueueUnreachable`."""
    try:
        job = Job.fetch(message_id, connection=_get_queue().connection)
        return bool(job.get_status() == JobStatus.QUEUED)
    except NoSuchJobError:
        return False
    except (redis.RedisError, OSError, EmbeddedServiceError) as error:
        raise QueueUnreachable(type(error).__name__) from None


def is_reachable() -> bool:
    try:
        return bool(_get_queue().connection.ping())
    except (redis.RedisError, OSError, EmbeddedServiceError):
        return False


def worker_count() -> int:
    """The number of workers, busy or idle; 0 if the queue can't be reached."""
    try:
        return Worker.count(queue=_get_queue())
    except (redis.RedisError, OSError, EmbeddedServiceError):
        return 0


def run_worker() -> None:
    """Run a worker until it is told to stop. Raises :class:`QueueUnreachable`."""
    try:
        _get_queue(restart=True).connection.ping()
        django_rq.get_worker(QUEUE_NAME).work(logging_level="WARNING")
    except redis.RedisError as error:
        raise QueueUnreachable(type(error).__name__) from error


def _get_queue(*, restart: bool = False) -> Any:
    """The queue, on the embedded server unless another one is configured."""
    if settings.EMBEDDED_VALKEY:
        embedded.ensure_valkey(settings.VAR_DIR, recheck=restart)
    return django_rq.get_queue(QUEUE_NAME)
