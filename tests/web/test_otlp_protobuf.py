"""Spans in protobuf become what the library of protobuf makes of them, with ids in hex as OTLP has them."""

from base64 import b64decode
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from datasets_app.sources import otlp_protobuf

VALUES: dict[Any, list[Any]] = {
    Field.CPPTYPE_STRING: ["Grüße"],
    Field.CPPTYPE_BOOL: [True],
    Field.CPPTYPE_DOUBLE: [1.5, float("nan"), float("inf"), float("-inf")],
    Field.CPPTYPE_INT64: [-(2**63)],
    Field.CPPTYPE_UINT64: [2**64 - 1],
    Field.CPPTYPE_UINT32: [257],
    Field.CPPTYPE_INT32: [-7],
}


def fill(message: Any, number: int, depth: int = 0) -> Any:
    """Set every field, of alternatives the one of this number, and of nested messages down to a depth."""
    for field in message.DESCRIPTOR.fields:
        if field.name == "key_strindex":  # in the place of a key, and of profiles only
            continue
        alternatives = field.containing_oneof
        if alternatives and alternatives.fields[number % len(alternatives.fields)] is not field:
            continue
        if field.message_type:
            if depth < 5:
                inner = getattr(message, field.name)
                inner.SetInParent() if not field.is_repeated else None
                fill(inner.add() if field.is_repeated else inner, number + 1, depth + 1)
            continue
        if field.enum_type:
            value: Any = field.enum_type.values[number % len(field.enum_type.values)].number
        elif field.type == Field.TYPE_BYTES:
            value = bytes(range(number, number + (16 if "trace" in field.name else 8)))
        else:
            found = VALUES[field.cpp_type]
            value = found[number % len(found)]
        getattr(message, field.name).append(value) if field.is_repeated else setattr(
            message, field.name, value
        )
    return message


def name_ids_in_hex(value: Any) -> Any:
    if isinstance(value, list):
        return [name_ids_in_hex(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: b64decode(item).hex() if key in ("traceId", "spanId", "parentSpanId") else name_ids_in_hex(item)
        for key, item in value.items()
    }


@pytest.mark.parametrize("number", range(24))
def test_every_field_becomes_its_json(number: int) -> None:
    span = fill(Span(), number)
    for alternative in AnyValue.DESCRIPTOR.fields:
        value = span.attributes.add(key=alternative.name).value
        fill(value, AnyValue.DESCRIPTOR.fields.index(alternative) + number)
    span.attributes.add().value.string_value = "without a key"
    span.attributes.add(key="empty").value.string_value = ""
    span.kind = 99 if number == 7 else span.kind
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.append(span)
    (encoded,) = otlp_protobuf.split_request(request.SerializeToString())
    assert otlp_protobuf.read_span(encoded) == name_ids_in_hex(MessageToDict(span))


def test_what_is_no_message_is_an_error_of_its_span_alone() -> None:
    with pytest.raises(ValueError, match="not a valid message"):
        otlp_protobuf.split_request(b"\xff\xff")
    damaged = b"\x0a\x05\x12\x03\x12\x01\xff"
    (encoded,) = otlp_protobuf.split_request(damaged)
    with pytest.raises(ValueError, match="not a valid message"):
        otlp_protobuf.read_span(encoded)
