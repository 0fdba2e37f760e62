"""One object or list that holds a conversation, however it is laid out → :class:`Conversation`."""

from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.exchanges import HISTORIES, read_input, read_output
from datasets_app.domain.traces.formats.messengers import assign_roles
from datasets_app.domain.traces.marked_texts import join_texts, read_text
from datasets_app.domain.traces.markup import strip_ends
from datasets_app.domain.traces.messages import are_messages, mark_cut, read_message, read_messages
from datasets_app.domain.traces.pairs import find_answer, find_next_words, find_pair, find_unanswered
from datasets_app.domain.traces.rebuild import list_spoken
from datasets_app.domain.traces.records import Conversation, Message, leave_out
from datasets_app.domain.traces.values import (
    as_dict,
    as_list,
    as_name,
    decode_cut,
    decode_json,
    drop_empty,
    pick,
    to_seconds,
)

LISTS = tuple(
    "messages conversation conversations dialog dialogue turns utterances history chat chat_history "
    "contents message thread log items chat_messages transcript_object transcript user_input "
    "entries data events chosen".split()
)
# Of a conversation, not of the record that holds it.
CONVERSATION_IDS = tuple(
    "conversation_id session_id thread_id conversationId sessionId threadId chat_id chatId dialogue_id "
    "conv_id message_tree_id".split()
)
IDS = tuple(
    "session_id conversation_id conversationId thread_id threadId chat_id chatId sessionId "
    "conversation_hash dialogue_id dialog_id id uuid _id prompt_id custom_id".split()
)
_SYSTEM = tuple(
    "system system_prompt systemPrompt system_instruction systemInstruction prompt_system".split()
)
_PLACES = tuple(
    "data values channel_values state checkpoint output chat root payload content result input inputs "
    "outputs conversation session memory store kwargs row".split()
)
_TRANSCRIPTS = ("chosen", "text", "conversation", "dialogue", "dialog", "transcript", "chat", "content")
_NAMES = ("author", "name", "speaker", "from", "sender", "user", "participant", "person")
MAX_DEPTH = 5


def read_conversation(value: Any, line: int) -> Conversation | None:
    if type(value) is list:
        messages = read_messages(value)
        return Conversation("", messages, {}, line) if messages else None
    if type(value) is str and (said := read_text(value)):
        return Conversation("", said, {}, line)
    if type(value) is not dict:
        return None
    name = as_name(pick(value, *IDS) or pick(value.get("data"), "session_id"))  # of a task to label
    found = find_list(value)
    pair = find_pair(value) or find_next_words(value)
    if found is not None and not has_preference(value) and not (pair and found[0] in HISTORIES):
        key, inner = found
        messages = _read_list(inner)
        if decode_cut(value.get(key))[1]:
            messages = mark_cut(messages, "user")
        if value.get("object") == "list" and [item.role for item in (messages[:1] + messages[-1:])] == [
            "assistant",
            "user",
        ]:
            messages.reverse()  # pages of OpenAI list the newest first
        system = pick(value, *_SYSTEM)
        if system and not any(message.role == "system" for message in messages):
            messages = read_messages({"role": "system", "content": system}) + messages
        answer = (
            find_answer({**value, key: None})
            if [role for role, _ in list_spoken(messages)][-1:] == ["user"]
            else ""
        )
        messages += read_output({answer: value[answer]})[0] if answer else []
        return Conversation(name, messages, _describe(value, key, answer), line) if messages else None
    if pair is None and (other := read_other(value, name, line)):
        return other
    pair = pair or find_unanswered(value)
    if pair is None:
        return None
    return Conversation(name, *read_pair(value, *pair), line)


def read_pair(value: dict[str, Any], one: str, two: str) -> tuple[list[Message], dict[str, Any]]:
    """(messages, facts) of a question and its answer, behind the history that is beside them."""
    earlier = next(
        (key for key in HISTORIES if key not in (one, two) and as_list(decode_json(value.get(key)))), ""
    )
    before = read_input({key: value[key] for key in _SYSTEM if key in value})[0]
    before += _read_list(as_list(decode_json(value.get(earlier))))
    facts = _describe(value, one, two, earlier, "input")
    question, answer = value[one], value.get(two)
    if joined := join_texts(question, answer):
        return before + joined, facts
    given = before + (read_input({"input": question})[0] or [leave_out(reasons.UNREADABLE_FORM)])
    extra = value.get("input") if one == "instruction" else None
    if type(extra) is str and extra.strip():
        given[-1] = given[-1]._replace(text=f"{given[-1].text}\n\n{extra}")
    produced = read_output(strip_ends(answer) if type(answer) is str else answer)[0]
    produced = produced or ([leave_out(reasons.UNREADABLE_FORM)] if answer else [])
    if list_spoken(produced)[: len(given)] == list_spoken(given):  # the answer repeats the question
        given = []
    return [*given, *produced], facts


