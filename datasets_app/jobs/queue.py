"""The queue: it carries the numbers of jobs to workers, and may forget them.

This is the only module that knows RQ. The state of a job is in its JobRun row. Someone who can write to Redis
must not be able to run code here: messages are JSON, call one function, and pass one number.
"""

import json
import logging
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import wraps
from typing import Any

import django_rq
import redis
from django.conf import settings
from django.utils import timezone
from django_rq.queues import DjangoRQ
from rq import worker_registration
from rq.exceptions import NoSuchJobError
from rq.intermediate_queue import IntermediateQueue
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer
from rq.utils import utcparse
from rq.worker import Worker

from alignmenter_site import embedded
from alignmenter_site.embedded import EmbeddedServiceError

log = logging.getLogger(__name__)

QUEUE_NAME = "default"
JOB_FUNCTION = "datasets_app.jobs.perform.perform"
MAX_MESSAGE_BYTES = 1_000
# How often a worker says that it is alive, busy or idle, and when it no longer counts.
HEARTBEAT_SECONDS = 10
HEARTBEAT_TIMEOUT = timedelta(seconds=30)
_SCHEDULER_KEY = "alignmenter:scheduler"
# RQ subtracts it from a worker's time to live: so long does an idle worker wait for a job.
RQ_MARGIN_SECONDS = 15
# While Redis is away, workers look for it at least so often.
MAX_RECONNECT_SECONDS = 10.0
_OUTAGES = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError)
# Together less than the ten seconds that the supervisor waits.
DRAIN_SECONDS, ROLLBACK_SECONDS = 4.0, 2.0
# Called with the number of a job and the process that performs it.
GiveBack = Callable[[int, int], object]
# What a message needs to be delivered. RQ would import and call the functions that other fields name, and
# send requests to the addresses in them.
_DELIVERY_FIELDS = (
    "created_at",
    "enqueued_at",
    "started_at",
    "ended_at",
    "last_heartbeat",
    "origin",
    "status",
    "timeout",
    "result_ttl",
    "failure_ttl",
    "worker_name",
)


class QueueUnreachable(Exception):
    """The message is the kind of error, without addresses."""


class NumberMessage(Job):
    """A message as :func:`send_message` writes it. Any other is deleted as if it had never been sent.

    That includes the pickled messages of earlier versions: recovery sends the numbers of their jobs again.
    """

    def __init__(self, id: str | None = None, connection: Any = None, serializer: Any = None) -> None:
        super().__init__(id, connection, JSONSerializer)

    @classmethod
    def fetch(cls, id: str, connection: Any = None, serializer: Any = None) -> Any:
        try:
            return super().fetch(id, connection, serializer)
        except ValueError:  # an id that no message of ours has would end the worker
            raise NoSuchJobError("not a message of this application") from None

    def restore(self, raw_data: Mapping[bytes, bytes]) -> None:
        fields = {key.decode("ascii", "replace"): value for key, value in raw_data.items()}
        if "data" not in fields:  # a late heartbeat writes its field again after the job has ended
            raise NoSuchJobError("no message")
        try:
            data = _unpack(fields["data"])
            _check_message(data)
            super().restore(
                {name: fields[name] for name in _DELIVERY_FIELDS if name in fields} | {"data": data}
            )
        except Exception:
            # The exception may quote what somebody else wrote.
            with suppress(redis.RedisError):
                self.connection.delete(self.key)
            log.warning("dropped a message from the queue: this version of the application did not send it")
            raise NoSuchJobError("not a message of this application") from None


class NumberQueue(DjangoRQ):
    """The queue as workers read it: an entry that isn't text would end them."""

    @classmethod
    def lmove(cls, connection: Any, queue_key: str, timeout: int | None) -> tuple[str, Any] | None:
        moved: tuple[str, Any] | None = super().lmove(connection, queue_key, timeout)
        if moved is None or moved[1].decode(errors="ignore").encode() == moved[1]:
            return moved
        connection.lrem(IntermediateQueue.get_intermediate_queue_key(queue_key), 1, moved[1])
        return moved[0], b""


def _unpack(packed: bytes) -> bytes:
    """The message's bytes, which RQ compresses. A message of another size is not one of ours."""
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, MAX_MESSAGE_BYTES)
    if not unpacker.eof:
        raise ValueError("too long")
    return data


def _check_message(data: bytes) -> None:
    function, instance, arguments, options = json.loads(data)
    (number,) = arguments
    if function != JOB_FUNCTION or instance is not None or options or type(number) is not int:
        raise ValueError("another call")


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
        job = NumberMessage.fetch(message_id, connection=_get_queue().connection)
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
    """The number of workers, busy or idle; 0 if the queue can't be reached.

    RQ counts a killed worker for minutes, so only heartbeats tell.
    """
    try:
        source = _get_queue()
        with source.connection.pipeline() as pipeline:
            for key in worker_registration.get_keys(queue=source):
                pipeline.hget(key, "last_heartbeat")
            return sum(map(_is_recent, pipeline.execute()))
    except (redis.RedisError, OSError, EmbeddedServiceError):
        return 0


