"""One message as any provider or framework writes it → :class:`Message`."""

import re
from collections.abc import Iterable
from typing import Any

from datasets_app.domain.conversations.roles import UNKNOWN, find_withheld, split_thoughts, split_tool_tags
from datasets_app.domain.conversations.roles import find_role as name_role
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.markup import REASONING, TOOLS, Marked, split_markup
from datasets_app.domain.traces.parts import Content, encode_text, read_content
from datasets_app.domain.traces.records import (
    NO_ROLE,
    NODE,
    ORIGINAL_TIMESTAMP,
    TEXT_BETWEEN,
    UNREAD_PARTS,
    Message,
    leave_out,
)
from datasets_app.domain.traces.values import (
    as_dict,
    as_list,
    as_name,
    decode_cut,
    decode_json,
    drop_empty,
    pick,
    to_seconds,
    unwrap,
)

_SIDES = (
    (("isCreatedByUser", "is_inbound", "inbound", "incoming", "from_customer", "is_user", "isUser"), "user"),
    (("from_agent", "is_agent", "is_bot", "isBot", "outbound", "is_outbound", "fromMe"), "assistant"),
)
_CONTENTS = (
    "parts content contents blocks text value message body utterance body_text message_parts msg "
    "contentParts _content"
).split()
_SIDE_NAMES = "from speaker sender sender_type author participant _type class actor_type".split()
# Where a message says who speaks, though nobody may know the word.
_SPEAKERS = ("role", "_role", "author", "from", "speaker", "sender")
_NO_SPEAKERS = frozenset(
    "content contents text value message body parts id type name finish_reason output input str data".split()
)
_BESIDE_TEXT = frozenset("ts id uuid message_id lang language".split())
MAX_SPEAKER_CHARACTERS = 80
_PARENTS = tuple(
    "parent_id parentId parent_message_id parentMessageId parent_message_uuid parent_uuid parentUuid".split()
)
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message|gen_ai\.(choice)")
_ITEM_ROLES = {
    "function_call": "assistant", "function_call_output": "tool", "reasoning": "assistant", "tool_use":
    "assistant",
    "mcp_call": "assistant", "web_search_call": "assistant", "file_search_call": "assistant",
    "computer_call": "assistant", "computer_call_output": "tool", "code_interpreter_call": "assistant",
    "image_generation_call": "assistant", "custom_tool_call": "assistant", "custom_tool_call_output": "tool",
    "local_shell_call": "assistant", "local_shell_call_output": "tool", "shell_call": "assistant",
    "shell_call_output": "tool", "mcp_list_tools": "assistant", "mcp_approval_request": "assistant",
    "mcp_approval_response": "tool",
}  # fmt: skip
_STEPS = frozenset(("tool_calls", "tool_results", "reasoning"))
# What frameworks put under the role of the user.
_CONTEXT = re.compile(
    r"\s*<([a-z_-]*(?:context|reminder|environment|instructions|caveat|command-name|stdout)[a-z_-]*)\b[^>]*>"
    r".*</\1>\s*",
    re.DOTALL,
)
_OBSERVATION = re.compile(r"\s*Observation:\s")


def read_messages(value: Any, default_role: str = "user") -> list[Message]:
    """The messages of a list, or of one message; [] if there are none."""
    value, is_cut = decode_cut(value)
    if is_cut:
        return mark_cut(read_messages(value, default_role), default_role)
    if type(value) is str:
        return _split_transcript(value, default_role)
    if type(value) is dict:
        return [read_message(value, default_role)]
    if type(value) is not list:
        return [] if value is None else [leave_out(reasons.UNREADABLE_FORM)]
    while len(value) == 1 and type(value[0]) is list and not _is_pair(value[0]):  # a batch of one
        value = value[0]
    found: list[Message] = []
    if any(type(item) is dict and find_role(unwrap_message(item)) for item in value):
        default_role = ""  # where others say who speaks, who doesn't is unknown
    for item in value:
        item = decode_json(item) if type(item) is str else item
        if type(item) is str:
            found.append(read_message({"content": item}, default_role))
        elif type(item) is list and _is_pair(item):
            found.append(_make(name_role(item[0]), item[1], {}))
        elif type(item) is list:
            found += read_messages(item, default_role)
        elif type(item) is dict:
            found.append(read_message(item, default_role))
        elif item is not None:
            found.append(leave_out(reasons.UNREADABLE_FORM))
    return _name_users(found)


