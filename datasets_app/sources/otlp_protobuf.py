"""Spans in protobuf → as OTLP has them in JSON: 64-bit numbers as strings, enums by name, ids in hex."""

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from math import inf, isfinite
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import DecodeError
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_IDS = {"trace_id", "span_id", "parent_span_id"}
_LONG = {Field.CPPTYPE_INT64, Field.CPPTYPE_UINT64}
_NOT_FINITE = {inf: "Infinity", -inf: "-Infinity"}
_FLOATS = {Field.CPPTYPE_DOUBLE, Field.CPPTYPE_FLOAT}


def split_request(body: bytes) -> list[bytes]:
    """The spans of an ExportTraceServiceRequest, each still encoded. Raises ValueError."""
    return [
        span
        for resource in _parse(_envelope(), body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def read_span(encoded: bytes) -> dict[str, Any]:
    """Raises ValueError."""
    return _read_message(_parse(Span, encoded))


def _parse(message_type: Any, encoded: bytes) -> Any:
    try:
        return message_type.FromString(encoded)
    except DecodeError:
        raise ValueError("not a valid message") from None


@cache
def _envelope() -> Any:
    """The message of OTLP, with spans that stay encoded: any number of them costs little."""
    file = descriptor_pb2.FileDescriptorProto(name="envelope.proto", package="envelope", syntax="proto3")
    levels = [("Request", "resource_spans", 1), ("Resource", "scope_spans", 2), ("Scope", "spans", 2)]
    for level, (name, field, number) in enumerate(levels, 1):
        inner = file.message_type.add(name=name).field.add(
            name=field, number=number, label=Field.LABEL_REPEATED, type=Field.TYPE_BYTES
        )
        if level < len(levels):
            inner.type, inner.type_name = Field.TYPE_MESSAGE, f".envelope.{levels[level][0]}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call]
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("envelope.Request"))


def _read_message(message: Any) -> dict[str, Any]:
    found = {}
    for field, value in message.ListFields():
        name, read = _find_reader(field)
        found[name] = read(value) if read else value
    return found


def _read_attribute(pair: Any) -> dict[str, Any]:
    """As :func:`_read_message`, faster for what most of them are: a key and a text."""
    key, text = pair.key, pair.value.string_value
    return {"key": key, "value": {"stringValue": text}} if key and text else _read_message(pair)


@cache
def _find_reader(field: Field) -> tuple[str, Callable[[Any], Any] | None]:
    """(name in JSON, what makes JSON of the value), without a function if the value is JSON already."""
    read = _find_value_reader(field)
    if read and field.is_repeated:
        return field.json_name, lambda values: [read(value) for value in values]
    return field.json_name, list if field.is_repeated else read


def _find_value_reader(field: Field) -> Callable[[Any], Any] | None:
    if field.message_type:
        return _read_attribute if field.message_type.name == "KeyValue" else _read_message
    if field.enum_type:
        names = {value.number: value.name for value in field.enum_type.values}
        return lambda number: names.get(number, number)
    if field.type == Field.TYPE_BYTES:
        return bytes.hex if field.name in _IDS else lambda value: b64encode(value).decode()
    if field.cpp_type in _FLOATS:
        return lambda number: number if isfinite(number) else _NOT_FINITE.get(number, "NaN")
    return str if field.cpp_type in _LONG else None
