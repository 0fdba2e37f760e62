"""Requests to OpenAI, Anthropic and compatible APIs with their replies: logs, batches, stored and streamed
ones."""

from collections.abc import Iterable, Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.conversations import CONVERSATION_IDS
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.exchanges import read_input, read_output
from datasets_app.domain.traces.messages import find_time
from datasets_app.domain.traces.records import Call, Message, Remark
from datasets_app.domain.traces.streams import begins_reply, is_event, join_events, parse_events
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

_REQUESTS = tuple(
    "request request_body requestBody req params body kwargs prompt_messages llm_request".split()
)
_REPLIES = tuple("response response_body responseBody resp result llm_response output completion".split())
_REPLY_OBJECTS = ("chat.completion", "response", "text_completion")


def matches(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if is_event(value) or _is_reply(value):
        return True
    if listed := _list_calls(value):
        return matches(listed[0])
    if "custom_id" in value:
        return any(key in value for key in ("body", "params", "response", "result"))
    request, reply = _find_pair(value)
    if request is None or reply is None:
        return False
    return bool(read_input(request)[0]) and (type(reply) is str or bool(as_dict(_unwrap(reply))))


def read(documents: Iterable[Document]) -> Iterator[Call | Remark]:
    reader = _Reader()
    events: list[dict[str, Any]] = []
    first = 0
    for number, value in documents:
        if is_event(value):
            if events and begins_reply(value, events[-1]):
                yield from reader.read(join_events(events), first)
                events = []
            if not events:
                first = number
            events.append(value)
        else:
            for item in _list_calls(value) or [value]:
                yield from reader.read(item, number)
    if events:
        yield from reader.read(join_events(events), first)
    yield from reader.finish()


def _list_calls(value: Any) -> list[Any]:
    """The calls of a page of an API, or of a document that lists them."""
    for key in ("data", "calls", "requests", "logs", "entries", "records", "results"):
        found = value.get(key) if type(value) is dict else None
        if type(found) is list and found and type(found[0]) is dict:
            return found
    return []


class _Reader:
    """Joins batches by custom_id, and responses by previous_response_id."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[Any, int]] = {}
        self.replies: dict[str, tuple[Any, int]] = {}
        self.conversations: dict[str, str] = {}

    def read(self, value: Any, line: int) -> Iterator[Call | Remark]:
        if type(value) is not dict:
            yield Remark(reasons.NO_MESSAGES, line)
            return
        name = as_name(value.get("custom_id"))
        request, reply = _find_pair(value)
        if name and reply is None:
            if name in self.replies:
                yield from self._make_call(value, request, *self.replies.pop(name))
            else:
                self.waiting[name] = (request, line)
            return
        if name and request is None:
            if name not in self.waiting:
                self.replies[name] = (reply, line)
                return
            request, line = self.waiting.pop(name)
        yield from self._make_call(value, request, reply, line)

    def finish(self) -> Iterator[Call | Remark]:
        yield Remark(reasons.UNANSWERED_REQUESTS, 0, len(self.waiting))
        yield Remark(reasons.UNASKED_REPLIES, 0, len(self.replies))

    def _make_call(
        self, value: dict[str, Any], request: Any, reply: Any, line: int
    ) -> Iterator[Call | Remark]:
        request, reply = _unwrap(request), _unwrap(reply)
        given = _add_time(read_input(request)[0], value)
        status = pick(value, "status", "status_code") or dig(value, "response", "status_code")
        if (type(status) is int and status >= 400) or _is_error(reply):
            yield Remark(reasons.FAILED, line)
            return
        if _is_no_chat(reply):
            yield Remark(reasons.NO_CHAT, line)
            return
        produced = read_output(reply)[0]
        if not given and not produced:
            yield Remark(reasons.NO_MESSAGES, line)
            return
        start = to_seconds(pick(value, "start_time", "startTime", "timestamp", "created_at", "time"))
        start = start or find_time(as_dict(reply)) or float(line)
        facts = describe(as_dict(request), as_dict(reply))
        if produced and facts:
            produced[-1] = produced[-1]._replace(details={**facts, **produced[-1].details})
        conversation = self._find_conversation(value, as_dict(request), as_dict(reply))
        yield Call(conversation, "", start, given, produced, _describe_call(value, as_dict(request)), line)

    def _find_conversation(
        self, value: dict[str, Any], request: dict[str, Any], reply: dict[str, Any]
    ) -> str:
        for place in (value, as_dict(decode_json(value.get("metadata"))), as_dict(request.get("metadata"))):
            if name := as_name(pick(place, *CONVERSATION_IDS)):
                return name
        for place in (request, reply):
            found = place.get("conversation")
            if name := as_name(as_dict(found).get("id") if type(found) is dict else found):
                return name
        name = as_name(reply.get("id"))
        previous = as_name(pick(request, "previous_response_id") or reply.get("previous_response_id"))
        if previous:
            name, own = self.conversations.get(previous, previous), name
            self.conversations[own] = name
            return name
        if reply.get("object") == "response" and name:
            return name
        return ""


def _find_pair(value: dict[str, Any]) -> tuple[Any, Any]:
    """(request, reply) of a record; None for what it does not have."""
    request: Any
    if _is_reply(value):
        request = {key: value[key] for key in ("messages", "input", "instructions") if value.get(key)}
        return request or None, value
    request = pick(value, *_REQUESTS)
    reply = pick(value, *_REPLIES)
    if type(request) is dict and type(decode_json(request.get("body"))) is dict:  # as HTTP has it
        request = decode_json(request["body"])
    if request is None and "messages" in value:
        request = {key: value[key] for key in ("messages", "system") if key in value}
    if request is None and type(value.get("input")) in (dict, list) and "model" in value:
        request = value["input"]
    if reply is None and ("choices" in value or "candidates" in value):
        reply = value
    return request, reply


def _is_reply(value: dict[str, Any]) -> bool:
    if value.get("object") in _REPLY_OBJECTS and ("choices" in value or "output" in value):
        return True
    if "stopReason" in value and type(value.get("output")) is dict:  # Amazon's Converse
        return True
    return value.get("type") == "message" and value.get("role") == "assistant" and "stop_reason" in value


def _unwrap(value: Any) -> Any:
    """A request or reply without what HTTP, batches and logs put around it; streams joined."""
    for _ in range(6):
        value = decode_json(value)
        if type(value) is str and value.lstrip()[:6] in ("event:", "data: ", "data:{"):
            value = join_events(parse_events(value))
        if type(value) is list and value and all(is_event(item) for item in value[:3]):
            value = join_events(value)
        if type(value) is not dict:
            return value
        inner = next((value[key] for key in ("body", "parsed_body", "json") if value.get(key)), None)
        if value.get("type") == "succeeded":
            inner = value.get("message")
        if inner is None:
            return value
        value = inner
    return value


def _is_error(reply: Any) -> bool:
    return type(reply) is dict and (
        type(reply.get("error")) in (dict, str)
        and bool(reply["error"])
        or reply.get("type") in ("error", "errored")
    )


def _is_no_chat(reply: Any) -> bool:
    """Embeddings, moderations, images, lists of models."""
    reply = as_dict(reply)
    listed = (
        reply.get("object") == "list" or "embeddings" in reply or ("created" in reply and "data" in reply)
    )
    moderated = type(reply.get("results")) is list and str(reply.get("id")).startswith("modr")
    return (listed or moderated) and not any(key in reply for key in ("choices", "output"))


def _add_time(messages: list[Message], value: dict[str, Any]) -> list[Message]:
    start = to_seconds(pick(value, "start_time", "startTime", "timestamp"))
    if not start or not messages:
        return messages
    last = messages[-1]
    return [*messages[:-1], last._replace(details={"timestamp": start, **last.details})]


def describe(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
    """Metadata of a reply of any provider."""
    usage = as_dict(pick(reply, "usage", "usageMetadata", "usage_metadata"))
    choice = as_dict(next(iter(as_list(reply.get("choices")) or as_list(reply.get("candidates"))), {}))
    return drop_empty(
        {
            "model": pick(reply, "model", "modelVersion") or request.get("model"),
            "input_tokens": pick(usage, "input_tokens", "prompt_tokens", "promptTokenCount"),
            "output_tokens": pick(usage, "output_tokens", "completion_tokens", "candidatesTokenCount"),
            "finish_reason": pick(choice, "finish_reason", "finishReason") or reply.get("stop_reason"),
            "temperature": request.get("temperature"),
            "timestamp": find_time(reply),
        }
    )


def _describe_call(value: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    metadata = {**as_dict(request.get("metadata")), **as_dict(decode_json(value.get("metadata")))}
    user = pick(value, "user_id", "user", "userId", "end_user") or pick(request, "user")
    return drop_empty({"user_id": user, "tags": value.get("tags"), "metadata": metadata})
