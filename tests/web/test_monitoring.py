"""What a load balancer and Prometheus are told, and that it is nothing private."""

import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import django_rq
import pytest
from django.test import Client
from django.utils import timezone
from rq.utils import utcformat

from alignmenter_site.monitoring import metrics
from datasets_app.jobs import queue, runs
from tests.conftest import as_owner
from tests.factories import make_dataset, make_sessions
from tests.web.conftest import SignIn
from tests.web.test_database_away import database_away

__all__ = ["database_away"]
TOKEN = "t" * 40
SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+')


@pytest.fixture
def services(db: None, empty_queue: None) -> Iterator[Any]:
    """A worker and a scheduler, as the queue knows them."""
    server = django_rq.get_connection("default")
    server.sadd("rq:workers:default", "rq:worker:one")
    server.hset("rq:worker:one", "last_heartbeat", utcformat(timezone.now()))
    queue.record_scheduler_heartbeat()
    server.delete(metrics.KEY)
    yield server
    server.delete("alignmenter:scheduler", metrics.KEY)


def test_probes_tell_what_fails_and_nothing_else(services: Any, settings: Any) -> None:
    # By address and without TLS, as a load balancer on the network asks.
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["datasets.example.org"]
    probe = Client(headers={"Host": "10.0.0.7"})
    assert probe.get("/healthz").content == b"ok\n"
    ready = probe.get("/readyz")
    assert ready.content.decode() == "".join(
        f"{name} ok\n" for name in ("database", "migrations", "queue", "workers", "scheduler", "disk")
    )
    assert (ready.status_code, ready["Cache-Control"], "Set-Cookie" in ready) == (200, "no-store", False)
    services.delete("alignmenter:scheduler", "rq:worker:one")
    settings.MIN_FREE_BYTES = 1 << 60
    with as_owner() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE name = '0001_squashed_0037'")
    ready = probe.get("/readyz")
    failed = [line.split()[0] for line in ready.content.decode().splitlines() if line.endswith("failed")]
    assert (ready.status_code, failed) == (503, ["migrations", "workers", "scheduler", "disk"])
    assert probe.get("/readyz?checks=database,queue").content == b"database ok\nqueue ok\n"
    assert probe.get("/readyz?checks=database,secrets").status_code == 400
    assert probe.post("/healthz").status_code == 405


def test_without_a_database_the_process_lives_and_is_not_ready(database_away: None, settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert Client().get("/healthz").status_code == 200
    ready = Client().get("/readyz?checks=database,migrations")
    assert (ready.status_code, ready.content) == (503, b"database failed\nmigrations failed\n")
    page = Client(headers={"Authorization": f"Bearer {TOKEN}"}).get("/metrics").content.decode()
    assert 'alignmenter_up{check="database"} 0' in page


def test_metrics_need_the_token_and_count_what_happens(
    services: Any, settings: Any, sign_in: SignIn, tmp_path: Path
) -> None:
    scraper = Client(headers={"Authorization": f"Bearer {TOKEN}"})
    assert scraper.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = TOKEN
    assert Client().get("/metrics").status_code == 401
    assert Client(headers={"Authorization": f"Bearer {TOKEN[1:]}é"}).get("/metrics").status_code == 401
    stored = make_dataset(tmp_path, make_sessions(2), name="secret_name")
    runs.start_job("check_dataset", actor=None, dataset=stored)
    client = sign_in("superuser")
    for path in ("/admin/", "/admin/", "/nowhere/secret/"):
        client.get(path)
    page = scraper.get("/metrics")
    lines = page.content.decode().splitlines()
    assert page["Content-Type"].startswith("text/plain; version=0.0.4")
    assert not [line for line in lines if not line.startswith("#") and not SAMPLE.fullmatch(line)]
    expected = {
        'alignmenter_up{check="database"} 1',
        "alignmenter_workers 1",
        'alignmenter_jobs{state="queued"} 1',
        'alignmenter_jobs{state="running"} 0',
        "alignmenter_queue_length 1",
        "alignmenter_scrubbed_turns 0",
        "alignmenter_labels 0",
        "alignmenter_retention_due_datasets 0",
        'alignmenter_request_duration_seconds_count{view="admin:index",status="2xx"} 2',
        'alignmenter_request_duration_seconds_bucket{view="admin:index",status="2xx",le="+Inf"} 2',
        'alignmenter_request_duration_seconds_count{view="other",status="4xx"} 1',
    }
    assert expected - set(lines) == set()
    assert "secret" not in page.content.decode()
    # Probes and scrapes are no pages.
    assert "metrics" not in page.content.decode()


def test_threads_share_one_client_from_the_first_request_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_client", None)
    before, together = sys.getswitchinterval(), threading.Barrier(8)

    def connect(_: int) -> Any:
        together.wait()
        return metrics._connect()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            clients = list(threads.map(connect, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert len(set(map(id, clients))) == 1
