"""Chat applications with a form of their own: AI Studio, Gemini, LM Studio, TypingMind, Chatbox."""

from collections.abc import Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.domain.traces.messages import are_messages, read_messages
from datasets_app.domain.traces.records import Conversation, Message, Remark
from datasets_app.domain.traces.values import as_dict, as_list, as_name, dig, pick

_PROMPTED = "Prompted "


def matches(value: Any) -> bool:
    return next(read(value, 0), None) is not None


def read(value: Any, number: int) -> Iterator[Conversation | Remark]:
    if type(value) is not dict:
        return
    listed = as_list(value.get("messages"))
    if type(chunks := dig(value, "chunkedPrompt", "chunks")) is list:
        facts = {"model": dig(value, "runSettings", "model")}
        yield Conversation("", _read_ai_studio(value, chunks), facts, number)
    elif value.get("header") == "Gemini Apps" and str(value.get("title")).startswith(_PROMPTED):
        yield Conversation("", _read_gemini(value), {}, number)
    elif listed and type(listed[0]) is dict and type(listed[0].get("versions")) is list:
        others = sum(max(0, len(as_list(as_dict(item).get("versions"))) - 1) for item in listed)
        yield Remark(reasons.OTHER_BRANCHES, number, others)
        said = read_messages([_choose_version(item) for item in listed])
        yield Conversation("", said, {"title": value.get("name")}, number)
    else:
        for chat in map(as_dict, as_list(value.get("chat-sessions") or dig(value, "data", "chats"))):
            if are_messages(chat.get("messages")):
                facts = {"title": pick(chat, "name", "chatTitle")}
                yield Conversation(as_name(chat.get("id")), read_messages(chat["messages"]), facts, number)


def _read_ai_studio(value: dict[str, Any], chunks: list[Any]) -> list[Message]:
    said = [item for item in map(as_dict, chunks) if not item.get("isThought")]
    system = [as_dict(part).get("text") for part in as_list(dig(value, "systemInstruction", "parts"))]
    instruction = "\n".join(text for text in system if type(text) is str)
    return read_messages([*([{"role": "system", "content": instruction}] if instruction else []), *said])


def _read_gemini(value: dict[str, Any]) -> list[Message]:
    answers = [strip_html(as_dict(item).get("html")) for item in as_list(value.get("safeHtmlItem"))]
    asked = {
        "role": "user",
        "content": value["title"].removeprefix(_PROMPTED),
        "timestamp": value.get("time"),
    }
    return read_messages([asked, {"role": "assistant", "content": "\n\n".join(filter(None, answers))}])


def _choose_version(item: Any) -> dict[str, Any]:
    """LM Studio: each message in several versions, an answer in several steps."""
    versions = as_list(as_dict(item).get("versions"))
    selected = as_dict(item).get("currentlySelected")
    place = selected if type(selected) is int and 0 <= selected < len(versions) else 0
    version = as_dict(versions[place]) if versions else {}
    steps = [
        part
        for step in map(as_dict, as_list(version.get("steps")))
        if step.get("type") == "contentBlock" and as_dict(step.get("style")).get("type") != "thinking"
        for part in as_list(step.get("content"))
    ]
    return {"role": version.get("role"), "content": version.get("content") or steps}
