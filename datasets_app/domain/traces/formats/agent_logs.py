"""Logs of agents: Claude Code, the Claude Agent SDK, Anthropic's managed agents, Codex; Inspect's
evaluations."""

from collections.abc import Iterable, Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.exchanges import read_output
from datasets_app.domain.traces.messages import read_message, read_messages
from datasets_app.domain.traces.records import LEFT_OUT, Conversation, Message, Remark, leave_out
from datasets_app.domain.traces.values import as_dict, as_list, as_name, drop_empty, pick, to_seconds

_MANAGED = {
    "user.message": "user", "agent.message": "assistant", "user.custom_tool_result": "tool",
    "agent.custom_tool_use": "tool-call", "agent.tool_use": "tool-call", "agent.tool_result": "tool",
    "agent.mcp_tool_use": "tool-call", "agent.mcp_tool_result": "tool", "agent.thinking": "reasoning",
}  # fmt: skip
_CODE_TYPES = frozenset(
    "user assistant system summary file-history-snapshot queue-operation progress".split()
)


def matches(value: Any) -> bool:
    if type(value) is list:
        return (
            len(value) == 2 and type(value[0]) is str and "." in value[0] and type(value[1]) in (list, dict)
        )
    if type(value) is not dict:
        return False
    if type(value.get("messages")) is list:
        return any(
            "direction" in as_dict(item) and "message" in as_dict(item) for item in value["messages"][:5]
        )
    if "direction" in value and type(value.get("message")) is dict:
        return True
    if value.get("type") in ("session_meta", "response_item", "event_msg") and "payload" in value:
        return True
    if value.get("type") == "system" and value.get("subtype") == "init":
        return True
    if str(value.get("type")) in _MANAGED and "content" in value:
        return True
    return str(value.get("type")) in _CODE_TYPES and any(
        key in value for key in ("sessionId", "session_id", "leafUuid", "uuid")
    )


def read(documents: Iterable[Document]) -> Iterator[Conversation | Remark]:
    """One conversation for each session of the file; sessions are held until its end."""
    sessions: dict[str, _Session] = {}
    for number, value in documents:
        items = as_list(value.get("messages")) if type(value) is dict and "messages" in value else [value]
        name = next(reversed(sessions), "")
        for item in items:
            for found, message, facts in _read_item(item):
                if message and message.role == LEFT_OUT:
                    yield Remark(message.speaker, number)
                    continue
                name = found or name
                session = sessions.setdefault(name, _Session(number))
                session.add(message, facts)
    named = [name for name in sessions if name]
    if "" in sessions and len(named) == 1:  # sent before the log said which session it is
        sessions[named[0]].messages[:0] = sessions.pop("").messages
    for name, session in sessions.items():
        yield Conversation(name, session.messages, session.facts, session.line)


class _Session:
    def __init__(self, line: int) -> None:
        self.line = line
        self.messages: list[Message] = []
        self.facts: dict[str, Any] = {}

    def add(self, message: Message | None, facts: dict[str, Any]) -> None:
        """Messages that are echoed are taken once."""
        self.facts |= facts
        if message and (message.role, message.text) not in [
            (item.role, item.text) for item in self.messages[-2:] if item.text
        ]:
            self.messages.append(message)


def _read_item(item: Any) -> Iterator[tuple[str, Message | None, dict[str, Any]]]:
    if type(item) is list:
        yield from _read_managed(item)
        return
    item = as_dict(item)
    if "direction" in item:
        item = as_dict(item.get("message"))
    if "payload" in item:
        yield from _read_codex(item)
        return
    if str(item.get("type")) in _MANAGED:
        yield "", _read_managed_event(item), {}
        return
    name = as_name(pick(item, "sessionId", "session_id")).replace("default", "")
    if item.get("isSidechain") or item.get("parent_tool_use_id"):
        yield name, leave_out(reasons.SUB_AGENTS), {}
    elif inner := as_dict(item.get("message")):
        role = item["type"] if item.get("type") in ("user", "assistant") else None
        message = leave_out(reasons.HIDDEN) if item.get("isMeta") else read_message({"role": role, **inner})
        extra = drop_empty({"timestamp": to_seconds(item.get("timestamp")), "model": inner.get("model")})
        yield name, message._replace(details={**extra, **message.details}), {}
    else:
        costs = {"cost": item.get("total_cost_usd"), "duration_ms": item.get("duration_ms")}
        if name and any(costs.values()):
            yield name, None, drop_empty(costs)
        yield name, leave_out(reasons.OTHER_EVENTS), {}


