"""Messages of help desks, bot platforms and chat applications whose exports differ only in names of keys."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.formats.messengers import assign_roles
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.domain.traces.records import (
    NO_MESSAGES,
    PRIVATE_NOTES,
    Call,
    Conversation,
    LeftOut,
    Message,
)
from datasets_app.domain.traces.values import as_dict, as_list, as_name, dig, drop_empty, pick, to_seconds

USER, ASSISTANT, NOTE, OTHER = "user", "assistant", "note", ""
_LISTS = (
    "messages data results _results events payload value activities threads entries Transcript logs "
    "responses interactions turns"
).split()
_INSIDE = ("_embedded", "data", "thread", "conversation", "state")
_RECORDS = ("chats", "conversations", "data", "items", "results")
_IDS = "conversationId conversation_id id call_id ContactId sender_id ticket_id session_id name".split()
_TIMES = (
    "timestamp createdAt created_at created_datetime createdDateTime startTime createTime request_timestamp "
    "AbsoluteTime sent_at date_created createdDate create_time send_date"
).split()
_CONVERSATION = (
    "session_id sessionId conversationsThreadId ticket_id conversationId conversation_id conversation_sid "
    "chatId sender_id"
).split()
_SYSTEM_EVENTS = ("systemEventMessage", "lineitem", "forwardparent", "forwardchild")


class Event(NamedTuple):
    """``who`` is user, assistant, note or empty; a name otherwise, of whom the order decides."""

    who: str
    text: str


class Shape(NamedTuple):
    """An object with all ``keys`` is an event, unless ``read`` returns None."""

    keys: tuple[str, ...]
    read: Callable[[dict[str, Any]], list[Event] | None]


def _side(value: Any, user: tuple[Any, ...], assistant: tuple[Any, ...]) -> str | None:
    return USER if value in user else ASSISTANT if value in assistant else None


def _one(who: str | None, text: Any) -> list[Event] | None:
    return None if who is None else [Event(who, strip_html(text) if type(text) is str else "")]


def _read_crisp(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item["from"], ("user",), ("operator",))
    return _one(NOTE if item.get("type") == "note" else who, item["content"])


def _read_front(item: dict[str, Any]) -> list[Event] | None:
    return _one(USER if item["is_inbound"] else ASSISTANT, item.get("text") or item.get("body"))


def _read_hubspot(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item.get("direction"), ("INCOMING",), ("OUTGOING",)) or OTHER
    return _one(NOTE if item.get("type") == "COMMENT" else who, item.get("text"))


def _read_gorgias(item: dict[str, Any]) -> list[Event] | None:
    who = ASSISTANT if item["from_agent"] else USER
    text = item.get("body_text") or item.get("stripped_text") or item.get("body_html")
    return _one(NOTE if item.get("public") is False else who, text)


def _read_help_scout(item: dict[str, Any]) -> list[Event] | None:
    kind, by = item.get("type"), as_dict(item["createdBy"]).get("type")
    if kind not in ("customer", "message", "reply", "chat", "note", "phone", "beaconchat", *_SYSTEM_EVENTS):
        return None
    who = USER if kind == "customer" or by == "customer" else ASSISTANT
    return _one(NOTE if kind == "note" else OTHER if kind in _SYSTEM_EVENTS else who, item.get("body"))


def _read_drift(item: dict[str, Any]) -> list[Event] | None:
    who = _side(as_dict(item["author"]).get("type"), ("contact",), ("user",))
    return _one(NOTE if item.get("type") == "private_note" else who, item["body"])


def _read_live_chat(item: dict[str, Any]) -> list[Event] | None:
    private = item["visibility"] == "agents"
    who = OTHER if item.get("type") != "message" else f"@{item['author_id']}"
    return _one(NOTE if private else who, item.get("text"))


def _read_chatwoot(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item["message_type"], (0, "incoming"), (1, 3, "outgoing", "template"))
    return _one(NOTE if item["private"] else who or OTHER, item["content"])


def _read_rasa(item: dict[str, Any]) -> list[Event] | None:
    if not any(key in item for key in ("timestamp", "parse_data", "data", "name", "sender_id")):
        return None
    return _one(_side(item["event"], ("user",), ("bot",)) or OTHER, item.get("text"))


def _read_dialogflow(item: dict[str, Any]) -> list[Event] | None:
    result = as_dict(item.get("queryResult")) or as_dict(dig(item, "response", "queryResult"))
    result = result or as_dict(dig(item, "jsonPayload", "queryResult"))
    if not result:
        return None
    texts = [
        text
        for message in map(as_dict, as_list(result.get("responseMessages")))
        for text in as_list(as_dict(message.get("text")).get("text"))
    ]
    asked = pick(result, "text", "queryText", "transcript")
    answer = result.get("fulfillmentText") or "\n".join(map(str, texts))
    return [Event(USER, str(asked or "")), Event(ASSISTANT, str(answer))]


def _read_botpress(item: dict[str, Any]) -> list[Event] | None:
    payload = as_dict(item["payload"])
    who = _side(item["direction"], ("incoming",), ("outgoing",))
    return _one(who, payload.get("text") or payload.get("markdown"))


def _read_voiceflow(item: dict[str, Any]) -> list[Event] | None:
    payload = as_dict(item["payload"])
    inner = payload.get("payload")
    if item["format"] == "request":
        text = inner if type(inner) is str else as_dict(inner).get("query") or as_dict(inner).get("label")
        return _one(USER, text) if payload.get("type") != "launch" else _one(OTHER, "")
    text = as_dict(inner).get("message") if item.get("type") in ("text", "speak") else ""
    return _one(ASSISTANT, text)


def _read_activity(item: dict[str, Any]) -> list[Event] | None:
    """Bot Framework, Copilot Studio."""
    if type(item["from"]) is not dict or not ("role" in item["from"] or "conversation" in item):
        return None
    who = _side(item["from"].get("role"), ("user", 1), ("bot", 0, "skill"))
    return _one(OTHER if item["type"] != "message" else who, item.get("text"))


def _read_watson(item: dict[str, Any]) -> list[Event] | None:
    asked = dig(item, "request", "input", "text")
    generic = as_list(dig(item, "response", "output", "generic"))
    if type(asked) is not str or not generic:
        return None
    texts = [as_dict(part).get("text") for part in generic]
    return [Event(USER, asked), Event(ASSISTANT, "\n".join(text for text in texts if type(text) is str))]


def _read_lex(item: dict[str, Any]) -> list[Event] | None:
    texts = [as_dict(message).get("content") for message in as_list(item["messages"])]
    answer = "\n".join(text for text in texts if type(text) is str)
    return [Event(USER, str(item["inputTranscript"])), Event(ASSISTANT, answer)]


def _read_connect(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item["ParticipantRole"], ("CUSTOMER",), ("AGENT", "CUSTOM_BOT"))
    return _one(OTHER if item.get("Type", "MESSAGE") != "MESSAGE" else who or OTHER, item.get("Content"))


def _read_flowise(item: dict[str, Any]) -> list[Event] | None:
    return _one(_side(item["role"], ("userMessage",), ("apiMessage",)), item["content"])


def _read_langflow(item: dict[str, Any]) -> list[Event] | None:
    return _one(_side(item["sender"], ("User",), ("Machine",)), item["text"])


def _read_autogen(item: dict[str, Any]) -> list[Event] | None:
    if not str(item["type"]).endswith(("Message", "Event")):
        return None
    spoken = item["type"] in ("TextMessage", "MultiModalMessage", "StopMessage")
    who = USER if str(item["source"]).lower() in ("user", "user_proxy", "human") else ASSISTANT
    return _one(who if spoken else OTHER, item["content"])


def _read_signal(item: dict[str, Any]) -> list[Event] | None:
    return _one(_side(item["type"], ("incoming",), ("outgoing",)), item["body"])


def _read_teams(item: dict[str, Any]) -> list[Event] | None:
    sender = as_dict(item["from"])
    if item["messageType"] != "message":
        return _one(OTHER, "")
    person = as_dict(sender.get("user"))
    who = f"@{person.get('displayName') or person.get('id')}" if person else ASSISTANT
    return _one(who, as_dict(item["body"]).get("content"))


def _read_tavern(item: dict[str, Any]) -> list[Event] | None:
    return _one(OTHER if item.get("is_system") else USER if item["is_user"] else ASSISTANT, item["mes"])


def _read_grok(item: dict[str, Any]) -> list[Event] | None:
    inner = as_dict(item["response"])
    who = _side(str(inner.get("sender")).lower(), ("human", "user"), ("assistant", "grok"))
    return _one(who, inner.get("message"))


def _read_twilio(item: dict[str, Any]) -> list[Event] | None:
    return _one(f"@{item['author']}", item["body"])


_SHAPES = (
    Shape(("from", "content", "session_id"), _read_crisp),
    Shape(("is_inbound", "body"), _read_front),
    Shape(("conversationsThreadId", "type"), _read_hubspot),
    Shape(("from_agent",), _read_gorgias),
    Shape(("createdBy", "body", "type"), _read_help_scout),
    Shape(("author", "body", "conversationId"), _read_drift),
    Shape(("author_id", "visibility", "type"), _read_live_chat),
    Shape(("message_type", "content", "private"), _read_chatwoot),
    Shape(("event",), _read_rasa),
    Shape(("queryResult",), _read_dialogflow),
    Shape(("request", "response", "createTime"), _read_dialogflow),
    Shape(("jsonPayload",), _read_dialogflow),
    Shape(("direction", "payload", "conversationId"), _read_botpress),
    Shape(("format", "payload", "turnID"), _read_voiceflow),
    Shape(("from", "type", "timestamp"), _read_activity),
    Shape(("request", "response"), _read_watson),
    Shape(("inputTranscript", "messages"), _read_lex),
    Shape(("ParticipantRole",), _read_connect),
    Shape(("role", "content"), _read_flowise),
    Shape(("sender", "sender_name", "text"), _read_langflow),
    Shape(("source", "content", "type"), _read_autogen),
    Shape(("type", "body", "conversationId", "sent_at"), _read_signal),
    Shape(("messageType", "from", "body"), _read_teams),
    Shape(("is_user", "mes"), _read_tavern),
    Shape(("response",), _read_grok),
    Shape(("conversation_sid", "author", "body"), _read_twilio),
)


def matches(value: Any) -> bool:
    return bool(_find_groups(value))


def read(documents: Iterable[Document]) -> Iterator[Call | Conversation | LeftOut]:
    for number, value in documents:
        if type(value) is dict and _read_event(value) is not None:
            yield from _read_loose(value, number)
            continue
        groups = _find_groups(value)
        for record, items in groups:
            yield from _read_group(record, items, number)
        if not groups and not (type(value) is dict and "chat_metadata" in value):
            yield LeftOut(NO_MESSAGES, number)


def _find_groups(value: Any, depth: int = 0) -> list[tuple[dict[str, Any], list[Any]]]:
    """(the object that holds them, events) of each conversation."""
    if type(value) is list:
        return [({}, value)] if _are_events(value) else []
    if type(value) is not dict:
        return []
    if _read_event(value) is not None:
        return [({}, [value])]
    for key in _LISTS:
        if _are_events(value.get(key)):
            return [(value, value[key])]
    if depth < 2:
        for key in _INSIDE:
            inner = value.get(key)
            if type(inner) is dict and (found := _find_groups(inner, depth + 1)):
                return [({**inner, **value}, items) for _, items in found]
        for key in _RECORDS:
            records = as_list(value.get(key))
            if records and _find_groups(records[0], depth + 1):
                return [group for record in records for group in _find_groups(record, depth + 1)]
    return []


def _are_events(value: Any) -> bool:
    events = [_read_event(item) for item in as_list(value)[:10] if type(item) is dict]
    known = [events_of for events_of in events if events_of is not None]
    return len(known) * 2 > len(events) and any(event.who for found in known for event in found)


def _read_event(item: dict[str, Any]) -> list[Event] | None:
    for shape in _SHAPES:
        if all(key in item for key in shape.keys):
            found = shape.read(item)
            if found is not None:
                return found
    return None


def _read_loose(item: dict[str, Any], number: int) -> Iterator[Call | LeftOut]:
    name = _find_conversation(item) or "1"
    for message, place in zip(*_make_messages({}, [item]), strict=False):
        yield Call(name, "", place or float(number), [], [message], {}, number, separate=True)
    if notes := _count_notes([item]):
        yield LeftOut(PRIVATE_NOTES, number, notes)


def _read_group(record: dict[str, Any], items: list[Any], number: int) -> Iterator[Conversation | LeftOut]:
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        if type(item) is dict:
            by_name[_find_conversation(item)].append(item)
    for name, found in by_name.items():
        if notes := _count_notes(found):
            yield LeftOut(PRIVATE_NOTES, number, notes)
        messages, _ = _make_messages(record, found)
        facts = drop_empty({"title": pick(record, "subject", "title")})
        if messages:
            yield Conversation(name or as_name(pick(record, *_IDS)), messages, facts, number, separate=True)


def _find_conversation(item: dict[str, Any]) -> str:
    inner = as_dict(item.get("conversation")).get("id") or dig(item, "labels", "session_id")
    context = dig(item, "response", "context", "conversation_id")
    session = as_name(item.get("session")).rpartition("/")[2]  # Dialogflow's projects/…/sessions/ID
    return as_name(inner) or as_name(pick(item, *_CONVERSATION)) or as_name(context) or session


def _count_notes(items: list[dict[str, Any]]) -> int:
    return sum(event.who == NOTE for item in items for event in _read_event(item) or ())


def _make_messages(
    record: dict[str, Any], items: list[dict[str, Any]]
) -> tuple[list[Message], list[float | None]]:
    """(messages, times), sorted by time; participants without a role speak in turns of their order."""
    spoken = []
    for item in items:
        inner = as_dict(item.get("response")) if "response" in item else {}
        time = to_seconds(pick(item, *_TIMES) or pick(inner, *_TIMES))
        spoken += [(event, time) for event in _read_event(item) or () if event.text.strip()]
    spoken = [(event, time) for event, time in spoken if event.who not in (NOTE, OTHER)]
    if all(time for _, time in spoken):
        spoken.sort(key=lambda pair: pair[1] or 0.0)
    roles = {
        f"@{user.get('id')}": USER if user.get("type") == "customer" else ASSISTANT
        for user in map(as_dict, as_list(record.get("users")))
    }
    names = [event.who for event, _ in spoken if event.who[:1] == "@" and event.who not in roles]
    if names and any(event.who == ASSISTANT for event, _ in spoken):
        roles |= dict.fromkeys(names, USER)
    elif names:
        named = assign_roles([(name, "x", None) for name in names], "")
        roles |= {name: message.role for name, message in zip(names, named, strict=True)}
    messages = [
        Message(roles.get(event.who, event.who), event.text, {"timestamp": time} if time else None)
        for event, time in spoken
    ]
    return messages, [time for _, time in spoken]
