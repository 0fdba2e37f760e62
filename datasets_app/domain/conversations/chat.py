"""OpenAI chat files and ShareGPT: one whole conversation per line.

What a turn has no place for is kept, and comes out again: keys of the line under
``extra["conversation"]`` of the first turn, keys of a message under ``extra["message"]``, and
messages that aren't turns (system prompts, tool calls and their results) under
``extra["messages_before"]`` of the turn they precede, or ``extra["messages_after"]`` of the last.
Written in the other format, they are translated.
"""

from typing import Any, NamedTuple

from datasets_app.domain.conversations.jsonl import (
    InvalidRecord,
    check_name,
    decode_object,
    describe_value,
    encode_line,
)
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.conversations.roles import find_role, find_spoken, find_withheld


class ChatFormat(NamedTuple):
    """How a format names its parts. ``roles`` maps its speakers to ours."""

    name: str
    messages: str
    role: str
    text: str
    roles: dict[str, str]
    written_roles: dict[str, str]


OPENAI = ChatFormat(
    "openai",
    "messages",
    "role",
    "content",
    {"user": "user", "assistant": "assistant"},
    {"user": "user", "assistant": "assistant"},
)
SHAREGPT = ChatFormat(
    "sharegpt",
    "conversations",
    "from",
    "value",
    {
        "human": "user",
        "user": "user",
        "gpt": "assistant",
        "assistant": "assistant",
        "chatgpt": "assistant",
        "bard": "assistant",
        "model": "assistant",
        "bot": "assistant",
    },
    {"user": "human", "assistant": "gpt"},
)
# What both say of a file that is written in them.
CHAT_NOTE = (
    "roles, texts and keys of chat files; tags, timestamps, metadata and unknown keys of turns are left out"
)
CHAT_FORMATS = {chat.name: chat for chat in (OPENAI, SHAREGPT)}


def parse_chat(
    line: int, raw: bytes, chat: ChatFormat, default_session_id: str
) -> list[TurnRecord] | LineError:
    """One line → the turns of its conversation, in order and counted from 1."""
    session_id = default_session_id
    try:
        value = decode_object(raw)
        session_id = _read_session_id(value) or default_session_id
        turns = _parse_turns(value, chat, session_id, line)
        if not turns:
            raise InvalidRecord(
                "E110", f"no message of a user or an assistant with text in {chat.messages!r}"
            )
    except InvalidRecord as error:
        return error.to_line_error(line, session_id)
    return turns


def encode_chat(turns: list[TurnRecord], chat: ChatFormat) -> bytes:
    """The turns of one conversation → its line."""
    first_extra = turns[0].extra or {}
    kept = first_extra.get("conversation")
    value: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
    value["session_id"] = turns[0].session_id
    if turns[0].persona_id is not None:
        value["persona_id"] = turns[0].persona_id
    messages: list[Any] = []
    for turn in turns:
        messages += _restore_messages(turn, "messages_before", chat)
        messages.append(_build_message(turn, chat))
        messages += _restore_messages(turn, "messages_after", chat)
    value[chat.messages] = messages
    return encode_line(value)


def _read_session_id(value: dict[str, Any]) -> str | None:
    for key in ("session_id", "id", "conversation_id"):
        session_id = value.get(key)
        if type(session_id) is int or (type(session_id) is float and session_id.is_integer()):
            session_id = str(int(session_id))
        if type(session_id) is str and session_id.strip():
            return check_name(key, session_id)
    return None


def _parse_turns(value: dict[str, Any], chat: ChatFormat, session_id: str, line: int) -> list[TurnRecord]:
    messages = value.pop(chat.messages, None)
    if type(messages) is not list:
        raise InvalidRecord("E110", f"{chat.messages} must be an array of messages", chat.messages)
    persona_id = value.pop("persona_id", None)
    if persona_id is not None:
        check_name("persona_id", persona_id)
    if value.get("session_id") == session_id:
        del value["session_id"]
    extra: dict[str, Any] = {"conversation": value} if value else {}
    before: list[Any] = []
    turns: list[TurnRecord] = []
    for message in messages:
        parsed = _parse_message(message, chat)
        if parsed is None:
            before.append(message)
            continue
        role, text, others = parsed
        if before:
            extra["messages_before"] = before
        if others:
            extra["message"] = others
        index = len(turns) + 1
        turns.append(
            TurnRecord(session_id, index, role, text, [], persona_id, None, None, extra or None, line)
        )
        extra, before = {}, []
    if turns and before:
        turns[-1] = turns[-1]._replace(extra={**(turns[-1].extra or {}), "messages_after": before})
    return turns


