"""The body of an OTLP request → its spans as OTLP has them in JSON; and the bodies of answers."""

import base64
import re
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from datasets_app.domain.traces.values import as_dict, as_list

PROTOBUF, JSON = "application/x-protobuf", "application/json"
_ID = re.compile(r"[0-9a-f]+")
_GZIP = 31
# Of one request: collectors send 8,192 at most, if nobody changes that, and SDKs 512.
MAX_SPANS = 50_000


class InvalidBody(Exception):
    """The message is sent to the client, and never quotes what it sent."""


class TooLarge(Exception):
    pass


class Request(NamedTuple):
    """``spans`` by (trace, span), both in hex; ``rejected`` have no valid ids."""

    spans: dict[tuple[str, str], dict[str, Any]]
    rejected: int


def unpack_gzip(body: bytes, max_bytes: int) -> bytes:
    """Raises TooLarge before more than ``max_bytes`` are unpacked."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, max_bytes + 1)
    except zlib.error:
        raise InvalidBody("The body is not valid gzip.") from None
    if len(unpacked) > max_bytes:
        raise TooLarge
    if not unpacker.eof:
        raise InvalidBody("The gzip body is cut off.")
    return unpacked


def read_request(body: bytes, content_type: str) -> Request:
    """Raises InvalidBody, and TooLarge for too many spans."""
    spans: dict[tuple[str, str], dict[str, Any]] = {}
    rejected = 0
    for number, span in enumerate(_read_protobuf(body) if content_type == PROTOBUF else _read_json(body)):
        if number >= MAX_SPANS:
            raise TooLarge
        trace, name = _read_id(span.get("traceId"), 32), _read_id(span.get("spanId"), 16)
        if trace and name:
            spans[trace, name] = {"attributes": [], **span, "traceId": trace, "spanId": name}
        else:
            rejected += 1
    return Request(spans, rejected)


def _read_id(value: Any, length: int) -> str:
    """Empty if it is none: ids have a fixed length and are not all zeros."""
    text = value.lower() if type(value) is str else ""
    return text if len(text) == length and _ID.fullmatch(text) and text.strip("0") else ""


def _read_json(body: bytes) -> Iterator[dict[str, Any]]:
    try:
        request = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise InvalidBody("The body is not valid JSON.") from None
    if type(request) is not dict or type(request.get("resourceSpans", [])) is not list:
        raise InvalidBody("The body is not an ExportTraceServiceRequest.")
    for resource in as_list(request.get("resourceSpans")):
        for scope in as_list(as_dict(resource).get("scopeSpans")):
            for span in as_list(as_dict(scope).get("spans")):
                yield as_dict(span)


def _read_protobuf(body: bytes) -> Iterator[dict[str, Any]]:
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise InvalidBody("The body is not a valid ExportTraceServiceRequest.") from None
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for message in scope.spans:
                span = MessageToDict(message)
                # JSON of protobuf has bytes in base64, that of OTLP has ids in hex.
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
                yield span


def make_response(content_type: str, rejected: int) -> bytes:
    """The body of a 200: empty, or a partial success."""
    message = "Spans that are not valid, or have no trace ID and span ID, were not stored."
    if content_type == JSON:
        partial = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": message}}
        return msgspec.json.encode(partial if rejected else {})
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

    if not rejected:
        return b""
    answer = service.ExportTraceServiceResponse(
        partial_success=service.ExportTracePartialSuccess(rejected_spans=rejected, error_message=message)
    )
    return answer.SerializeToString()


def make_error(content_type: str, message: str) -> bytes:
    """A google.rpc.Status with a message of less than 128 bytes, which is all that clients read of it."""
    if content_type == PROTOBUF:
        encoded = message.encode()
        return bytes([0x12, len(encoded)]) + encoded  # field 2, length-delimited
    return msgspec.json.encode({"message": message})
