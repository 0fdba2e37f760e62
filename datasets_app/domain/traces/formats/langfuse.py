"""Langfuse: traces with their observations, observations alone, ingestion batches; API, UI and blob
exports."""

from collections.abc import Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.attributes import KINDS
from datasets_app.domain.traces.exchanges import make_span
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

_TYPES = frozenset("GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL".split())
_TRACE_KEYS = tuple(
    "sessionId userId session_id user_id projectId project_id htmlPath latency release".split()
)
_KEPT = ("name", "environment", "release", "version")


def matches(value: Any) -> bool:
    return next(_find(value), None) is not None


def read(value: Any, number: int) -> Iterator[Span | Remark]:
    for kind, item, trace in _find(value):
        yield (_read_trace if kind == "trace" else _read_observation)(item, trace, number)
    if _is_score(value) and not matches(value):
        yield Remark(reasons.SCORES, number)


def _find(value: Any) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """("trace" or "observation", it, the trace that it stands in)."""
    if type(value) is list:
        for item in value:
            yield from _find(item)
        return
    if type(value) is not dict:
        return
    trace: dict[str, Any] = as_dict(value.get("trace")) or value
    observations = decode_json(trace.get("observations")) or decode_json(value.get("observations"))
    if type(value.get("batch")) is list:
        yield from _find_events(value["batch"])
    elif type(value.get("body")) is dict and type(value.get("type")) is str:
        yield from _find_events([value])
    elif str(value.get("type")) in _TYPES and pick(value, "traceId", "trace_id"):
        yield "observation", value, {}
    elif type(observations) is list and (observations == [] or any(map(_is_observation, observations))):
        yield "trace", trace, {}
        listed = filter(_is_observation, as_list(value.get("observations")))
        full: dict[str, dict[str, Any]] = {as_name(item.get("id")): item for item in listed}
        for item in observations:
            if _is_observation(item):
                yield "observation", full.get(as_name(item.get("id"))) or item, trace
    elif _is_trace(trace):
        yield "trace", trace, {}
    else:
        for key in ("data", "traces", "observations", "sessions"):
            yield from _find(value.get(key)) if type(value.get(key)) is list else ()


def _find_events(events: list[Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    traces: dict[Any, Any] = {}
    for event in events:
        kind, _, _ = str(as_dict(event).get("type", "")).partition("-")
        body = as_dict(event).get("body")
        if type(body) is not dict:
            continue
        if kind == "trace":
            yield "trace", {"timestamp": event.get("timestamp"), **body}, {}
        elif kind in ("generation", "span", "agent", "tool", "observation"):
            trace = traces.setdefault(as_name(body.get("id")), body.get("traceId"))
            yield "observation", {"type": kind.upper(), **body, "traceId": body.get("traceId") or trace}, {}


def _is_observation(value: Any) -> bool:
    return type(value) is dict and (
        str(value.get("type")) in _TYPES or "traceId" in value or "trace_id" in value
    )


def _is_trace(value: dict[str, Any]) -> bool:
    return (
        "id" in value
        and "timestamp" in value
        and ("input" in value or "output" in value)
        and any(key in value for key in _TRACE_KEYS)
    )


def _is_score(value: Any) -> bool:
    return type(value) is dict and "value" in value and ("dataType" in value or "data_type" in value)


def _read_trace(value: dict[str, Any], _: dict[str, Any], line: int) -> Span:
    start = to_seconds(pick(value, "timestamp", "createdAt", "created_at")) or 0.0
    latency = pick(value, "latency")
    return make_span(
        "root",
        value.get("input"),
        value.get("output"),
        trace=as_name(value.get("id")),
        id="",
        parent="",
        start=start,
        end=start + latency if isinstance(latency, int | float) and latency > 0 else start,
        conversation=as_name(pick(value, "sessionId", "session_id")),
        facts=_describe_trace(value),
        line=line,
    )


def _describe_trace(value: dict[str, Any]) -> dict[str, Any]:
    scores = {
        score["name"]: pick(score, "stringValue", "string_value", "value")
        if score.get("value") is None
        else score["value"]
        for score in as_list(decode_json(value.get("scores")))
        if type(score) is dict and type(score.get("name")) is str
    }
    metadata = decode_json(value.get("metadata"))
    if type(metadata) is dict:
        noise = ("resourceAttributes", "scope", "attributes")
        metadata = {key: item for key, item in metadata.items() if key not in noise}
    kept = {f"trace_{key}" if key == "name" else key: value.get(key) for key in _KEPT}
    return drop_empty(
        {
            "user_id": pick(value, "userId", "user_id"),
            "tags": decode_json(value.get("tags")),
            "scores": scores,
            "metadata": metadata,
            **kept,
        }
    )


def _read_observation(value: dict[str, Any], trace: dict[str, Any], line: int) -> Span:
    kind = KINDS.get(str(value.get("type", "")).lower(), "other")
    start = to_seconds(pick(value, "startTime", "start_time")) or 0.0
    span = make_span(
        kind,
        value.get("input"),
        value.get("output"),
        trace=as_name(pick(value, "traceId", "trace_id") or trace.get("id")),
        id=as_name(value.get("id")),
        parent=as_name(pick(value, "parentObservationId", "parent_observation_id")),
        start=start,
        end=to_seconds(pick(value, "endTime", "end_time")) or start,
        conversation=as_name(
            pick(value, "sessionId", "session_id") or pick(trace, "sessionId", "session_id")
        ),
        metadata=_describe_observation(value),
        facts=drop_empty({"user_id": pick(value, "userId", "user_id")}),
        line=line,
    )
    is_asked = kind != "other" or any(message.role == "user" for message in span.input)
    return span._replace(explicit=span.explicit and is_asked)


def _describe_observation(value: dict[str, Any]) -> dict[str, Any]:
    usage = as_dict(decode_json(pick(value, "usageDetails", "usage_details", "usage")))
    parameters = as_dict(decode_json(pick(value, "modelParameters", "model_parameters")))
    level = value.get("level")
    return drop_empty(
        {
            "model": pick(value, "model", "provided_model_name", "providedModelName"),
            "input_tokens": pick(usage, "input", "promptTokens", "prompt_tokens", "input_tokens")
            or pick(value, "promptTokens", "inputUsage"),
            "output_tokens": pick(usage, "output", "completionTokens", "completion_tokens", "output_tokens")
            or pick(value, "completionTokens", "outputUsage"),
            "cost": pick(value, "calculatedTotalCost", "totalCost", "total_cost") or None,
            "finish_reason": pick(parameters, "finishReason", "finish_reason"),
            "temperature": parameters.get("temperature"),
            "error": (pick(value, "statusMessage", "status_message") or "error")
            if level == "ERROR"
            else None,
        }
    )
