"""OpenTelemetry spans in any wrapper: OTLP JSON, Jaeger, Tempo, Zipkin, Phoenix, flat lists, bare
attributes."""

from collections.abc import Collection, Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.attributes import (
    CONVERSATION_ATTRIBUTES,
    describe_conversation,
    describe_reply,
    find_conversation,
    find_kind,
    flatten_attributes,
    read_span_messages,
)
from datasets_app.domain.traces.records import Remark, Span
from datasets_app.domain.traces.values import (
    as_dict,
    as_list,
    as_name,
    decode_json,
    drop_empty,
    pick,
    to_seconds,
)

_LISTS = tuple(
    "resourceSpans resource_spans batches scopeSpans scope_spans instrumentationLibrarySpans "
    "instrumentation_library_spans spans resourceLogs resource_logs scopeLogs scope_logs logRecords "
    "log_records data traces hits rows result results".split()
)
_STARTS = (
    "startTimeUnixNano start_time_unix_nano start_time startTime timestamp timeUnixNano time_unix_nano"
).split()
_ENDS = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
_IDS = ("spanId", "span_id", "spanID", "context.span_id")
_ATTRIBUTE_STARTS = tuple("gen_ai. llm. openinference. ai.prompt ai.response input.value traceloop.".split())
MAX_DEPTH = 8


def matches(value: Any) -> bool:
    return next(_find_spans(value), None) is not None


def read(value: Any, number: int) -> Iterator[Span | Remark]:
    for span, conversation in _find_spans(value):
        try:
            yield read_span(span, conversation, number)
        except RecursionError:
            yield Remark(reasons.TOO_DEEP, number)


def _find_spans(value: Any, conversation: str = "", depth: int = 0) -> Iterator[tuple[dict[str, Any], str]]:
    """Each with the conversation that what is around it names."""
    if depth > MAX_DEPTH:
        return
    if type(value) is list:
        for item in value:
            if type(item) is dict:
                yield from _find_spans(item, conversation, depth + 1)
        return
    if type(value) is not dict:
        return
    if type(value.get("_source")) is dict:
        value = value["_source"]
    if _is_span(value):
        yield value, conversation
        return
    conversation = as_name(value.get("session_id")) or conversation
    for key in _LISTS:
        if type(value.get(key)) in (list, dict):
            yield from _find_spans(value[key], conversation, depth + 1)
            return
    if type(value.get("trace")) is dict:
        yield from _find_spans(value["trace"], conversation, depth + 1)


def _is_span(value: dict[str, Any]) -> bool:
    attributes = value.get("attributes", value.get("tags"))
    if type(attributes) in (dict, list):
        named = any(key in value for key in (*_IDS, "span_kind", "spanName", "operationName", "context"))
        if named and not any(key in value for key in ("observations", "run_type")):
            return True
        if type(attributes) is list and ("name" in value or "traceId" in value) and _looks_otlp(attributes):
            return True
        return type(attributes) is dict and _are_attributes(attributes)
    return _are_attributes(value) or any(key.startswith("attributes.") for key in value)


def _looks_otlp(attributes: list[Any]) -> bool:
    return bool(attributes) and all(type(item) is dict and "key" in item for item in attributes)


def _are_attributes(value: dict[str, Any]) -> bool:
    return any(key.startswith(_ATTRIBUTE_STARTS) for key in value)


def read_span(value: dict[str, Any], conversation: str = "", line: int = 0) -> Span:
    attributes = _read_attributes(value)
    events = _read_events(value)
    given, produced, explicit = read_span_messages(attributes, events)
    kind = find_kind(attributes)
    if not kind:
        talks = explicit or "gen_ai.request.model" in attributes or "llm.model_name" in attributes
        kind = "model" if talks and (given or produced) else "other"
    if kind in ("tool", "aside") or (produced and not given and all(m.role == "tool" for m in produced)):
        given, produced, kind = [], [], kind if kind == "aside" else "tool"
    elif kind == "model" and produced and all(message.role == "tool" for message in produced):
        given, produced, kind = [], [], "tool"
    context = as_dict(value.get("context"))
    start, end = _find_times(value)
    return Span(
        trace=as_name(
            pick(value, "traceId", "trace_id", "traceID", "context.trace_id") or context.get("trace_id")
        ),
        id=as_name(
            pick(value, *_IDS) or context.get("span_id") or (value.get("id") if "traceId" in value else "")
        ),
        parent=_find_parent(value),
        kind=kind,
        start=start,
        end=end,
        conversation=find_conversation(attributes) or conversation,
        input=given,
        output=produced,
        explicit=explicit,
        metadata=drop_empty(
            {**(describe_reply(attributes) if produced else {}), "error": _find_error(value, events)}
        ),
        facts={**describe_conversation(attributes), **_read_scores(value)},
        line=line,
    )