def record_scheduler_heartbeat() -> None:
    """The scheduler is alive; forgotten after :data:`HEARTBEAT_TIMEOUT`. Writes nothing if Redis is away."""
    with suppress(redis.RedisError, OSError, EmbeddedServiceError):
        _get_queue().connection.set(_SCHEDULER_KEY, 1, ex=HEARTBEAT_TIMEOUT)


def is_scheduler_alive() -> bool:
    """Whether any scheduler has sent a heartbeat lately; False if the queue can't be reached."""
    try:
        return bool(_get_queue().connection.exists(_SCHEDULER_KEY))
    except (redis.RedisError, OSError, EmbeddedServiceError):
        return False


def _is_recent(heartbeat: bytes | None) -> bool:
    with suppress(ValueError):  # written by something else
        return heartbeat is not None and utcparse(heartbeat.decode()) > timezone.now() - HEARTBEAT_TIMEOUT
    return False


class _OutageFilter(logging.Filter):
    """Of RQ's lines about Redis being away, which come every second, the first one, in our words."""

    is_away = False

    def filter(self, record: logging.LogRecord) -> bool:
        if "could not connect to Redis" not in str(record.msg):
            return True
        is_first, self.is_away = not self.is_away, True
        record.msg, record.args = "Redis can't be reached; trying on. Waiting jobs are not lost.", ()
        return is_first


def _outlive_outage(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a worker without whose writes to Redis it can go on."""

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        with suppress(*_OUTAGES):
            return method(self, *arguments, **options)

    return call


class DrainingWorker(Worker):
    """Told to stop, it lets its job end within DRAIN_SECONDS; after that it gives the job back.

    While Redis is away its job goes on, and no other begins.
    """

    give_back: GiveBack
    job_run_id = 0
    max_connection_wait_time = MAX_RECONNECT_SECONDS
    check_for_suspension = _outlive_outage(Worker.check_for_suspension)
    run_maintenance_tasks = _outlive_outage(Worker.run_maintenance_tasks)
    maintain_heartbeats = _outlive_outage(Worker.maintain_heartbeats)
    set_state = _outlive_outage(Worker.set_state)
    teardown = _outlive_outage(Worker.teardown)

    def work(self, *arguments: Any, **options: Any) -> bool:
        self.outage = _OutageFilter()
        self.log.addFilter(self.outage)
        try:
            return super().work(*arguments, **options)
        finally:
            self.log.removeFilter(self.outage)

    def subscribe(self) -> None:
        """To no channel: nobody stops workers and jobs by messages to Redis."""

    @_outlive_outage
    def heartbeat(self, *arguments: Any, **options: Any) -> None:
        super().heartbeat(*arguments, **options)
        if self.outage.is_away and not options.get("pipeline"):
            # It may have lost everything, and this worker with it.
            worker_registration.register(self)
            self.outage.is_away = False
            log.warning("Redis can be reached again.")

    def execute_job(self, job: Any, queue: Any) -> None:
        (self.job_run_id,) = job.args
        try:
            super().execute_job(job, queue)
        except _OUTAGES:
            # Its row says whether it has ended. If it has not begun, recovery sends it again.
            log.warning("Redis was lost while job %s was performed.", self.job_run_id)

    def request_stop(self, signum: Any, frame: Any) -> None:
        if self.horse_pid:
            timer = threading.Timer(DRAIN_SECONDS, self._stop_job, [self.horse_pid])
            timer.daemon = True
            timer.start()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def _stop_job(self, process: int) -> None:
        """The process notices within a second that the job is no longer its own, and rolls back."""
        if self.horse_pid != process:
            return
        try:
            self.give_back(self.job_run_id, process)
        except Exception as error:  # then recovery gives it to another worker, seconds later
            log.warning("job %s can't be given back (%s)", self.job_run_id, type(error).__name__)
        time.sleep(ROLLBACK_SECONDS)
        if self.horse_pid == process:
            self.kill_horse()


def run_worker(give_back: GiveBack) -> None:
    """Run a worker until it is told to stop. Raises :class:`QueueUnreachable`."""
    try:
        _get_queue(restart=True).connection.ping()
        # RQ's own objects unpickle unless each is told not to.
        worker = django_rq.get_worker(
            QUEUE_NAME,
            worker_class=DrainingWorker,
            job_class=NumberMessage,
            queue_class=NumberQueue,
            serializer=JSONSerializer,
            worker_ttl=HEARTBEAT_SECONDS + RQ_MARGIN_SECONDS,
            job_monitoring_interval=HEARTBEAT_SECONDS,
        )
        worker.give_back = give_back  # type: ignore[attr-defined]
        worker.work(logging_level="WARNING")
    except redis.RedisError as error:
        raise QueueUnreachable(type(error).__name__) from error


def _get_queue(*, restart: bool = False) -> Any:
    """The queue, on the embedded server unless another one is configured."""
    if settings.EMBEDDED_VALKEY:
        embedded.ensure_valkey(settings.VAR_DIR, recheck=restart)
    return django_rq.get_queue(QUEUE_NAME, job_class=NumberMessage, serializer=JSONSerializer)
