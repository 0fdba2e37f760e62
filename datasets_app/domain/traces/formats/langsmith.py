"""LangSmith: runs of the API, of bulk exports, of its SDKs' ingestion batches (post, then patch)."""

from collections.abc import Iterator
from typing import Any

from datasets_app.domain.traces.attributes import KINDS
from datasets_app.domain.traces.exchanges import make_span
from datasets_app.domain.traces.records import Span
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

_KINDS = KINDS | {"prompt": "aside"}
_THREAD = ("session_id", "thread_id", "conversation_id")


def matches(value: Any) -> bool:
    return next(_find(value), None) is not None


def read(value: Any, number: int) -> Iterator[Span]:
    return (_read_run(run, number) for run in _find(value))


def _find(value: Any, *, batched: bool = False) -> Iterator[dict[str, Any]]:
    if type(value) is list:
        for item in value:
            yield from _find(item, batched=batched)
        return
    if type(value) is not dict:
        return
    if "run_type" in value or (batched and "dotted_order" in value):
        yield value
        yield from _find(decode_json(value.get("child_runs")))
        return
    for key in ("post", "patch", "runs"):
        yield from _find(decode_json(value.get(key)), batched=True)


def _read_run(run: dict[str, Any], line: int) -> Span:
    order = as_name(run.get("dotted_order"))
    name = as_name(run.get("id")) or order.rpartition(".")[2].partition("Z")[2]
    trace = as_name(run.get("trace_id")) or order.partition(".")[0].partition("Z")[2] or name
    parent = as_name(run.get("parent_run_id"))
    kind = _KINDS.get(str(run.get("run_type")), "other")
    if kind == "other" and not parent and run.get("run_type") is not None:
        kind = "root"
    outputs = decode_json(run.get("outputs"))
    metadata = _find_metadata(run)
    start = to_seconds(run.get("start_time")) or 0.0
    return make_span(
        kind,
        run.get("inputs"),
        outputs,
        trace=trace,
        id=name,
        parent=parent,
        start=start,
        end=to_seconds(run.get("end_time")) or start,
        conversation=as_name(pick(metadata, *_THREAD) or run.get("thread_id")),
        metadata=_describe_reply(run, as_dict(outputs), metadata),
        facts=_describe_conversation(run, metadata, kind),
        line=line,
    )


def _find_metadata(run: dict[str, Any]) -> dict[str, Any]:
    extra = as_dict(decode_json(run.get("extra")))
    return {**as_dict(decode_json(run.get("metadata"))), **as_dict(decode_json(extra.get("metadata")))}


def _describe_reply(run: dict[str, Any], outputs: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    usage = pick(outputs, "usage_metadata", "usage") or dig(outputs, "llm_output", "token_usage") or {}
    choice: Any = next(iter(as_list(outputs.get("choices"))), {})
    generation: Any = outputs.get("generations")
    while type(generation) is list and generation:
        generation = generation[0]
    reason = pick(choice, "finish_reason") or dig(generation, "generation_info", "finish_reason")
    if type(reason) is dict:
        reason = reason.get("finish_reason")
    return drop_empty(
        {
            "model": pick(outputs, "model")
            or pick(metadata, "ls_model_name")
            or dig(run, "extra", "invocation_params", "model"),
            "provider": metadata.get("ls_provider"),
            "input_tokens": pick(usage, "input_tokens", "prompt_tokens") or pick(run, "prompt_tokens"),
            "output_tokens": pick(usage, "output_tokens", "completion_tokens")
            or pick(run, "completion_tokens"),
            "cost": pick(run, "total_cost"),
            "finish_reason": reason,
            "temperature": metadata.get("ls_temperature"),
            "error": pick(run, "error"),
        }
    )


def _describe_conversation(run: dict[str, Any], metadata: dict[str, Any], kind: str) -> dict[str, Any]:
    own = {
        key: value
        for key, value in metadata.items()
        if not key.startswith(("ls_", "LANGSMITH_", "revision_id")) and key not in _THREAD
    }
    scores = {
        item["key"]: item.get("score", item.get("value"))
        for item in as_list(run.get("feedback"))
        if type(item) is dict and type(item.get("key")) is str
    }
    return drop_empty(
        {
            "user_id": pick(metadata, "user_id", "userId"),
            "tags": run.get("tags"),
            "scores": scores or run.get("feedback_stats"),
            "metadata": own,
            "trace_name": run.get("name") if kind == "root" else None,
        }
    )
