"""The OTLP receiver: its answers are those of the specification, and what it accepts is stored once."""

import gzip
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from datasets_app.domain.traces.formats.otlp import read_span
from datasets_app.domain.traces.values import decode_json
from datasets_app.models import Dataset, ReceivedSpan, SeenTrace, Source
from datasets_app.sources import otlp_body, receive, receiver_pages
from datasets_app.sources.otlp_body import JSON, PROTOBUF
from datasets_app.sources.secrets import digest_token
from tests.conftest import as_owner
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


def test_more_spans_than_a_request_may_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_body, "MAX_SPANS", 2)
    spans = [make_span(1, number) for number in range(1, 4)]
    assert send(encode_request(*spans)).status_code == 413
    assert send(encode_protobuf(*spans), PROTOBUF).status_code == 413
    assert send(encode_request(*spans[:2])).status_code == 200
