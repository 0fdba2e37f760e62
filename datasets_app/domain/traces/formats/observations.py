"""Calls as other tools record them: Weave, Braintrust, Opik, Datadog, PostHog, Parea, Amazon Bedrock's logs,
promptfoo, OpenAI Evals."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.attributes import KINDS
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.exchanges import make_span
from datasets_app.domain.traces.records import Call, Remark, Span
from datasets_app.domain.traces.streams import join_events
from datasets_app.domain.traces.values import (
    as_dict,
    as_list,
    as_name,
    decode_json,
    dig,
    drop_empty,
    pick,
    to_seconds,
)

_KINDS = KINDS | {
    "function": "tool",
    "retrieval": "aside",
    "score": "aside",
    "scorer": "aside",
    "eval": "root",
}
_MODEL_CALLS = ("completions", "messages.create", "responses.create", "chat", "generate_content", "generate")


def _observe(
    name: str, trace: str, parent: str, kind: str, given: Any, produced: Any, start: Any = None,
    conversation: str = "", metadata: Mapping[str, Any] = MappingProxyType({}), failed: bool = False,
) -> Span | None:  # fmt: skip
    """None for a call that failed. A step without a name, trace or time gets those of its place."""
    if failed and not produced:
        return None
    return make_span(
        kind,
        given,
        produced,
        trace=trace or name,
        id=name,
        parent=parent,
        start=to_seconds(start) or 0.0,
        conversation=conversation,
        metadata=drop_empty({key: item for key, item in metadata.items() if key != "scores"}),
        facts=drop_empty({"scores": drop_empty(as_dict(metadata.get("scores")))}),
    )


def _read_weave(value: dict[str, Any]) -> Span | None:
    name = str(value["op_name"]).rpartition("/")[2]
    inputs = as_dict(decode_json(value.get("inputs")))
    is_model = any(part in name for part in _MODEL_CALLS) and ("messages" in inputs or "model" in inputs)
    kind = "model" if is_model else "root" if not value.get("parent_id") else "other"
    return _observe(
        as_name(value.get("id")), as_name(value.get("trace_id")), as_name(value.get("parent_id")), kind,
        inputs, value.get("output"), value.get("started_at"), as_name(value.get("thread_id")),
        {"model": inputs.get("model")}, bool(value.get("exception")),
    )  # fmt: skip


def _read_braintrust(value: dict[str, Any]) -> Span | None:
    kind = _KINDS.get(str(as_dict(decode_json(value["span_attributes"])).get("type")), "other")
    metadata, parents = as_dict(decode_json(value.get("metadata"))), as_list(value.get("span_parents"))
    root = value.get("span_id") == value.get("root_span_id")
    return _observe(
        as_name(value.get("span_id")), as_name(value.get("root_span_id")),
        "" if root else as_name(next(iter(parents), None)),
        "root" if root and kind in ("other", "agent") else kind, value.get("input"), value.get("output"),
        value.get("created"), as_name(pick(metadata, "session_id", "thread_id", "conversation_id")),
        {"model": metadata.get("model"), "scores": value.get("scores")}, bool(value.get("error")),
    )  # fmt: skip


def _read_opik(value: dict[str, Any]) -> Span | None:
    is_span = "trace_id" in value
    parent = as_name(value.get("parent_span_id")) or (as_name(value.get("trace_id")) if is_span else "")
    kind = _KINDS.get(str(value.get("type")), "other") if is_span else "root"
    usage = as_dict(value.get("usage"))
    return _observe(
        as_name(value.get("id")), as_name(value.get("trace_id")) or as_name(value.get("id")), parent, kind,
        value.get("input"), value.get("output"), value.get("start_time"), as_name(value.get("thread_id")),
        {"model": value.get("model"), "input_tokens": usage.get("prompt_tokens")},
        bool(value.get("error_info")),
    )  # fmt: skip


def _read_datadog(value: dict[str, Any]) -> Span | None:
    found = as_dict(value.get("attributes")) or value
    meta = as_dict(found.get("meta")) or found
    kind = found.get("span_kind") or meta.get("span.kind") or meta.get("span_kind")
    parent = as_name(found.get("parent_id"))
    parent = "" if parent == "undefined" else parent
    kind = _KINDS.get(str(kind), "other")
    return _observe(
        as_name(found.get("span_id")), as_name(found.get("trace_id")), parent,
        "root" if kind in ("other", "agent") and not parent else kind, meta.get("input"), meta.get("output"),
        found.get("start_ns"), as_name(found.get("session_id")),
        {"model": dig(meta, "metadata", "model_name")}, found.get("status") == "error",
    )  # fmt: skip


def _read_posthog(value: dict[str, Any]) -> Span | None:
    found = as_dict(decode_json(value["properties"]))
    return _observe(
        as_name(value.get("uuid")) or as_name(found.get("$ai_span_id")), as_name(found.get("$ai_trace_id")),
        as_name(found.get("$ai_parent_id")), "model" if value["event"] == "$ai_generation" else "aside",
        found.get("$ai_input"), {"choices": as_list(found.get("$ai_output_choices"))}, value.get("timestamp"),
        as_name(found.get("$ai_session_id")),
        {"model": found.get("$ai_model"), "input_tokens": found.get("$ai_input_tokens"),
         "output_tokens": found.get("$ai_output_tokens"), "latency": found.get("$ai_latency")},
        found.get("$ai_is_error") is True,
    )  # fmt: skip


def _read_parea(value: dict[str, Any]) -> Span | None:
    asked = as_dict(decode_json(value["llm_configuration"]))
    return _observe(
        as_name(value.get("trace_id")), as_name(value.get("root_trace_id")) or as_name(value.get("trace_id")),
        as_name(value.get("parent_trace_id")), "model", asked, value.get("output"),
        value.get("start_timestamp"), as_name(value.get("session_id")), {"model": asked.get("model")},
    )  # fmt: skip


def _read_bedrock(value: dict[str, Any]) -> Span | None:
    asked, given = as_dict(value.get("input")), as_dict(value.get("output"))
    answer = decode_json(given.get("outputBodyJson"))
    if type(answer) is list:  # streamed
        answer = join_events([item for item in answer if type(item) is dict])
    return _observe(
        as_name(value.get("requestId")), as_name(value.get("requestId")), "", "model",
        decode_json(asked.get("inputBodyJson")), answer, value.get("timestamp"), "",
        {"model": value.get("modelId"), "input_tokens": asked.get("inputTokenCount"),
         "output_tokens": given.get("outputTokenCount")}, bool(value.get("errorCode")),
    )  # fmt: skip


def _read_promptfoo(value: dict[str, Any]) -> Span | None:
    provider = value.get("provider")
    output = dig(value, "response", "output")
    return _observe(
        as_name(value.get("id")), as_name(value.get("id")), "", "model", dig(value, "prompt", "raw"),
        output if type(output) is str or not output else [output], None, "",
        {"model": provider.get("id") if type(provider) is dict else provider,
         "scores": {"score": value.get("score")}, "vars": value.get("vars")},
    )  # fmt: skip


def _read_evals(value: dict[str, Any]) -> Span | None:
    data = as_dict(value["data"])
    sampled = data.get("sampled")
    name = f"{value.get('run_id')}-{value.get('event_id')}"
    return _observe(
        name, name, "", "model", data.get("prompt"),
        next(iter(sampled), "") if type(sampled) is list else sampled, value.get("created_at"),
    )  # fmt: skip


_Reader = Callable[[dict[str, Any]], Span | None]
_READERS: tuple[tuple[Callable[[dict[str, Any]], bool], _Reader], ...] = (
    (lambda value: "op_name" in value and "inputs" in value, _read_weave),
    (lambda value: "span_attributes" in value and "root_span_id" in value, _read_braintrust),
    (lambda value: str(value.get("schemaType")) == "ModelInvocationLog", _read_bedrock),
    (lambda value: str(value.get("event")).startswith("$ai_") and "properties" in value, _read_posthog),
    (lambda value: "llm_configuration" in value, _read_parea),
    (lambda value: "ml_app" in (as_dict(value.get("attributes")) or value), _read_datadog),
    (lambda value: type(dig(value, "prompt", "raw")) is str and "response" in value, _read_promptfoo),
    (lambda value: value.get("type") == "sampling" and type(value.get("data")) is dict, _read_evals),
    (
        lambda value: "start_time" in value and "input" in value and "run_type" not in value
        and ("parent_span_id" in value or ("project_id" in value and "thread_id" in value)),
        _read_opik,
    ),
)  # fmt: skip
# What these tools write beside the calls.
_BESIDE = ("spec", "final_report")


def matches(value: Any) -> bool:
    return any(_choose(item) is not None for item in _list(value)[:20])


def read(documents: Iterable[Document]) -> Iterator[Span | Call | Remark]:
    for number, value in documents:
        for place, item in enumerate(_list(value)):
            reader = _choose(item)
            if reader is None:
                if not any(key in item for key in _BESIDE):
                    yield Remark(reasons.NO_MESSAGES, number)
            else:
                yield _place_span(reader(item), number, place)


def _list(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The records of a page of an API, or of a file of results."""
    if type(value) is list:
        return [item for item in value if type(item) is dict]
    if type(value) is not dict:
        return []
    if _choose(value) is None and depth < 2:
        for key in ("results", "data", "calls", "events", "content", "spans"):
            inner = value.get(key)
            if (type(inner) is dict or type(inner) is list) and (found := _list(inner, depth + 1)):
                return found
    return [value]


def _choose(value: dict[str, Any]) -> _Reader | None:
    return next((reader for matches_it, reader in _READERS if matches_it(value)), None)


def _place_span(span: Span | None, number: int, place: int) -> Span | Remark:
    if span is None:
        return Remark(reasons.FAILED, number)
    name, start = f"{number}-{place}", span.start or float(place)
    return span._replace(trace=span.trace or name, id=span.id or name, start=start, end=start, line=number)
