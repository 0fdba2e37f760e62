"""A real OpenTelemetry SDK and a client like a collector deliver to a server that is killed in the middle."""

import gzip
import http.client
import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from datasets_app.access.tokens import digest_token
from datasets_app.models import ReceivedSpan, SeenTrace, Session, Source, Turn
from tests import preloaded
from tests.conftest import PROJECT
from tests.operations.test_pull_source import pull
from tests.spans import encode_request, make_span

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

TOKEN = "alds_wexkeyquill"
CONVERSATIONS, CALLS = 12, 3


class Server:
    """The application on a port of its own, to be killed and started again."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self.environment, self.log = {**environment, "ALIGNMENTER_HTTPS": "off"}, log
        self.process: subprocess.Popen[Any] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = preloaded.Popen(
                "runserver", "--noreload", f"127.0.0.1:{self.port}",
                env=self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def post(self, body: bytes) -> int | None:
        """The status, or None if there was no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        }
        try:
            connection.request("POST", "/v1/traces", gzip.compress(body), headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


@pytest.fixture
def server(subprocess_environment: dict[str, str], tmp_path: Path) -> Iterator[Server]:
    server = Server(subprocess_environment, tmp_path / "server.log")
    server.start()
    yield server
    server.kill()


class KeepSpans(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


def run_snippet(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The provider and the exporter of docs/sources.md, in small batches."""
    variables = {
        "ALIGNMENTER_SOURCE_TOKEN": TOKEN,
        "OTEL_BSP_SCHEDULE_DELAY": "20",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "7",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "60",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    snippet = (PROJECT / "docs" / "sources.md").read_text().split("```python\n")[1].split("```")[0]
    defined: dict[str, Any] = {}
    exec(snippet.replace("https://datasets.example.com", f"http://127.0.0.1:{server.port}"), defined)
    return defined


def talk(provider: TracerProvider, conversation: int) -> None:
    """Three calls of a model, each in a trace of an application with a span around it."""
    tracer = provider.get_tracer("shop")
    for call in range(1, CALLS + 1):
        with tracer.start_as_current_span("POST /chat"), tracer.start_as_current_span("chat gpt-5") as span:
            texts = {"input": ("user", "Question"), "output": ("assistant", "Answer")}
            for side, (role, text) in texts.items():
                part = {"type": "text", "content": f"{text} {call} wexcanary{conversation}quill"}
                span.set_attribute(f"gen_ai.{side}.messages", json.dumps([{"role": role, "parts": [part]}]))
            span.set_attribute("gen_ai.operation.name", "chat")
            span.set_attribute("gen_ai.conversation.id", f"sdk-{conversation}")


def test_nothing_is_lost_and_nothing_comes_twice(
    server: Server,
    wait_until: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = Source.objects.create(
        name="apps", kind="otlp", dataset_name="prod", token_digest=digest_token(TOKEN), quiet_minutes=0
    )
    wait_until(lambda: server.post(b"{}") == 200)
    documented, kept = run_snippet(server, monkeypatch), KeepSpans()
    provider, exporter = documented["provider"], documented["exporter"]
    provider.add_span_processor(kept)
    waiting = [encode_request(make_span(number, conversation=f"c{number}")) for number in range(1, 41)]
    for conversation in range(CONVERSATIONS):
        talk(provider, conversation)
    while len(waiting) > 20:
        waiting = deliver(server, waiting)
    wait_until(SeenTrace.objects.exists)
    server.kill()
    waiting = deliver(server, waiting)
    talk(provider, CONVERSATIONS)
    server.start()
    while waiting:
        waiting = deliver(server, waiting)
        time.sleep(0.02)
    assert provider.force_flush(60_000)
    exporter.export(kept.spans)  # as after an answer that was lost
    assert server.post(encode_request(make_span(1, 1, conversation="c1"))) == 200
    sent = 2 * CALLS * (CONVERSATIONS + 1)
    assert len(kept.spans) == sent
    assert SeenTrace.objects.count() == ReceivedSpan.objects.count() == sent + 40
    ReceivedSpan.objects.update(received_at=timezone.now() - timedelta(minutes=1))
    assert pull(source)["sessions"] == CONVERSATIONS + 1 + 40
    check_conversations()
    provider.shutdown()
    logs = caplog.text + server.log.read_text()
    assert "quill" not in logs


def deliver(server: Server, waiting: list[bytes]) -> list[bytes]:
    """Send one batch, and keep it unless it was accepted."""
    return waiting[1:] if server.post(waiting[0]) == 200 else waiting


def check_conversations() -> None:
    for conversation in range(CONVERSATIONS + 1):
        turns = Turn.objects.filter(session__session_id=f"sdk-{conversation}").order_by("turn_index")
        assert list(turns.values_list("text", flat=True)) == [
            f"{text} {call} wexcanary{conversation}quill"
            for call in range(1, CALLS + 1)
            for text in ("Question", "Answer")
        ]
    assert Session.objects.filter(session_id__startswith="c").count() == 40
