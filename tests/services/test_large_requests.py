"""Requests with very many spans, sent at once to the web server as deployed: pages go on, nothing is lost."""

import gzip
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from datasets_app.access.tokens import digest_token
from datasets_app.models import ReceivedRequest, ReceivedSpan, SeenTrace, Source
from datasets_app.sources.receive import store_request
from tests import preloaded
from tests.conftest import PROJECT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

TOKEN = "alds_wexkeyquill"
REQUESTS, SPANS = 8, 20_000
# On a busy machine; before, pages waited for more than a minute.
MAX_PAGE_SECONDS = 5.0


def make_body(request: int) -> bytes:
    """A request in protobuf, as small as it can be: its spans have IDs and nothing else."""
    spans = bytearray()
    for number in range(1, SPANS + 1):
        span = b"\x0a\x10" + (request << 64 | number).to_bytes(16) + b"\x12\x08" + number.to_bytes(8)
        spans += b"\x12" + bytes([len(span)]) + span
    body = bytes(spans)
    for tag in (b"\x12", b"\x0a"):
        body = tag + encode_length(len(body)) + body
    return gzip.compress(body)


def encode_length(length: int) -> bytes:
    encoded = bytearray()
    while length > 127:
        encoded.append(length & 127 | 128)
        length >>= 7
    return bytes([*encoded, length])


class Server:
    def __init__(self, environment: dict[str, str], log: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        command = [sys.executable, "-m", "gunicorn", "alignmenter_site.wsgi:application"]
        command += ["--bind", f"127.0.0.1:{self.port}", "--workers", "1", "--worker-class", "gthread"]
        command += ["--threads", "4", "--config", "python:alignmenter_site.gunicorn_settings"]
        command += ["--no-control-socket", "--log-level", "warning"]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command, cwd=PROJECT, env={**environment, "ALIGNMENTER_HTTPS": "off"},
                stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip

    def request(self, method: str, path: str, body: bytes | None = None) -> int | None:
        """The status, or None if there was no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
        }
        try:
            connection.request(method, path, body, headers if body else {})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def server(subprocess_environment: dict[str, str], tmp_path: Path) -> Iterator[Server]:
    server = Server(subprocess_environment, tmp_path / "server.log")
    yield server
    server.kill()


def deliver(server: Server, body: bytes) -> int:
    """Send as an exporter does, until it is accepted; returns how often it was to be sent again."""
    again = 0
    while (status := server.request("POST", "/v1/traces", body)) in (429, 503):
        again += 1
        time.sleep(0.1)
    assert status == 200
    return again


def time_pages(server: Server, stop: Callable[[], bool]) -> list[float]:
    seconds = []
    while not stop():
        start = time.monotonic()
        assert server.request("GET", "/healthz") == 200
        seconds.append(time.monotonic() - start)
        time.sleep(0.02)
    return seconds


def test_eight_requests_with_very_many_spans_stop_no_page_and_none_is_lost(
    server: Server,
    wait_until: Callable[..., Any],
    subprocess_environment: dict[str, str],
    tmp_path: Path,
) -> None:
    Source.objects.create(name="apps", kind="otlp", dataset_name="prod", token_digest=digest_token(TOKEN))
    bodies = [make_body(number) for number in range(1, REQUESTS + 1)]
    wait_until(lambda: server.request("GET", "/healthz") == 200)
    with ThreadPoolExecutor(REQUESTS + 1) as pool:
        sent = [pool.submit(deliver, server, body) for body in bodies]
        pages = pool.submit(time_pages, server, lambda: all(item.done() for item in sent))
        for item in (*sent, pages):
            item.result()
        server.kill()
    assert max(pages.result()) < MAX_PAGE_SECONDS
    keys = list(ReceivedRequest.objects.order_by("pk").values_list("pk", flat=True))
    assert list(ReceivedRequest.objects.values_list("spans", flat=True)) == [SPANS] * REQUESTS
    kill_while_storing(keys[0], subprocess_environment, wait_until)
    for key in keys[:2]:
        store_request(key)
    assert ReceivedSpan.objects.count() == SeenTrace.objects.count() == 2 * SPANS
    assert ReceivedRequest.objects.count() == REQUESTS - 2
    assert "quill" not in (tmp_path / "server.log").read_text()


def kill_while_storing(key: int, environment: dict[str, str], wait_until: Callable[..., Any]) -> None:
    """Have another process store a request, and kill it when a part is committed."""
    code = f"from datasets_app.sources.receive import store_request; store_request({key})"
    worker = preloaded.Popen("shell", "-v", "0", "-c", code, env=environment, start_new_session=True)
    wait_until(ReceivedSpan.objects.exists)
    worker.kill()
    worker.wait()
    assert ReceivedRequest.objects.filter(pk=key).exists()
    assert 0 < ReceivedSpan.objects.count() < SPANS
