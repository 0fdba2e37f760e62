"""Exports of chat applications: ChatGPT, LibreChat, Chatbot UI, Open WebUI, Claude, AI Studio, Gemini, LM
Studio, TypingMind, Chatbox."""

import re
from collections.abc import Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.domain.traces.messages import are_messages, find_time, read_message, read_messages
from datasets_app.domain.traces.records import Conversation, Message, Remark, leave_out
from datasets_app.domain.traces.trees import Node, choose_branch
from datasets_app.domain.traces.values import as_dict, as_list, as_name, dig, drop_empty, pick, to_seconds

# ChatGPT marks citations with characters of a private use area, or with 【…】.
_CITATION = re.compile("\ue200[^\ue201]*\ue201|\u3010[^\u3011]{0,60}\u3011")
_NOT_SHOWN = tuple(
    "model_editable_context user_editable_context system_error execution_output tether_quote "
    "tether_browsing_display tether_browsing_code code thoughts reasoning_recap".split()
)


def matches_chatgpt(value: Any) -> bool:
    return type(value) is dict and type(value.get("mapping")) is dict


def read_chatgpt(value: Any, number: int) -> Iterator[Conversation | Remark]:
    if not matches_chatgpt(value):
        return
    nodes = {
        name: Node(
            name,
            as_name(as_dict(node).get("parent")),
            _order(as_dict(node), place),
            _join_fragments(as_dict(node).get("message")),
        )
        for place, (name, node) in enumerate(value["mapping"].items())
    }
    spoken = [node for node in nodes.values() if _is_shown(node.value)]
    path = choose_branch(nodes, as_name(value.get("current_node")))
    rooted = [node for node in spoken if node.parent not in nodes]
    if as_name(value.get("current_node")) not in nodes and len(rooted) > 1:
        path = sorted(spoken, key=lambda node: node.order)  # torn out of its tree
    messages = [message for node in path if _is_shown(node.value) for message in _read_chatgpt(node.value)]
    on_path = {node.id for node in path}
    hidden = sum(type(node.value) is dict and not _is_shown(node.value) for node in path)
    yield Remark(reasons.HIDDEN, number, hidden)
    yield Remark(reasons.OTHER_BRANCHES, number, sum(node.id not in on_path for node in spoken))
    facts = {"title": value.get("title"), "gpt": value.get("gizmo_id")}
    yield Conversation(as_name(pick(value, "conversation_id", "id")), messages, facts, number)


def _join_fragments(message: Any) -> Any:
    """DeepSeek's message, which has fragments, as one of ChatGPT."""
    fragments = as_dict(message).get("fragments")
    if type(fragments) is not list:
        return message
    kinds = {"REQUEST": "user", "RESPONSE": "assistant"}
    said = [item for item in map(as_dict, fragments) if item.get("type") in kinds]
    return {
        "author": {"role": kinds[said[0]["type"]] if said else ""},
        "content": {"parts": [item.get("content") for item in said]},
        "create_time": message.get("inserted_at"),
        "metadata": {"model_slug": message.get("model")},
    }


def _order(node: dict[str, Any], place: int) -> float:
    return to_seconds(as_dict(node.get("message")).get("create_time")) or float(place)


def _is_shown(message: Any) -> bool:
    message = as_dict(message)
    metadata = as_dict(message.get("metadata"))
    content = as_dict(message.get("content"))
    role = as_dict(message.get("author")).get("role")
    return (
        role in ("user", "assistant")
        and not metadata.get("is_visually_hidden_from_conversation")
        and message.get("recipient", "all") in ("all", None)
        and content.get("content_type") not in _NOT_SHOWN
    )


def _read_chatgpt(message: dict[str, Any]) -> list[Message]:
    content = as_dict(message.get("content"))
    parts = content.get("parts") or content.get("text")
    role = message["author"]["role"]
    found = read_messages({"role": role, "content": parts})
    metadata = as_dict(message.get("metadata"))
    details = drop_empty(
        {"model": metadata.get("model_slug"), "timestamp": to_seconds(message.get("create_time"))}
    )
    return [item._replace(text=_CITATION.sub("", item.text), details=details) for item in found]


# --- LibreChat and Chatbot UI ------------------------------------------------------------------


