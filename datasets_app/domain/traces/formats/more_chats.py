"""Chat applications with a form of their own: AI Studio, Gemini, LM Studio, TypingMind, Chatbox."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.domain.traces.messages import are_messages, read_messages
from datasets_app.domain.traces.records import NO_MESSAGES, OTHER_BRANCHES, Conversation, LeftOut
from datasets_app.domain.traces.values import as_dict, as_list, as_name, dig, drop_empty, pick

_PROMPTED = "Prompted "


class _Chat(NamedTuple):
    name: str
    messages: list[Any]
    facts: dict[str, Any]
    others: int = 0


def matches(value: Any) -> bool:
    return bool(_list_chats(value))


def read(documents: Iterable[Document]) -> Iterator[Conversation | LeftOut]:
    for number, value in documents:
        chats = _list_chats(value)
        for chat in chats:
            if chat.others:
                yield LeftOut(OTHER_BRANCHES, number, chat.others)
            yield Conversation(chat.name, read_messages(chat.messages), drop_empty(chat.facts), number)
        if not chats:
            yield LeftOut(NO_MESSAGES, number)


def _list_chats(value: Any) -> list[_Chat]:
    if type(value) is not dict:
        return []
    if type(chunks := dig(value, "chunkedPrompt", "chunks")) is list:
        return [_read_ai_studio(value, chunks)]
    if value.get("header") == "Gemini Apps" and str(value.get("title")).startswith(_PROMPTED):
        return [_read_gemini(value)]
    listed = as_list(value.get("messages"))
    if listed and type(listed[0]) is dict and type(listed[0].get("versions")) is list:
        others = sum(max(0, len(as_list(as_dict(item).get("versions"))) - 1) for item in listed)
        said = [_choose_version(item) for item in listed]
        return [_Chat("", said, {"title": value.get("name")}, others)]
    found = value.get("chat-sessions") or dig(value, "data", "chats")
    return [
        _Chat(as_name(chat.get("id")), chat["messages"], {"title": pick(chat, "name", "chatTitle")})
        for chat in map(as_dict, as_list(found))
        if are_messages(chat.get("messages"))
    ]


def _read_ai_studio(value: dict[str, Any], chunks: list[Any]) -> _Chat:
    said = [item for item in map(as_dict, chunks) if not item.get("isThought")]
    system = [as_dict(part).get("text") for part in as_list(dig(value, "systemInstruction", "parts"))]
    instruction = "\n".join(text for text in system if type(text) is str)
    before = [{"role": "system", "content": instruction}] if instruction else []
    model = dig(value, "runSettings", "model")
    return _Chat("", [*before, *said], {"model": model})


def _read_gemini(value: dict[str, Any]) -> _Chat:
    answers = [strip_html(as_dict(item).get("html")) for item in as_list(value.get("safeHtmlItem"))]
    messages = [
        {"role": "user", "content": value["title"].removeprefix(_PROMPTED), "timestamp": value.get("time")},
        {"role": "assistant", "content": "\n\n".join(filter(None, answers))},
    ]
    return _Chat("", messages, {})


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