def _is_pair(value: list[Any]) -> bool:
    """["user", "Hi"]"""
    return len(value) == 2 and type(value[0]) is str and bool(name_role(value[0]))


def _name_users(messages: list[Message]) -> list[Message]:
    """Where only the assistant has a role, those who are called by name are users."""
    if any(message.role == "user" for message in messages):
        return messages
    return [
        message._replace(role="user") if message.role == UNKNOWN and "author" in message.details else message
        for message in messages
    ]


def mark_cut(messages: list[Message], default_role: str) -> list[Message]:
    """The messages of a value that was cut off: the last one is marked. If it says nothing yet, as it was
    cut before its words or within its role, only that is kept."""
    last = messages[-1] if messages else Message("", "")
    if last.role == "system" and last.text.strip():
        messages = [*messages, Message("", "")]
    elif (last.text.strip() and last.speaker not in _SPEAKERS) or last.details.keys() & _STEPS:
        return [*messages[:-1], last._replace(details={**last.details, "truncated": True})]
    return [*messages[:-1], Message("assistant", "", {f"{default_role}_truncated": True})]


def are_messages(value: Any) -> bool:
    """Whether this is a list of messages that say who speaks."""
    if type(value) is list and len(value) == 1 and type(value[0]) is list:
        value = value[0]
    if type(value) is not list or not value:
        return False
    inner = [unwrap_message(item) for item in value[:6] if type(item) is dict]
    return any(map(find_role, inner)) or (len(inner) > 1 and all(map(_says_role, inner)))


def _says_role(value: dict[str, Any]) -> bool:
    """Whether a message names a role, be it one that nobody knows, and says something."""
    return bool(type(value.get("role")) is str and value["role"] and _find_content(value))


def read_message(value: dict[str, Any], default_role: str = "") -> Message:
    outer, value = value, unwrap_message(value)
    if reason := find_withheld(value) or find_withheld(outer):
        return leave_out(reasons.WITHHELD[reason])
    role = find_role(value) or find_role(outer)
    if not role and (keyed := _read_keyed(value)):
        return keyed
    speaker = find_speaker(value) or find_speaker(outer)
    role = role or (UNKNOWN if speaker else default_role)
    if role == "system" and "utterance" in value:  # of dialogues between a user and a system
        role = "assistant"
    message = _make(role or UNKNOWN, _find_content(value), value)
    if not role:
        return message._replace(speaker=NO_ROLE) if message.text else leave_out(reasons.OTHER_EVENTS)
    named = role == UNKNOWN and not (value.get("role") or value.get("_role"))
    details = {**message.details, "author": speaker} if named else message.details
    return message._replace(speaker=speaker, details=details)


def find_speaker(value: dict[str, Any]) -> str:
    """The role of a message as it is written; empty if it doesn't say."""
    for key in _SPEAKERS:
        found = value.get(key)
        if type(found) is dict:
            found = found.get("role") or found.get("value")
        if type(found) is str and 0 < len(found.strip()) <= MAX_SPEAKER_CHARACTERS:
            return found.strip()
    return ""


def _read_keyed(value: dict[str, Any]) -> Message | None:
    """{"user": "Hi"}: the key says who speaks. A key that nobody knows is an unknown role."""
    said = [
        (key, item)
        for key, item in value.items()
        if type(item) is str and item.strip() and key not in _TIMES and key not in _BESIDE_TEXT
    ] or [(key, item) for key, item in value.items() if type(item) in (list, dict) and name_role(key)]
    if len(said) != 1 or said[0][0] in _NO_SPEAKERS:
        return None
    key, found = said[0]
    role = name_role(key)
    return _make(role, found, value)._replace(speaker=key) if role else Message(UNKNOWN, found, {}, key)


