"""Whoever can write to Redis must not be able to run code in a worker, the scheduler or the web server."""

import json
import os
import pickle
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import django_rq
import pytest
from django.utils import timezone
from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.serializers import JSONSerializer
from rq.utils import utcformat

from datasets_app.jobs import queue, runs
from datasets_app.models import JobRun
from tests.factories import make_dataset, make_sessions

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "canary-7781"
# Messages as the application sends them, with something added. They are delivered without it.
WITH_EXTRA_FIELDS = {"meta", "result", "callback", "webhook"}


class Touch:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


def push(job_id: str, data: bytes, **fields: Any) -> None:
    """As somebody with the password of Redis would."""
    server = django_rq.get_connection("default")
    message = {
        "data": data,
        "origin": "default",
        "status": "queued",
        "created_at": "2026-01-01T00:00:00.000000Z",
    }
    server.hset(f"rq:job:{job_id}", mapping={**message, "timeout": "-1", "description": CANARY, **fields})
    server.rpush("rq:queue:default", job_id)


def hostile_messages(folder: Path) -> dict[str, tuple[bytes, dict[str, Any]]]:
    """Message id → its data and further fields. Each would make a file of its name in the folder."""
    pickled = {name: pickle.dumps(Touch(folder / name)) for name in ("data", "packed", "meta", "result")}
    ours = zlib.compress(json.dumps([queue.JOB_FUNCTION, None, [0], {}]).encode())

    def call(function: str, *arguments: Any, instance: Any = None, **options: Any) -> bytes:
        return zlib.compress(json.dumps([function, instance, arguments, options]).encode())

    return {
        "data": (pickled["data"], {}),
        "packed": (zlib.compress(pickled["packed"]), {}),
        "meta": (ours, {"meta": pickled["meta"]}),
        "result": (ours, {"result": pickled["result"]}),
        "system": (call("os.system", f"touch {folder}/system"), {}),
        "own": (call("datasets_app.core.audit.record", "probe", actor=None), {}),
        "method": (call("format", 1, instance="{}"), {}),
        "options": (call(queue.JOB_FUNCTION, 1, job_run_id=1), {}),
        "text": (call(queue.JOB_FUNCTION, "1"), {}),
        "callback": (ours, {"success_callback_name": "antigravity.fly"}),
        "webhook": (ours, {"webhooks": json.dumps([{"url": "http://127.0.0.1:9/"}])}),
        "field": (ours, {"timeout": CANARY}),
        "bomb": (zlib.compress(b" " * 50_000_000), {}),
    }


def test_no_message_runs_anything_but_the_job_of_a_row(
    processes: Any, wait_until: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "ran"
    folder.mkdir()
    for job_id, (data, fields) in hostile_messages(folder).items():
        push(job_id, data, **fields)
    for entry in (b"\xff", b"", b"../name", b"a:b:c", CANARY * 1000):
        django_rq.get_connection("default").rpush("rq:queue:default", entry)
    job = runs.start_job("check_dataset", actor=None, dataset=make_dataset(tmp_path, make_sessions(2)))
    worker = processes.start("worker")

    def state() -> str:
        job.refresh_from_db()
        return job.state

    wait_until(lambda: state() in {"done", "failed"}, 60)
    assert (state(), job.attempt, JobRun.objects.count()) == ("done", 1, 1)
    assert list(folder.iterdir()) == []
    assert worker.poll() is None
    log = processes.log.read_text()
    assert "dropped a message from the queue" in log
    assert CANARY not in log
    assert "touch" not in log
    server = django_rq.get_connection("default")
    left = {name for name in hostile_messages(folder) if server.exists(f"rq:job:{name}")}
    assert left == WITH_EXTRA_FIELDS  # they are kept for a while, as messages of jobs that were done


def test_a_message_is_restored_without_what_rq_would_call(empty_queue: None, tmp_path: Path) -> None:
    server = django_rq.get_connection("default")
    for job_id, (data, fields) in hostile_messages(tmp_path).items():
        push(job_id, data, **fields)
    for job_id in WITH_EXTRA_FIELDS:
        message = queue.NumberMessage.fetch(job_id, connection=server)
        assert (message.func_name, message.args) == (queue.JOB_FUNCTION, [0])
        assert (message.meta, message.success_callback, message.webhooks) == ({}, None, [])
    for job_id in hostile_messages(tmp_path).keys() - WITH_EXTRA_FIELDS:
        with pytest.raises(NoSuchJobError):
            queue.NumberMessage.fetch(job_id, connection=server)
        assert not server.exists(f"rq:job:{job_id}")
    assert list(tmp_path.iterdir()) == []


def test_every_queue_that_settings_make_reads_json_only(empty_queue: None) -> None:
    for made in (django_rq.get_queue("default"), *django_rq.get_worker("default").queues):
        assert isinstance(made, Queue)
        assert made.serializer is JSONSerializer
        assert issubclass(made.job_class, queue.NumberMessage)


def test_only_workers_with_a_recent_heartbeat_count(empty_queue: None) -> None:
    """RQ keeps the names of killed ones for minutes, and a scrub starts a helper job for each worker."""
    server = django_rq.get_connection("default")
    now = timezone.now()
    heartbeats = {
        "busy": utcformat(now),
        "idle": utcformat(now - timedelta(seconds=queue.HEARTBEAT_SECONDS)),
        "killed": utcformat(now - queue.HEARTBEAT_TIMEOUT),
        "foreign": "\\xff no time",
        "expired": None,
    }
    for name, heartbeat in heartbeats.items():
        server.sadd("rq:workers:default", f"rq:worker:{name}")
        if heartbeat:
            server.hset(f"rq:worker:{name}", "last_heartbeat", heartbeat)
    assert queue.worker_count() == 2