def find_span_conversation(value: dict[str, Any]) -> str:
    """The conversation that :func:`read_span` finds; of the span, only the attributes are read.

    Raises RecursionError if they are nested too deeply; nothing else that is JSON makes either of them fail.
    """
    return find_conversation(_read_attributes(value, CONVERSATION_ATTRIBUTES))


def _read_attributes(value: dict[str, Any], only: Collection[str] | None = None) -> dict[str, Any]:
    """Without the others if ``only`` some are needed and OTLP lists them."""
    found: Any = value.get("attributes", value.get("tags"))
    if type(found) not in (dict, list):
        found = {key.removeprefix("attributes."): item for key, item in value.items()}
    if type(found) is list:
        return {
            item["key"]: _decode_value(item.get("value"))
            for item in found
            if type(item) is dict and type(item.get("key")) is str and (only is None or item["key"] in only)
        }
    flat = flatten_attributes(found) if any(type(item) is dict for item in found.values()) else found
    if "span_kind" in value and "openinference.span.kind" not in flat:  # Phoenix
        flat = {**flat, "openinference.span.kind": value["span_kind"]}
    return flat


def _decode_value(value: Any) -> Any:
    """OTLP's AnyValue → the value."""
    if type(value) is not dict or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    kind = kind.replace("_value", "Value")
    if kind == "intValue":
        return int(inner) if type(inner) is str and inner.lstrip("-").isdigit() else inner
    if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        return inner
    if kind == "arrayValue":
        return [_decode_value(item) for item in as_list(as_dict(inner).get("values"))]
    if kind == "kvlistValue":
        return {
            str(item.get("key")): _decode_value(item.get("value"))
            for item in as_list(as_dict(inner).get("values"))
            if type(item) is dict
        }
    return value


def _read_events(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Events, each as one flat dict with its name, attributes and body."""
    found = pick(value, "events", "span_events", "logs", "annotations") or []
    if "body" in value:  # a log record
        found = [value]
    events = []
    for event in as_list(decode_json(found)):
        if type(event) is not dict:
            continue
        attributes = event.get("attributes", event.get("fields"))
        flat = _read_attributes({"attributes": attributes}) if type(attributes) in (dict, list) else {}
        name = pick(event, "name", "event_name", "eventName") or flat.get("event.name") or flat.get("event")
        body = _decode_value(event.get("body"))
        events.append(drop_empty({**flat, "event.name": name, "body": decode_json(body)}))
    return events


def _find_parent(value: dict[str, Any]) -> str:
    parent = pick(value, "parentSpanId", "parent_span_id", "parentSpanID", "parentId", "parent_id")
    if parent is None:
        references = map(as_dict, as_list(value.get("references")))
        parent = next((one.get("spanID") for one in references if one.get("refType") == "CHILD_OF"), None)
    return as_name(parent)


def _find_times(value: dict[str, Any]) -> tuple[float, float]:
    start, end = to_seconds(pick(value, *_STARTS)), to_seconds(pick(value, *_ENDS))
    if start and not end and type(value.get("duration")) in (int, float):
        end = start + value["duration"] / 1e6  # Jaeger and Zipkin count in microseconds
    return start or 0.0, end or start or 0.0


def _read_scores(value: dict[str, Any]) -> dict[str, Any]:
    """What people and programs said of it: Phoenix has it apart from the span."""
    results = {
        item["name"]: as_dict(item.get("result"))
        for item in as_list(value.get("span_annotations"))
        if type(item) is dict and type(item.get("name")) is str
    }
    scores = {name: pick(found, "score", "label") for name, found in results.items()}
    return {"scores": scores} if scores else {}


def _find_error(value: dict[str, Any], events: list[dict[str, Any]]) -> Any:
    status = value.get("status", value.get("status_code"))
    code = status.get("code", status.get("status_code")) if type(status) is dict else status
    if code not in (2, "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR", "Error"):
        return None
    message = status.get("message") or status.get("description") if type(status) is dict else None
    for event in events:
        message = message or event.get("exception.message")
    return message or "error"


def is_openinference(value: Any) -> bool:
    return any("openinference.span.kind" in _read_attributes(span) for span, _ in _find_spans(value))