def unwrap_message(value: dict[str, Any]) -> dict[str, Any]:
    """The message inside of what wraps it: LangChain's serialization, a choice, a nested attribute."""
    if type(value.get("kwargs")) is dict and (value.get("lc") or "id" in value):
        name = value["id"][-1] if type(value.get("id")) is list and value["id"] else ""
        return {"type": name, **value["kwargs"]} if name else value["kwargs"]
    if type(value.get("data")) is dict and name_role(str(value.get("type"))) and "content" in value["data"]:
        return {**value["data"], "type": value["type"]}
    for key in ("message", "delta", "gen_ai.message"):
        inner = decode_json(value.get(key)) if key in value else None
        if type(inner) is dict and (find_role(inner) or "content" in inner or "parts" in inner):
            return {"role": find_role(value)} | unwrap_message(inner)
    return value


def find_role(value: dict[str, Any]) -> str:
    """user, assistant, system, tool or tool-call; empty if the message does not say."""
    role = value.get("role") or value.get("_role") or as_dict(value.get("author")).get("role")
    if type(role) is dict:
        role = role.get("value") or role.get("role")
    if type(role) is not str:
        event = value.get("event.name") or value.get("event_name")
        if type(event) is str and (match := _EVENT.fullmatch(event)):
            return name_role(match[1] or "assistant")
        kind = value.get("type")
        if type(kind) is str and (found := _ITEM_ROLES.get(kind) or name_role(kind)):
            return found
        author = as_dict(value.get("author")).get("type")
        if type(author) is str and name_role(author):
            return name_role(author)
        for keys, side in _SIDES:
            for key in keys:
                if type(value.get(key)) is bool:
                    return side if value[key] else "user" if side == "assistant" else "assistant"
        for key in _SIDE_NAMES:
            if type(value.get(key)) is str and name_role(value[key]):
                return name_role(value[key])
        return ""
    return name_role(role.rpartition(".")[2])


def _find_content(value: dict[str, Any]) -> Any:
    kind = value.get("type")
    if type(kind) is str and kind in _ITEM_ROLES and "content" not in value:
        return [value]
    if (found := pick(value, *_CONTENTS)) is not None:
        return found
    if type(value.get("refusal")) is str:
        return value["refusal"]
    return as_dict(value.get("audio")).get("transcript")


def _make(role: str, raw: Any, value: dict[str, Any]) -> Message:
    if type(raw) is dict and "parts" in raw and not find_role(raw):  # ChatGPT's exports
        raw = raw["parts"]
    content = Content(by_person=role == "user")
    read_content(raw, content)
    if role == "tool" and content.unread and not content.texts:
        content.texts, content.unread = [encode_text(raw)], []
    if raw is None:  # a sentence under a key that nobody knows
        content.unread += [key for key, item in value.items() if type(item) is str and " " in item.strip()]
    kwargs = as_dict(value.get("additional_kwargs"))
    for call in as_list(value.get("tool_calls") or kwargs.get("tool_calls")):
        if type(call) is dict:
            inner = Content()
            read_content([{**as_dict(call.get("tool_call", call)), "type": "tool_call"}], inner)
            content.tool_calls += _unseen(inner.tool_calls, content.tool_calls)
    call = value.get("function_call") or kwargs.get("function_call")
    if type(call) is dict and value.get("type") != "function_call":
        content.tool_calls.append(drop_empty({"name": call.get("name"), "arguments": call.get("arguments")}))
    for key in ("reasoning_content", "reasoning", "thinking"):
        found = value.get(key) or kwargs.get(key)
        if type(found) is str:
            content.reasoning.append(found)
            break
    return _finish(role, content, value)