def _parse_message(message: Any, chat: ChatFormat) -> tuple[str, str, dict[str, Any]] | None:
    """(role, text, what else the message holds), or None for a message that isn't a turn."""
    if type(message) is not dict:
        raise InvalidRecord(
            "E110", f"every message must be an object, got {describe_value(message)}", chat.messages
        )
    speaker = message.get(chat.role)
    if type(speaker) is not str:
        raise InvalidRecord("E103", f"a message has no {chat.role!r}", chat.role)
    role = chat.roles.get(speaker)
    if role is None and not find_role(speaker):
        raise InvalidRecord(
            "E103",
            f"{chat.role} {describe_value(speaker)} isn't a known role; map it: sender:ROLE=user",
            chat.role,
        )
    content = message.get(chat.text)
    is_call = not content and bool(message.get("tool_calls") or message.get("function_call"))
    if role is None or content is None or is_call or find_withheld(message):
        return None
    others = {key: item for key, item in message.items() if key not in (chat.role, chat.text)}
    if speaker != chat.written_roles[role]:
        others[chat.role] = speaker
    if type(content) not in (str, list):
        raise InvalidRecord(
            "E102", f"{chat.text} of a message must be a string, got {describe_value(content)}", chat.text
        )
    text = _spell(content, role)
    if text is None or (type(content) is str and content.strip() and not text):
        return None  # nothing but calls of tools, or their results
    return role, text, others if text == content else {**others, chat.text: content}


def _are_text_parts(content: Any) -> bool:
    return type(content) is list and all(
        type(part) is dict and part.get("type") == "text" and type(part.get("text")) is str
        for part in content
    )


def _join_parts(parts: list[Any]) -> str:
    """The texts, and placeholders of what a person sees beside them; calls of tools say nothing."""
    if _are_text_parts(parts):
        return "".join(part["text"] for part in parts)
    said = [_show_part(part) for part in parts if type(part) is dict]
    return "\n".join(text for text in said if text)


def _show_part(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if type(kind) is not str or type(part.get("text")) is str:
        return part["text"] if type(part.get("text")) is str else ""
    kind = kind.removeprefix("input_")
    return next((f"[{name}]" for name in ("image", "audio", "video", "file") if kind.startswith(name)), "")


def _spell(content: Any, role: str) -> str | None:
    """The text of a turn that was read from this content, of parts joined; None for what isn't text."""
    if type(content) is str:
        return find_spoken(role, content)
    if type(content) is not list:
        return None
    text = _join_parts(content)
    return text if text or _are_text_parts(content) else None


def _build_message(turn: TurnRecord, chat: ChatFormat) -> dict[str, Any]:
    other = _get_other_format(chat)
    message = {chat.role: chat.written_roles[turn.role], chat.text: turn.text}
    kept = (turn.extra or {}).get("message")
    for key, item in kept.items() if isinstance(kept, dict) else ():
        if key == chat.role:
            keep = _map_role(item, chat) == turn.role
        elif key == chat.text:
            # The text is the truth: parts that no longer spell it (after a scrub, say) are dropped.
            keep = _spell(item, turn.role) == turn.text
        elif key == other.role:  # what reading the other format has put there
            keep = _map_role(item, other) != turn.role or item == other.written_roles[turn.role]
        else:
            keep = key != other.text or _spell(item, turn.role) is None
        if keep:
            message[key] = item
    return message


def _restore_messages(turn: TurnRecord, key: str, chat: ChatFormat) -> list[dict[str, Any]]:
    """Messages that aren't turns, in this format, whichever of the two they were read from."""
    kept = (turn.extra or {}).get(key)
    translated = (_convert_message(message, chat) for message in (kept if isinstance(kept, list) else ()))
    return [message for message in translated if message is not None]


def _convert_message(message: Any, chat: ChatFormat) -> dict[str, Any] | None:
    """None for what isn't a message: a line that held it could not be read again."""
    if not isinstance(message, dict):
        return None
    if isinstance(message.get(chat.role), str):
        return message
    other = _get_other_format(chat)
    speaker = message.get(other.role)
    if not isinstance(speaker, str):
        return None
    role = other.roles.get(speaker)
    translated: dict[str, Any] = {chat.role: chat.written_roles[role] if role else speaker}
    if other.text in message:
        translated[chat.text] = message[other.text]
    return translated | {
        key: item for key, item in message.items() if key not in (other.role, other.text, *translated)
    }


def _get_other_format(chat: ChatFormat) -> ChatFormat:
    return SHAREGPT if chat is OPENAI else OPENAI


def _map_role(speaker: Any, chat: ChatFormat) -> str | None:
    return chat.roles.get(speaker) if isinstance(speaker, str) else None
