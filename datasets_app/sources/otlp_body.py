"""The body of an OTLP request → its spans as OTLP has them in JSON; and the bodies of answers.

A body is first split into spans that stay encoded, which is fast for any number of them.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

PROTOBUF, JSON = "application/x-protobuf", "application/json"
_ID = re.compile(r"[0-9a-f]+")
_GZIP = 31


class Refusal(Exception):
    """What is answered instead. ``message`` never quotes what the client has sent."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class _Scope(msgspec.Struct):
    spans: list[msgspec.Raw] | None = None


class _Resource(msgspec.Struct):
    scopeSpans: list[_Scope] | None = None  # noqa: N815  (as OTLP has it)


class _Request(msgspec.Struct):
    resourceSpans: list[_Resource] | None = None  # noqa: N815


_decode_request = msgspec.json.Decoder(_Request).decode
_decode_span = msgspec.json.Decoder().decode


def unpack_gzip(body: bytes, max_bytes: int) -> bytes:
    """Raises Refusal before more than ``max_bytes`` are unpacked."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, max_bytes + 1)
    except zlib.error:
        raise Refusal(400, "The body is not valid gzip.") from None
    if len(unpacked) > max_bytes:
        raise Refusal(413, f"More than {max_bytes} bytes; send fewer.")
    if not unpacker.eof:
        raise Refusal(400, "The gzip body is cut off.")
    return unpacked


def split_request(body: bytes, content_type: str) -> Sequence[Any]:
    """The spans, still encoded, for :func:`read_spans`. Raises Refusal."""
    if content_type == PROTOBUF:
        from datasets_app.sources import otlp_protobuf

        try:
            return otlp_protobuf.split_request(body)
        except ValueError:
            raise Refusal(400, "The body is not a valid ExportTraceServiceRequest.") from None
    try:
        request = _decode_request(body)
    except msgspec.ValidationError:
        raise Refusal(400, "The body is not an ExportTraceServiceRequest.") from None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise Refusal(400, "The body is not valid JSON.") from None
    return [
        span
        for resource in request.resourceSpans or ()
        for scope in resource.scopeSpans or ()
        for span in scope.spans or ()
    ]


def read_spans(encoded: Sequence[Any], content_type: str) -> Iterator[dict[str, Any] | None]:
    """The spans as OTLP has them in JSON, with ids in lower case; None for those that can't be read or have
    no ids."""
    read = _decode_span
    if content_type == PROTOBUF:
        from datasets_app.sources.otlp_protobuf import read_span as read
    for item in encoded:
        try:
            span = read(item)
        except (ValueError, RecursionError):
            span = None
        yield _check_ids(span) if type(span) is dict else None


def _check_ids(span: dict[str, Any]) -> dict[str, Any] | None:
    trace, name = _read_id(span.get("traceId"), 32), _read_id(span.get("spanId"), 16)
    return {"attributes": [], **span, "traceId": trace, "spanId": name} if trace and name else None


def _read_id(value: Any, length: int) -> str:
    """Empty if it is none: ids have a fixed length and are not all zeros."""
    text = value.lower() if type(value) is str else ""
    return text if len(text) == length and _ID.fullmatch(text) and text.strip("0") else ""


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