def _read_managed(item: list[Any]) -> Iterator[tuple[str, Message | None, dict[str, Any]]]:
    payload = item[1] if len(item) == 2 else None
    if type(payload) is list and len(payload) == 2:
        name, payload = as_name(payload[0]), payload[1]
        for event in as_list(as_dict(payload).get("events")):
            yield name, _read_managed_event(as_dict(event)), {}
    elif type(payload) is dict and payload.get("type") == "session":
        yield as_name(payload.get("id")), None, drop_empty({"title": payload.get("title")})
    elif type(payload) is dict:
        yield "", _read_managed_event(payload), {}


def _read_managed_event(event: dict[str, Any]) -> Message:
    role = _MANAGED.get(str(event.get("type")))
    time = drop_empty({"timestamp": to_seconds(event.get("processed_at"))})
    if role == "tool-call":
        call = drop_empty({"id": event.get("id"), "name": event.get("name"), "arguments": event.get("input")})
        return Message("assistant", "", {"tool_calls": [call]})
    if role == "tool":
        name = pick(event, "custom_tool_use_id", "tool_use_id", "mcp_tool_use_id")
        return read_message({"role": "tool", "tool_call_id": name, "content": event.get("content")})
    if role in ("user", "assistant"):
        message = read_message({"role": role, "content": event.get("content")})
        return message._replace(details={**time, **message.details})
    return leave_out(reasons.OTHER_EVENTS)


def _read_codex(item: dict[str, Any]) -> Iterator[tuple[str, Message | None, dict[str, Any]]]:
    payload = as_dict(item["payload"])
    if item.get("type") == "session_meta":
        yield as_name(payload.get("id")), None, drop_empty({"model_provider": payload.get("model_provider")})
    elif item.get("type") == "response_item":
        time = drop_empty({"timestamp": to_seconds(item.get("timestamp"))})
        for message in read_messages(payload, "assistant"):
            yield "", message._replace(details={**message.details, **time}), {}
    else:
        yield "", leave_out(reasons.OTHER_EVENTS), {}


# --- Inspect -----------------------------------------------------------------------------------


def matches_inspect(value: Any) -> bool:
    return type(value) is dict and type(value.get("samples")) is list and ("eval" in value or "plan" in value)


def read_inspect(value: Any, number: int) -> Iterator[Conversation]:
    if matches_inspect(value):
        run = as_dict(value.get("eval"))
        yield from (_read_sample(as_dict(sample), run, number) for sample in value["samples"])


def _read_sample(sample: dict[str, Any], run: dict[str, Any], number: int) -> Conversation:
    messages = read_messages(sample.get("messages"))
    if not messages:
        messages = read_messages(sample.get("input"), "user")
        messages += read_output(sample.get("output"))[0]
    attachments = as_dict(sample.get("attachments"))
    messages = [
        message._replace(text=attachments.get(message.text.removeprefix("attachment://"), message.text))
        for message in messages
        if message.text.strip() != "..."
    ]
    scores = {
        name: as_dict(score).get("value", score) for name, score in as_dict(sample.get("scores")).items()
    }
    facts = {
        "model": run.get("model"),
        "task": run.get("task"),
        "target": sample.get("target"),
        "scores": scores,
        "metadata": sample.get("metadata"),
    }
    name = "-".join(
        str(part) for part in (run.get("run_id"), sample.get("id"), sample.get("epoch")) if part is not None
    )
    return Conversation(name, messages, facts, number)