def _unseen(calls: list[dict[str, Any]], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ids = {call.get("id") for call in known if call.get("id")}
    return [call for call in calls if call.get("id") not in ids]


def _finish(role: str, content: Content, value: dict[str, Any]) -> Message:
    text, details = content.text, {}
    if role == "user" and _CONTEXT.fullmatch(text):
        role = "system"
    if role == "assistant":
        text, thought = split_thoughts(text)
        content.reasoning += filter(None, [thought])
    tagged = split_tool_tags(text)
    if role == "assistant" or (role == "user" and not tagged.text):
        text = tagged.text
        content.tool_calls += [step for call in tagged.calls for step in _read_written_calls(call)]
        content.tool_results += [{"content": result} for result in tagged.results]
    if role == "tool-call":
        content.tool_calls += _read_written_calls(text, value.get("name"))
        text, role = "", "assistant"
    if (role == "user" and not text.strip() and content.tool_results) or (
        role == "user" and _OBSERVATION.match(text)
    ):
        role = "tool"
    if role == "tool":
        if not content.tool_results:
            result = drop_empty(
                {
                    "id": pick(value, "tool_call_id", "id", "call_id"),
                    "name": pick(value, "name", "tool_name", "function"),
                    "content": text,
                }
            )
            content.tool_results = [result] if result else []
        text = ""
    details = drop_empty(
        {
            "tool_calls": content.tool_calls,
            "tool_results": content.tool_results,
            "reasoning": "\n\n".join(content.reasoning),
            "timestamp": find_time(value),
            ORIGINAL_TIMESTAMP: _find_unread_time(value),
            NODE: find_node(value) if role != UNKNOWN else None,
            UNREAD_PARTS: content.unread,
        }
    )
    return Message(role, text, details)


def _read_written_calls(text: str, name: Any = None) -> list[dict[str, Any]]:
    """The calls in a text: JSON of one or several, or whatever the model wrote."""
    written = decode_json(text)
    calls = written if type(written) is list else [written]
    if calls and all(type(call) is dict and "name" in call for call in calls):
        return calls
    return [drop_empty({"name": name, "arguments": written})]


def find_node(value: dict[str, Any]) -> list[Any] | None:
    """[id, parent, order] of a message that names its parent."""
    parent = next((value[key] for key in _PARENTS if key in value), _PARENTS)
    name = as_name(pick(value, "message_id", "messageId", "uuid", "id"))
    if parent is _PARENTS or not name:
        return None
    rank = value.get("rank")
    return [name, as_name(parent), -rank if isinstance(rank, int | float) else find_time(value)]


_TIMES = ("timestamp", "created_at", "createdAt", "create_time", "created", "date", "time", "sent_at")


def find_time(value: dict[str, Any]) -> float | None:
    return next((found for key in _TIMES if key in value and (found := to_seconds(value[key]))), None)


def _find_unread_time(value: dict[str, Any]) -> Any:
    """A time that can't be read, as it is written; None beside one that can."""
    found = unwrap(pick(value, *_TIMES))
    return found if type(found) in (str, int, float) and find_time(value) is None else None


def _split_transcript(text: str, default_role: str) -> list[Message]:
    """The messages of a text in a chat template; of any other, the text as one."""
    marked = split_markup(text)
    if marked and (marked.is_conversation or marked.markup.words and _is_spoken(marked, default_role)):
        return read_parts(marked)
    return [Message(default_role, text)] if text.strip() else []


def _is_spoken(marked: Marked, default_role: str) -> bool:
    """Whether "Assistant: …" names who speaks; what a person asks may begin like that."""
    return bool(marked.sides) and (
        len(marked.parts) > 1 or default_role != "user" or marked.sides == {"user"}
    )


def read_parts(marked: Marked) -> list[Message]:
    found: list[Message] = []
    for part in marked.parts:
        if part.role in (REASONING, TOOLS):
            said = decode_json(part.text) if part.role == TOOLS else part.text
            found.append(Message("assistant", "", {part.role: said} if said else {}))
            continue
        content = Content()
        content.texts = [part.text]
        if part.text:  # tokens with nothing between them are how a template begins an answer, or a call
            found.append(_finish(part.role, content, {"name": part.tool})._replace(speaker=part.word))
    spoken = [place for place, message in enumerate(found) if message.role in ("user", "assistant")]
    if marked.between and spoken:
        last = found[spoken[-1]]
        found[spoken[-1]] = last._replace(details={**last.details, TEXT_BETWEEN: marked.between})
    return found


def has_text(messages: Iterable[Message], role: str) -> bool:
    return any(message.role == role and message.text.strip() for message in messages)
