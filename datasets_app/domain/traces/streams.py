"""Streamed replies: events of OpenAI, Anthropic, Ollama → the reply as it would have come in one piece."""

from collections.abc import Iterable
from typing import Any

import msgspec

from datasets_app.domain.traces.values import as_dict, as_list

_decode = msgspec.json.Decoder().decode
_ANTHROPIC = frozenset(
    "message_start content_block_start content_block_delta content_block_stop message_delta "
    "message_stop ping".split()
)


_SDK = {
    "start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish", "stream-start",
    "response-metadata", "reasoning-start", "reasoning-delta", "reasoning-end", "tool-input-start",
    "tool-input-delta",
    "tool-input-end", "tool-input-available", "tool-output-available", "tool-call", "tool-result",
}  # fmt: skip
_FIRST = {"message_start", "response.created", "start", "stream-start"}


def is_event(value: Any) -> bool:
    if type(value) is not dict:
        return False
    kind = value.get("type")
    return (
        value.get("object") == "chat.completion.chunk"
        or ("candidates" in value and ("modelVersion" in value or "usageMetadata" in value))
        or (type(kind) is str and kind in _SDK and "messages" not in value and "content" not in value)
        or (type(kind) is str and (kind in _ANTHROPIC or kind.startswith("response.")))
        or (type(value.get("done")) is bool and type(value.get("message")) is dict and "created_at" in value)
    )


def begins_reply(event: dict[str, Any], previous: dict[str, Any]) -> bool:
    """Whether an event begins another reply than the event before."""
    if event.get("object") == "chat.completion.chunk":
        return bool(event.get("id") != previous.get("id"))
    if "candidates" in event:
        return event.get("responseId") != previous.get("responseId")
    return (
        str(event.get("type")) in _FIRST or previous.get("done") is True or previous.get("type") == "finish"
    )


def parse_events(text: str) -> list[dict[str, Any]]:
    """The events of a text in the format of server-sent events, or with one JSON object per line."""
    found = []
    for line in text.splitlines():
        line = line.removeprefix("data:").strip()
        if line[:1] == "{":
            try:
                value = _decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                continue
            if type(value) is dict:
                found.append(value)
    return found


def join_events(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The reply, in the form of the provider's reply that is not streamed; {} if the events have none."""
    events = [event for event in events if type(event) is dict]
    kinds = {event.get("type") for event in events}
    if any(type(kind) is str and kind.startswith("response.") for kind in kinds):
        return _join_response(events)
    if kinds & _ANTHROPIC:
        return _join_anthropic(events)
    if any("choices" in event for event in events):
        return _join_chunks(events)
    if any("candidates" in event for event in events):
        return _join_candidates(events)
    if kinds & _SDK:
        return _join_sdk(events)
    text = "".join(str(as_dict(event.get("message")).get("content") or "") for event in events)
    return (
        {"message": {"role": "assistant", "content": text}, "model": events[-1].get("model")}
        if events
        else {}
    )


def _join_candidates(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Gemini: every chunk has parts of its own."""
    parts: list[Any] = []
    for event in events:
        for candidate in as_list(event.get("candidates"))[:1]:
            parts += as_list(as_dict(as_dict(candidate).get("content")).get("parts"))
    last = events[-1]
    texts = [part for part in parts if type(part) is dict and set(part) == {"text"}]
    if len(texts) == len(parts):
        parts = [{"text": "".join(str(part["text"]) for part in texts)}]
    candidate = {
        **as_dict(next(iter(as_list(last.get("candidates"))), None)),
        "content": {"role": "model", "parts": parts},
    }
    return {**last, "candidates": [candidate]}


def _join_sdk(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Vercel's AI SDK, as it streams to the browser and from a provider."""
    text = ""
    calls: list[Any] = []
    found: dict[str, Any] = {}
    for event in events:
        kind = event.get("type")
        if kind == "text-delta":
            text += str(event.get("delta") or event.get("textDelta") or event.get("text") or "")
        elif kind in ("tool-input-available", "tool-call"):
            calls.append(
                {
                    "id": event.get("toolCallId"),
                    "name": event.get("toolName"),
                    "arguments": event.get("input"),
                }
            )
        elif kind == "response-metadata":
            found = {"model": event.get("modelId"), "id": event.get("id")}
    message = {"role": "assistant", "content": text, "tool_calls": calls}
    return {**found, "choices": [{"message": message}]}


def _join_response(events: list[dict[str, Any]]) -> dict[str, Any]:
    started: dict[str, Any] = {}
    items: list[Any] = []
    text = ""
    for event in events:
        kind = event.get("type")
        if kind in ("response.completed", "response.incomplete", "response.done"):
            response = as_dict(event.get("response"))
            if response.get("output"):
                return response
            started |= response
        elif kind == "response.created":
            started |= as_dict(event.get("response"))
        elif kind == "response.output_item.done":
            items.append(event.get("item"))
        elif kind == "response.output_text.delta":
            text += str(event.get("delta") or "")
    message = {"type": "message", "role": "assistant", "content": text}
    return {**started, "object": "response", "output": items or [message]}


def _join_anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "type": "message"}
    blocks: dict[int, dict[str, Any]] = {}
    partial: dict[int, str] = {}
    for event in events:
        kind, index, delta = event.get("type"), event.get("index", 0), as_dict(event.get("delta"))
        if type(index) is not int:
            continue
        if kind == "message_start":
            message |= as_dict(event.get("message"))
        elif kind == "content_block_start":
            blocks[index] = dict(as_dict(event.get("content_block")))
        elif kind == "content_block_delta":
            block = blocks.setdefault(index, {"type": "text", "text": ""})
            for key in ("text", "thinking"):
                if type(delta.get(key)) is str:
                    block[key] = str(block.get(key) or "") + delta[key]
            if type(delta.get("partial_json")) is str:
                partial[index] = partial.get(index, "") + delta["partial_json"]
        elif kind == "message_delta":
            message |= delta
            message["usage"] = {**as_dict(message.get("usage")), **as_dict(event.get("usage"))}
    for index, text in partial.items():
        blocks.get(index, {})["input"] = text
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


def _join_chunks(events: list[dict[str, Any]]) -> dict[str, Any]:
    text, reason = "", None
    calls: dict[int, dict[str, Any]] = {}
    usage: Any = None
    for event in events:
        usage = event.get("usage") or usage
        for choice in as_list(event.get("choices"))[:1]:
            delta = as_dict(as_dict(choice).get("delta"))
            text += str(delta.get("content") or as_dict(choice).get("text") or "")
            reason = as_dict(choice).get("finish_reason") or reason
            for call in as_list(delta.get("tool_calls")):
                _add_call(calls, as_dict(call))
    message = {"role": "assistant", "content": text, "tool_calls": [calls[index] for index in sorted(calls)]}
    first = events[0]
    return {
        "object": "chat.completion",
        "id": first.get("id"),
        "model": first.get("model"),
        "created": first.get("created"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }


def _add_call(calls: dict[int, dict[str, Any]], call: dict[str, Any]) -> None:
    index = call.get("index")
    known = calls.setdefault(
        index if type(index) is int else len(calls), {"function": {"name": "", "arguments": ""}}
    )
    known["id"] = call.get("id") or known.get("id")
    for key in ("name", "arguments"):
        known["function"][key] += str(as_dict(call.get("function")).get(key) or "")
