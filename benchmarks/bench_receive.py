"""The OTLP receiver, from the bytes of a request to committed rows, in one process.

    python -m benchmarks.bench_receive [--spans 60000] [--rounds 3]

"Messages" are the agents' spans of bench_spans: of three, one is a call of a model with the history so far.
"Small" spans have IDs, a name and times, as those of a web server and its database.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench_spans import SPANS_PER_TRACE, TRACES_PER_CONVERSATION, make_traces
from benchmarks.harness import run_measured, temporary_servers

MIN_RATE = 20_000
# What collectors send.
SPANS_A_REQUEST = 8_192
TOKEN = "benchmark"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", choices=["messages", "small"], help=argparse.SUPPRESS)
    parser.add_argument("--form", choices=["protobuf", "json"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return receive(given.child, given.form, given.spans)
    with temporary_servers():
        for kind in ("messages", "small"):
            for form in ("protobuf", "json"):
                measured = [
                    run_measured(
                        "benchmarks.bench_receive", "--child", kind, "--form", form, "--spans", given.spans
                    )
                    for _ in range(given.rounds)
                ]
                best = min(measured, key=lambda result: result["server_cpu"] + result["database_cpu"])
                cpu = best["server_cpu"] + best["database_cpu"]
                print(
                    f"receive: {kind}, {form}: {best['spans'] / cpu:,.0f} spans a second of a processor "
                    f"(wanted: {MIN_RATE:,}), the server {best['server_cpu'] / cpu:.0%} of it; "
                    f"{best['spans'] / best['seconds']:,.0f} spans/s, "
                    f"{best['bytes'] / best['spans']:,.0f} bytes each, {best['rss_mb']:.0f} MB"
                )
    return None


def receive(kind: str, form: str, count: int) -> None:
    """Print as JSON how long the view takes for all requests; it is called as a web server calls it."""
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import RequestFactory

    from datasets_app.access.tokens import digest_token
    from datasets_app.models import ReceivedSpan, Source
    from datasets_app.sources.receiver_pages import receive_traces

    settings.OTLP_MAX_SPANS = SPANS_A_REQUEST
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE datasets_app_source CASCADE")
    Source.objects.create(name="bench", kind="otlp", dataset_name="bench", token_digest=digest_token(TOKEN))
    bodies = list(_make_bodies(kind, form, count))
    content_type = "application/x-protobuf" if form == "protobuf" else "application/json"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = Path("/proc", str(cursor.fetchone()[0]), "stat")
    database, start, cpu = _read_cpu(backend), time.perf_counter(), time.process_time()
    for body in bodies:
        request = RequestFactory().post(
            "/v1/traces", body, content_type, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        response = receive_traces(request)
        assert response.status_code == 200, (response.status_code, response.content)
    result = {
        "seconds": time.perf_counter() - start,
        "server_cpu": time.process_time() - cpu,
        "database_cpu": _read_cpu(backend) - database,
        "spans": ReceivedSpan.objects.count(),
        "bytes": sum(map(len, bodies)),
    }
    print(json.dumps(result))


def _read_cpu(stat: Path) -> float:
    """Seconds of a processor that a process of Linux has used."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _make_bodies(kind: str, form: str, count: int) -> Iterator[bytes]:
    spans: list[dict[str, Any]] = []
    for span in _make_spans(kind, count):
        spans.append(span)
        if len(spans) == SPANS_A_REQUEST:
            yield _encode(spans, form)
            spans = []
    if spans:
        yield _encode(spans, form)


def _make_spans(kind: str, count: int) -> Iterator[dict[str, Any]]:
    if kind == "small":
        chance = random.Random(42)
        for number in range(count):
            yield {
                "traceId": f"{number // 10 + 1:032x}",
                "spanId": f"{chance.getrandbits(64) | 1:016x}",
                "name": "GET /orders",
                "startTimeUnixNano": f"{1_760_000_000_000_000_000 + number}",
                "endTimeUnixNano": f"{1_760_000_000_000_000_000 + number + 1000}",
            }
        return
    for number in range(count // (SPANS_PER_TRACE * TRACES_PER_CONVERSATION)):
        for trace in make_traces(number):
            yield from trace["resourceSpans"][0]["scopeSpans"][0]["spans"]


def _encode(spans: list[dict[str, Any]], form: str) -> bytes:
    if form == "json":
        return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for span in spans:
        fields = {key: value for key, value in span.items() if not key.endswith("Id")}
        message = ParseDict(fields, Span())
        for key, field in (
            ("traceId", "trace_id"),
            ("spanId", "span_id"),
            ("parentSpanId", "parent_span_id"),
        ):
            setattr(message, field, bytes.fromhex(span.get(key, "")))
        scope.spans.append(message)
    return request.SerializeToString()


if __name__ == "__main__":
    main()