def matches_librechat(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if "history" in value and ("folders" in value or "prompts" in value):
        return True
    first = as_dict(next(iter(as_list(value.get("messages"))), None))
    names_nodes = "messageId" in first and "parentMessageId" in first and "role" not in first
    return "isCreatedByUser" in first or names_nodes


def read_librechat(value: Any, number: int) -> Iterator[Conversation | Remark]:
    if type(value) is dict and type(value.get("history")) is list:
        yield from _read_chatbot_ui(value["history"], number)
    elif matches_librechat(value):
        yield from _read_librechat(value, number)


def _read_chatbot_ui(history: list[Any], number: int) -> Iterator[Conversation]:
    for item in history:
        chat = as_dict(item)
        system = [Message("system", chat["prompt"])] if type(chat.get("prompt")) is str else []
        model = as_dict(chat.get("model")).get("id") or chat.get("model")
        messages = system + read_messages(chat.get("messages"))
        facts = {"title": chat.get("name"), "model": model, "temperature": chat.get("temperature")}
        yield Conversation(as_name(chat.get("id")), messages, facts, number)


def _read_librechat(value: dict[str, Any], number: int) -> Iterator[Conversation | Remark]:
    nodes: dict[str, Node] = {}
    _collect(as_list(value.get("messages")), "", nodes)
    path = choose_branch(nodes)
    options = as_dict(value.get("options"))
    prompt = options.get("promptPrefix")
    messages = [Message("system", prompt)] if type(prompt) is str and prompt else []
    messages += [_read_librechat_message(node.value) for node in path]
    yield Remark(reasons.OTHER_BRANCHES, number, len(nodes) - len(path))
    facts = {"title": value.get("title"), "endpoint": value.get("endpoint"), "model": options.get("model")}
    yield Conversation(as_name(value.get("conversationId")), messages, facts, number)


def _collect(messages: list[Any], parent: str, nodes: dict[str, Node], depth: int = 0) -> None:
    """Flat or nested: children stand in their parent, or point to it."""
    previous = parent
    for message in messages:
        if type(message) is not dict:
            continue
        name = as_name(message.get("messageId")) or f"#{len(nodes)}"
        above = as_name(message.get("parentMessageId")) if "parentMessageId" in message else previous
        order = find_time(message) or float(len(nodes))
        nodes[name] = Node(name, above or parent, order, message)
        previous = name
        if depth < 400:
            _collect(as_list(message.get("children")), name, nodes, depth + 1)


def _read_librechat_message(value: dict[str, Any]) -> Message:
    made_by_user = value.get("isCreatedByUser")
    if made_by_user is None:
        made_by_user = str(value.get("sender", "")).lower() == "user"
    content = value.get("content") or value.get("text")
    if value.get("error") is True:
        return leave_out(reasons.ERRORS)
    message = read_message({"role": "user" if made_by_user else "assistant", "content": content})
    details = drop_empty(
        {
            "timestamp": find_time(value),
            "model": None if made_by_user else value.get("model"),
            "finish_reason": value.get("finish_reason"),
            "feedback": value.get("feedback"),
        }
    )
    return message._replace(details={**message.details, **details})


# --- Open WebUI --------------------------------------------------------------------------------


def matches_open_webui(value: Any) -> bool:
    chat = as_dict(as_dict(value).get("chat")) or as_dict(value)
    return type(as_dict(chat.get("history")).get("messages")) is dict


def read_open_webui(value: Any, number: int) -> Iterator[Conversation | Remark]:
    if not matches_open_webui(value):
        return
    chat = as_dict(value.get("chat")) or value
    history = chat["history"]
    nodes = {
        name: Node(
            name,
            as_name(as_dict(item).get("parentId")),
            find_time(as_dict(item)) or float(place),
            as_dict(item),
        )
        for place, (name, item) in enumerate(history["messages"].items())
    }
    path = choose_branch(nodes, as_name(history.get("currentId")))
    system = pick(chat, "system") or as_dict(chat.get("params")).get("system")
    messages = [Message("system", system)] if type(system) is str else []
    for node in path:
        message = read_message(
            {key: node.value[key] for key in ("role", "content", "timestamp") if key in node.value}
        )
        feedback = as_dict(node.value.get("annotation")) or None
        extra = drop_empty({"model": pick(node.value, "model"), "feedback": feedback})
        messages.append(message._replace(details={**message.details, **extra}))
    yield Remark(reasons.OTHER_BRANCHES, number, len(nodes) - len(path))
    facts = {
        "title": pick(chat, "title") or value.get("title"),
        "user_id": value.get("user_id"),
        "tags": [tag for tag in as_list(chat.get("tags")) if type(tag) is str],
    }
    yield Conversation(as_name(pick(value, "id") or chat.get("id")), messages, facts, number)


# --- Claude ------------------------------------------------------------------------------------


def matches_claude(value: Any) -> bool:
    first = as_dict(next(iter(as_list(as_dict(value).get("chat_messages"))), None))
    return type(value) is dict and "chat_messages" in value and ("sender" in first or not first)


def read_claude(value: Any, number: int) -> Iterator[Conversation]:
    if not matches_claude(value):
        return
    messages = [
        read_message({**item, "role": item.get("sender"), "content": item.get("content") or item.get("text")})
        for item in map(as_dict, value["chat_messages"])
    ]
    facts = {"title": value.get("name"), "model": value.get("model")}
    yield Conversation(as_name(value.get("uuid")), messages, facts, number)


# --- AI Studio, Gemini, LM Studio, TypingMind, Chatbox ------------------------------------------

_PROMPTED = "Prompted "


def matches_chats(value: Any) -> bool:
    return next(read_chats(value, 0), None) is not None


def read_chats(value: Any, number: int) -> Iterator[Conversation | Remark]:
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
