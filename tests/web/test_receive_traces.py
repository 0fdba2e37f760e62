"""The OTLP receiver: its answers are those of the specification, and what it accepts is stored once."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from datasets_app.access.tokens import digest_token
from datasets_app.domain.traces.formats.otlp import read_span
from datasets_app.domain.traces.values import decode_json
from datasets_app.models import (
    Dataset,
    JobRun,
    ReceivedRequest,
    ReceivedSpan,
    SeenTrace,
    Session,
    Source,
    Turn,
)
from datasets_app.retention.delete_contents import count_contents, delete_dataset_rows
from datasets_app.retention.erase_session import erase_session
from datasets_app.sources import receive, receiver_pages
from datasets_app.sources.due import start_due_storing
from datasets_app.sources.otlp_body import JSON, PROTOBUF
from tests.conftest import as_owner
from tests.factories import run_task
from tests.operations.test_pull_source import pull
from tests.spans import encode_request, make_span

pytestmark = pytest.mark.django_db

TOKEN = "alds_test-token"


@pytest.fixture(autouse=True)
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setattr(receive, "_waiting", {"bytes": 0.0, "at": float("-inf")})
    return Source.objects.create(
        name="collector", kind="otlp", dataset_name="prod", token_digest=digest_token(TOKEN)
    )


def send(body: bytes, content_type: str = JSON, token: str = TOKEN, **headers: str) -> Any:
    headers = {"Authorization": f"Bearer {token}", **headers}
    return Client(enforce_csrf_checks=True).post("/v1/traces", body, content_type, headers=headers)


def encode_protobuf(*spans: dict[str, Any]) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for span in spans:
        message = ParseDict({key: value for key, value in span.items() if not key.endswith("Id")}, Span())
        message.trace_id, message.span_id = bytes.fromhex(span["traceId"]), bytes.fromhex(span["spanId"])
        scope.spans.append(message)
    return request.SerializeToString()


def test_json_and_protobuf_store_the_same_and_each_span_once() -> None:
    spans = [make_span(1, 1, conversation="chat-7"), make_span(1, 2), make_span(2, 1)]
    for body, content_type, headers in (
        (encode_request(*spans), JSON, {}),
        (encode_request(*spans), f"{JSON}; charset=utf-8", {}),
        (encode_protobuf(*spans), PROTOBUF, {}),
        (gzip.compress(encode_protobuf(*spans, make_span(2, 2))), PROTOBUF, {"Content-Encoding": "gzip"}),
    ):
        response = send(body, content_type, **headers)
        assert (response.status_code, response["Content-Type"]) == (200, content_type.partition(";")[0])
        assert response.content == (b"" if content_type == PROTOBUF else b"{}")
    stored = ReceivedSpan.objects.order_by("pk")
    assert len(stored) == SeenTrace.objects.count() == 4
    assert len({bytes(span.trace) for span in stored}) == 2
    assert sum(span.conversation is not None for span in stored) == 1
    assert b"How do I export it?" in bytes(stored[0].content)


def test_a_protobuf_span_is_stored_as_its_json() -> None:
    send(encode_protobuf(make_span(5, 6)), PROTOBUF)
    stored = decode_json(bytes(ReceivedSpan.objects.get().content).decode())
    assert read_span(stored) == read_span(make_span(5, 6))


def test_invalid_spans_are_a_partial_success() -> None:
    bad = [make_span(traceId="0" * 32), make_span(spanId="xyz"), make_span(traceId=7), {}]
    response = send(encode_request(make_span(), *bad))
    assert response.status_code == 200
    assert response.json()["partialSuccess"]["rejectedSpans"] == "4"
    answer = send(encode_protobuf({**make_span(3, 1), "spanId": "00" * 8}), PROTOBUF).content
    assert ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans == 1
    assert ReceivedSpan.objects.count() == 1


def test_refusals(settings: LazySettings) -> None:
    settings.OTLP_MAX_BYTES = 2000
    body = encode_request(make_span())
    huge, bomb = encode_request(*[make_span()] * 9), gzip.compress(b" " * 3000)
    gzipped, wrong = {"Content-Encoding": "gzip"}, {"Content-Encoding": "br"}
    cases: list[tuple[int, dict[str, Any]]] = [
        (401, {"body": body, "token": ""}),
        (401, {"body": body, "token": f"{TOKEN}x"}),
        (400, {"body": b"{"}),
        (400, {"body": b"[]"}),
        (400, {"body": b'{"resourceSpans": 1}'}),
        (400, {"body": b"[" * 1900}),
        (400, {"body": b"\xff\xff\xff", "content_type": PROTOBUF}),
        (400, {"body": b"no gzip", **gzipped}),
        (400, {"body": gzip.compress(body)[:-9], **gzipped}),
        (413, {"body": huge}),
        (413, {"body": bomb, **gzipped}),
        (415, {"body": body, "content_type": "text/plain"}),
        (415, {"body": body, **wrong}),
    ]
    for status, request in cases:
        response = send(**request)
        assert response.status_code == status, request
        assert b"export it" not in response.content
    assert send(body, token="x")["WWW-Authenticate"] == "Bearer"
    assert Client().get("/v1/traces").status_code == 405
    assert not ReceivedSpan.objects.exists()


def test_a_source_that_is_off_revoked_or_expired_receives_nothing(source: Source) -> None:
    body = encode_request(make_span())
    Source.objects.update(active=False)
    assert send(body).status_code == 401
    Source.objects.update(active=True, token_digest=None)
    assert send(body).status_code == 401
    Source.objects.update(token_digest=digest_token(TOKEN))
    Dataset.objects.create(name="prod", origin="production", status="expired")
    assert send(body).status_code == 401
    Dataset.objects.update(status="raw")
    assert send(body).status_code == 200


def test_a_full_spool_and_a_database_that_refuses_ask_to_send_again(
    settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    assert send(encode_request(make_span(1, 1))).status_code == 200
    settings.OTLP_MAX_WAITING_BYTES = 100
    receive._waiting["at"] = float("-inf")
    full = send(encode_request(make_span(1, 2)))
    assert (full.status_code, full["Retry-After"]) == (429, "30")
    settings.OTLP_MAX_WAITING_BYTES = 1 << 30
    receive._waiting["at"] = float("-inf")
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE datasets_app_receivedspan RENAME TO away")
    refused = send(encode_request(make_span(1, 3)))
    assert (refused.status_code, refused["Retry-After"]) == (503, "30")
    assert "How do I" not in caplog.text


def test_spans_that_no_reader_expects_are_stored_or_rejected_and_never_an_error(
    settings: LazySettings,
) -> None:
    values: list[Any] = [
        None,
        7,
        "x",
        [],
        {},
        [[]],
        [{}],
        {"key": 1},
        [{"key": "a", "value": {"intValue": {}}}],
    ]
    keys = (
        "attributes",
        "events",
        "startTimeUnixNano",
        "endTimeUnixNano",
        "status",
        "name",
        "parentSpanId",
        "context",
        "body",
        "links",
    )
    spans = [
        make_span(number + 1, position + 1, **{key: value})
        for number, key in enumerate(keys)
        for position, value in enumerate(values)
    ]
    response = send(encode_request(*spans))
    assert response.status_code == 200
    rejected = int(response.json().get("partialSuccess", {}).get("rejectedSpans", 0))
    assert ReceivedSpan.objects.count() == len(spans) - rejected
    settings.MAX_LINE_BYTES = 100
    assert send(encode_request(make_span(77, 1))).json()["partialSuccess"]["rejectedSpans"] == "1"
    settings.MAX_LINE_BYTES = 1 << 20
    ReceivedSpan.objects.update(received_at=timezone.now() - timedelta(minutes=30))
    assert pull(Source.objects.get())["sessions"] > 0
    assert not ReceivedSpan.objects.exists()


def test_while_one_request_is_read_others_are_asked_to_send_again() -> None:
    body = encode_request(make_span(1, 1))
    with receiver_pages._at_work:
        refused = send(body)
    assert (refused.status_code, refused["Retry-After"]) == (503, "30")
    assert not ReceivedSpan.objects.exists()
    assert send(body).status_code == 200
    assert ReceivedSpan.objects.count() == 1


def send_large(settings: LazySettings, *spans: Any, content_type: str = JSON) -> Any:
    """Send a request that has too many spans to be stored at once."""
    settings.OTLP_MAX_SPANS = 1
    body = encode_protobuf(*spans) if content_type == PROTOBUF else encode_request(*spans)
    response = send(gzip.compress(body), content_type, **{"Content-Encoding": "gzip"})
    assert response.status_code == 200
    return response


def store_waiting() -> dict[str, Any]:
    assert start_due_storing() == 1
    assert start_due_storing() == 0  # one job at a time
    return run_task(JobRun.objects.get(operation="store_spans", state="queued"))


@pytest.mark.parametrize("content_type", [JSON, PROTOBUF])
def test_a_job_stores_what_has_many_spans_and_each_once(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, content_type: str
) -> None:
    monkeypatch.setattr(receive, "_BATCH", 2)
    spans = [make_span(1, number, conversation="c") for number in range(1, 6)]
    assert send(encode_request(spans[0])).status_code == 200
    response = send_large(settings, *spans, content_type=content_type)
    assert response.content == (b"" if content_type == PROTOBUF else b"{}")
    assert ReceivedSpan.objects.count() == 1
    arrived = timezone.now() - timedelta(minutes=5)
    ReceivedRequest.objects.update(received_at=arrived)
    assert store_waiting() == {"spans": 5}
    assert not ReceivedRequest.objects.exists()
    assert ReceivedSpan.objects.count() == SeenTrace.objects.count() == 5
    times = ReceivedSpan.objects.order_by("pk").values_list("received_at", flat=True)
    assert list(times[1:]) == [arrived] * 4
    ReceivedSpan.objects.all().delete()
    send_large(settings, *spans, content_type=content_type)
    JobRun.objects.update(state="done")
    store_waiting()
    assert not ReceivedSpan.objects.exists()
    job = JobRun.objects.latest("pk")
    assert "export it" not in f"{job.parameters}{job.result}{job.error}"


def test_a_job_that_dies_between_batches_has_lost_and_repeated_nothing(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receive, "_BATCH", 2)
    bad = make_span(spanId="xyz")
    send_large(settings, *[make_span(1, number) for number in range(1, 5)], bad, bad)
    store, calls = receive._store_spans, []

    def die_at_third(*arguments: Any) -> int:
        calls.append(arguments)
        if len(calls) == 3:
            raise ConnectionError
        return store(*arguments)

    monkeypatch.setattr(receive, "_store_spans", die_at_third)
    key = ReceivedRequest.objects.get().pk
    with pytest.raises(ConnectionError):
        receive.store_request(key)
    assert (ReceivedSpan.objects.count(), ReceivedRequest.objects.count()) == (4, 1)
    receive.store_request(key)
    receive.store_request(key)
    assert (ReceivedSpan.objects.count(), ReceivedRequest.objects.count()) == (4, 0)
    assert Source.objects.get().rejected_spans == 2


def test_what_could_not_be_stored_is_counted_on_the_page_of_the_source(
    settings: LazySettings, source: Source, admin_client: Client
) -> None:
    page = reverse("admin:datasets_app_source_change", args=[source.pk])
    assert "received spans that" not in admin_client.get(page).content.decode()
    assert send(encode_request(make_span(spanId="x"))).status_code == 200
    send_large(settings, make_span(1, 1), {}, 7)
    send_large(settings, *[make_span(2, number) for number in range(1, 4)])
    assert "2 large requests" in admin_client.get(page).content.decode()
    ReceivedRequest.objects.filter(spans=3, pk=ReceivedRequest.objects.latest("pk").pk).update(
        body=b"damaged"
    )
    store_waiting()
    assert (ReceivedSpan.objects.count(), ReceivedRequest.objects.count()) == (1, 0)
    text = admin_client.get(page).content.decode()
    assert "6 received spans that can&#x27;t be read" in text
    assert "large request" not in text


def test_a_conversation_is_not_complete_while_a_request_waits_that_may_continue_it(
    settings: LazySettings, source: Source
) -> None:
    assert send(encode_request(make_span(1, 1, conversation="c"))).status_code == 200
    send_large(settings, make_span(2, 1, answer="And again.", conversation="c"), make_span(3, 1))
    now = timezone.now()
    ReceivedSpan.objects.update(received_at=now - timedelta(minutes=25))
    ReceivedRequest.objects.update(received_at=now - timedelta(minutes=20))
    assert pull(source)["sessions"] == 0
    store_waiting()
    assert pull(source)["sessions"] == 2
    assert Turn.objects.filter(session__session_id="c").count() == 4


def test_requests_that_wait_count_as_waiting_and_are_erased_and_deleted(
    settings: LazySettings, source: Source
) -> None:
    assert send(encode_request(make_span(1, 1, conversation="c"))).status_code == 200
    ReceivedSpan.objects.update(received_at=timezone.now() - timedelta(minutes=30))
    pull(source)
    dataset, session = Dataset.objects.get(), Session.objects.get()
    send_large(settings, make_span(2, 1, conversation="c"), make_span(3, 1, conversation="d"))
    settings.OTLP_MAX_WAITING_BYTES = 100
    receive._waiting["at"] = float("-inf")
    assert send(encode_request(make_span(9, 1))).status_code == 429
    JobRun.objects.update(state="done")
    assert erase_session(session, "a request")["received_spans"] == 1
    assert (ReceivedSpan.objects.count(), ReceivedRequest.objects.count()) == (1, 0)
    settings.OTLP_MAX_WAITING_BYTES = 1 << 30
    receive._waiting["at"] = float("-inf")
    send_large(settings, make_span(4, 1), make_span(4, 2))
    assert count_contents(dataset)["received_requests"] == 1
    Dataset.objects.update(status=Dataset.Status.EXPIRED)
    assert delete_dataset_rows(dataset)["received_requests"] == 1
    assert not ReceivedRequest.objects.exists()


def test_two_requests_with_the_same_spans_wait_for_each_other(transactional_db: None, source: Source) -> None:
    spans = [make_span(number, 1) for number in range(1, 1500)]
    bodies = [encode_request(*spans), encode_request(*reversed(spans))]

    def store(body: bytes) -> int:
        try:
            return receive.receive(source, body, JSON)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(store, bodies * 2)) == [0] * 4
    assert ReceivedSpan.objects.count() == SeenTrace.objects.count() == 1499