def has_preference(value: dict[str, Any]) -> bool:
    return ("chosen" in value and "rejected" in value and find_pair(value) is not None) or (
        "preferred_output" in value and "input" in value
    )


def read_other(value: dict[str, Any], name: str, line: int) -> Conversation | None:
    """A tree of replies, texts in turn, or a transcript in one text."""
    prompt = as_dict(value.get("prompt"))
    if "replies" in prompt:
        messages = []
        while prompt:
            messages += read_messages(prompt)
            replies = [as_dict(reply) for reply in as_list(prompt.get("replies"))]
            prompt = min(replies, key=lambda reply: to_seconds(reply.get("rank")) or 0) if replies else {}
        return Conversation(name or as_name(value.get("message_tree_id")), messages, {}, line)
    for key in (*LISTS, "data"):
        said = value.get(key)
        if type(said) is list and said and all(type(pair) is list and len(pair) == 2 for pair in said):
            said = [text for pair in said for text in pair]  # Gradio's pairs
        if type(said) is list and len(said) > 1 and all(type(text) is str for text in said):
            spoken = [Message("assistant" if place % 2 else "user", text) for place, text in enumerate(said)]
            return Conversation(name, spoken, _describe(value, key), line)
    for key in (*_TRANSCRIPTS, *(key for key in value if key not in _TRANSCRIPTS)):
        if type(value.get(key)) is str and (said := read_text(value[key], key in _TRANSCRIPTS)):
            return Conversation(name, said, _describe(value, key), line)
    return None


def find_list(value: dict[str, Any], depth: int = 0) -> tuple[str, list[Any]] | None:
    """The list of messages of an object, and its key; looks inside of other objects as well."""
    for key in LISTS:
        found, _ = decode_cut(value.get(key))
        if type(found) is dict and "messages" in found:
            found = decode_json(found["messages"])
        if type(found) is list and (are_messages(found) or are_alternating(found) or are_named(found)):
            return key, found
    if depth < MAX_DEPTH:
        for key in _PLACES:
            inner = decode_json(value.get(key))
            if type(inner) is dict and (found_inner := find_list(inner, depth + 1)):
                return key, found_inner[1]
    return None


def are_alternating(found: list[Any]) -> bool:
    """[{"user": …, "assistant": …}, …]: one exchange per element."""
    return bool(found) and all(type(item) is dict and find_pair(item) is not None for item in found[:5])


def are_named(found: list[Any]) -> bool:
    """[{"author": "Anna", "text": …}, …]: names instead of roles."""
    return len(found) > 1 and all(_read_named(item) is not None for item in found[:5])


def _put_in_order(messages: list[Message]) -> list[Message]:
    """Oldest first; some APIs list the newest first."""
    times = [message.details.get("timestamp") or 0.0 for message in messages]
    if all(times) and times[0] > times[-1]:
        return [message for _, message in sorted(zip(times, messages, strict=True), key=lambda pair: pair[0])]
    return messages


def _read_named(item: Any) -> tuple[str, str] | None:
    name, text = pick(item, *_NAMES), pick(item, "text", "content", "message", "utterance", "body")
    return (name, text) if type(name) is str and type(text) is str else None


def _read_list(found: list[Any]) -> list[Message]:
    if are_messages(found):
        return _put_in_order(read_messages(found))
    if found and all(type(item) is list and len(item) == 2 for item in found):  # Gradio's pairs
        found = [{"user": question, "assistant": answer} for question, answer in found]
    if are_named(found):
        named = [(*pair, None) for item in found if (pair := _read_named(item))]
        return assign_roles(named) + [leave_out(reasons.UNREADABLE_FORM)] * (len(found) - len(named))
    messages: list[Message] = []
    for item in found:
        if pair := find_pair(as_dict(item)):
            messages += read_input(item[pair[0]])[0] or [leave_out(reasons.UNREADABLE_FORM)]
            messages += read_output(item[pair[1]])[0] or [leave_out(reasons.UNREADABLE_FORM)]
        else:
            messages.append(read_message(as_dict(item)))
    return messages


def _describe(value: dict[str, Any], *used: str) -> dict[str, Any]:
    """Everything else of the object, its scores and references among it."""
    left = {
        key: decode_json(item)
        for key, item in value.items()
        if key not in used and key not in IDS and key not in _SYSTEM
    }
    metadata = as_dict(left.pop("metadata", None))
    facts = {
        "model": left.pop("model", None) if type(left.get("model")) is str else None,
        "user_id": pick(left, "user_id", "userId"),
        "tags": left.pop("tags", None) if type(left.get("tags")) is list else None,
        "metadata": drop_empty({**left, **metadata}),
    }
    return drop_empty(facts)
