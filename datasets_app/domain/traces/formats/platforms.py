"""Messages of help desks, bot platforms and chat applications whose exports differ only in names of keys."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from datasets_app.domain.conversations.roles import ASSISTANT, NOTE, UNKNOWN, USER, find_role, find_withheld
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.formats.messengers import assign_roles
from datasets_app.domain.traces.html_text import read_html
from datasets_app.domain.traces.messages import read_message
from datasets_app.domain.traces.records import LEFT_OUT, Call, Conversation, Message, Remark, leave_out
from datasets_app.domain.traces.values import as_dict, as_list, as_name, dig, pick, to_seconds

# The application's own events, and who speaks without a side.
OTHER, NOBODY = "other", ""
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
_BODIES = ("body_text", "stripped_text", "body_html")
_SYSTEM_EVENTS = ("systemEventMessage", "lineitem", "forwardparent", "forwardchild")


class Event(NamedTuple):
    """``who`` is user, assistant, note, other or nobody; a name otherwise, of whom the order decides."""

    who: str
    text: Any


Read = Callable[[dict[str, Any]], list[Event] | None]


class Shape(NamedTuple):
    """An object with all ``keys`` is an event, unless ``read`` returns None."""

    keys: tuple[str, ...]
    read: Read


def _side(value: Any, user: tuple[Any, ...], assistant: tuple[Any, ...]) -> str | None:
    return USER if value in user else ASSISTANT if value in assistant else None


def _one(who: str | None, text: Any) -> list[Event] | None:
    return None if who is None else [Event(who, text)]


def _make_reader(
    key: str, user: tuple[Any, ...], assistant: tuple[Any, ...], *texts: str, other: str | None = None
) -> Read:
    """Where the value under ``key`` says whose the first of ``texts`` is, or else it is of an ``other``."""
    return lambda item: _one(_side(item[key], user, assistant) or other, pick(item, *texts))


def _read_hubspot(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item.get("direction"), ("INCOMING",), ("OUTGOING",)) or OTHER
    return _one(NOTE if item.get("type") == "COMMENT" else who, item.get("text"))


def _read_help_scout(item: dict[str, Any]) -> list[Event] | None:
    kind, by = item.get("type"), as_dict(item["createdBy"]).get("type")
    if kind not in ("customer", "message", "reply", "chat", "note", "phone", "beaconchat", *_SYSTEM_EVENTS):
        return None
    who = USER if kind == "customer" or by == "customer" else ASSISTANT
    return _one(OTHER if kind in _SYSTEM_EVENTS else who, item.get("body"))


def _read_drift(item: dict[str, Any]) -> list[Event] | None:
    who = _side(as_dict(item["author"]).get("type"), ("contact",), ("user",))
    return _one(who, item["body"])


def _read_live_chat(item: dict[str, Any]) -> list[Event] | None:
    return _one(OTHER if item.get("type") != "message" else f"@{item['author_id']}", item.get("text"))


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
        if type(text) is str
    ]
    asked = pick(result, "text", "queryText", "transcript")
    answer = result.get("fulfillmentText") or "\n".join(texts)
    return [Event(USER, asked), Event(ASSISTANT, answer)]


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
    return _one(ASSISTANT if item.get("type") in ("text", "speak") else OTHER, as_dict(inner).get("message"))


def _read_activity(item: dict[str, Any]) -> list[Event] | None:
    """Bot Framework, Copilot Studio."""
    if type(item["from"]) is not dict or not ("role" in item["from"] or "conversation" in item):
        return None
    who = _side(item["from"].get("role"), ("user", 1), ("bot", 0, "skill"))
    return _one(OTHER if item["type"] != "message" else who or NOBODY, item.get("text"))


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
    return [Event(USER, item["inputTranscript"]), Event(ASSISTANT, answer)]


def _read_connect(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item["ParticipantRole"], ("CUSTOMER",), ("AGENT", "CUSTOM_BOT"))
    return _one(OTHER if item.get("Type", "MESSAGE") != "MESSAGE" else who or NOBODY, item.get("Content"))


def _read_autogen(item: dict[str, Any]) -> list[Event] | None:
    if not str(item["type"]).endswith(("Message", "Event")):
        return None
    spoken = item["type"] in ("TextMessage", "MultiModalMessage", "StopMessage")
    source = str(item["source"] or "").lower()
    who = USER if source in ("user", "user_proxy", "human") else ASSISTANT if source else NOBODY
    return _one(who if spoken else OTHER, item["content"])


def _read_teams(item: dict[str, Any]) -> list[Event] | None:
    sender = as_dict(item["from"])
    if item["messageType"] != "message":
        return _one(OTHER, "")
    person = as_dict(sender.get("user"))
    who = f"@{person.get('displayName') or person.get('id')}" if person else ASSISTANT
    return _one(who, as_dict(item["body"]).get("content"))


def _read_tavern(item: dict[str, Any]) -> list[Event] | None:
    who = _side(item["is_user"], (True,), (False,)) or NOBODY
    return _one(OTHER if item.get("is_system") else who, item["mes"])


def _read_grok(item: dict[str, Any]) -> list[Event] | None:
    inner = as_dict(item["response"])
    who = _side(str(inner.get("sender")).lower(), ("human", "user"), ("assistant", "grok"))
    return _one(who, inner.get("message"))


def _read_twilio(item: dict[str, Any]) -> list[Event] | None:
    return _one(f"@{item['author']}", item["body"])


_SHAPES = (
    Shape(("from", "content", "session_id"), _make_reader("from", ("user",), ("operator",), "content")),
    Shape(
        ("is_inbound", "body"), _make_reader("is_inbound", (True,), (False,), "text", "body", other=NOBODY)
    ),
    Shape(("conversationsThreadId", "type"), _read_hubspot),
    Shape(("from_agent",), _make_reader("from_agent", (False,), (True,), *_BODIES, other=NOBODY)),
    Shape(("createdBy", "body", "type"), _read_help_scout),
    Shape(("author", "body", "conversationId"), _read_drift),
    Shape(("author_id", "visibility", "type"), _read_live_chat),
    Shape(
        ("message_type", "content", "private"),
        _make_reader("message_type", (0, "incoming"), (1, 3, "outgoing", "template"), "content", other=OTHER),
    ),
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
    Shape(("role", "content"), _make_reader("role", ("userMessage",), ("apiMessage",), "content")),
    Shape(("sender", "sender_name", "text"), _make_reader("sender", ("User",), ("Machine",), "text")),
    Shape(("source", "content", "type"), _read_autogen),
    Shape(
        ("type", "body", "conversationId", "sent_at"),
        _make_reader("type", ("incoming",), ("outgoing",), "body"),
    ),
    Shape(("messageType", "from", "body"), _read_teams),
    Shape(("is_user", "mes"), _read_tavern),
    Shape(("response",), _read_grok),
    Shape(("conversation_sid", "author", "body"), _read_twilio),
)


def matches(value: Any) -> bool:
    return bool(_find_groups(value))


def read(documents: Iterable[Document]) -> Iterator[Call | Conversation | Remark]:
    for number, value in documents:
        if type(value) is dict and _read_event(value) is not None:
            yield from _read_loose(value, number)
            continue
        groups = _find_groups(value)
        for record, items in groups:
            yield from _read_group(record, items, number)
        if not groups and not (type(value) is dict and "chat_metadata" in value):
            yield Remark(reasons.NO_MESSAGES, number)


def _find_groups(value: Any, depth: int = 0) -> list[tuple[dict[str, Any], list[Any]]]:
    """(the object that holds them, events) of each conversation."""
    if type(value) is list:
        return [({}, value)] if _are_events(value) else []
    if type(value) is not dict:
        return []
    if _read_event(value) is not None:
        return [({}, [value])]
    if found := next((value[key] for key in _LISTS if _are_events(value.get(key))), None):
        return [(value, found)]
    if depth < 2:
        for key in _INSIDE:
            inner = value.get(key)
            if type(inner) is dict and (found := _find_groups(inner, depth + 1)):
                return [({**inner, **value}, items) for _, items in found]
        for key in _RECORDS:
            records = as_list(value.get(key))
            if records and _find_groups(records[0], depth + 1):
                found_in = [_find_groups(record, depth + 1) or [({}, [])] for record in records]
                return [group for groups in found_in for group in groups]
    return []


def _are_events(value: Any) -> bool:
    events = [_read_event(item) for item in as_list(value)[:10] if type(item) is dict]
    known = [events_of for events_of in events if events_of is not None]
    return len(known) * 2 > len(events) and any(event.who != OTHER for found in known for event in found)


def _read_event(item: dict[str, Any]) -> list[Event] | None:
    for shape in _SHAPES:
        if all(key in item for key in shape.keys):
            found = shape.read(item)
            if found is not None:
                return found
    return None


def _read_loose(item: dict[str, Any], number: int) -> Iterator[Call | Remark]:
    name = _find_conversation(item) or "1"
    for message in _make_messages({}, [item]):
        if message.role == LEFT_OUT:
            yield Remark(message.speaker, number)
        else:
            time = message.details.get("timestamp") or float(number)
            yield Call(name, "", time, [], [message], {}, number, separate=True)


def _read_group(record: dict[str, Any], items: list[Any], number: int) -> Iterator[Conversation | Remark]:
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        if type(item) is dict:
            by_name[_find_conversation(item)].append(item)
        else:
            yield Remark(reasons.UNREADABLE_FORM, number)
    if not items:
        yield Remark(reasons.NO_MESSAGES, number)
    for name, found in by_name.items():
        facts = {"title": pick(record, "subject", "title")}
        name = name or as_name(pick(record, *_IDS))
        yield Conversation(name, _make_messages(record, found), facts, number, separate=True)


def _find_conversation(item: dict[str, Any]) -> str:
    inner = as_dict(item.get("conversation")).get("id") or dig(item, "labels", "session_id")
    context = dig(item, "response", "context", "conversation_id")
    session = as_name(item.get("session")).rpartition("/")[2]  # Dialogflow's projects/…/sessions/ID
    return as_name(inner) or as_name(pick(item, *_CONVERSATION)) or as_name(context) or session


def _make_messages(record: dict[str, Any], items: list[dict[str, Any]]) -> list[Message]:
    """Sorted by time; participants without a role speak in turns of their order."""
    said: list[tuple[float | None, Message]] = []
    users = [as_dict(user) for user in as_list(record.get("users"))]
    names = {as_name(user.get("id")): as_name(user.get("name")) for user in users}
    for item in items:
        inner = as_dict(item.get("response")) if "response" in item else {}
        time = to_seconds(pick(item, *_TIMES) or pick(inner, *_TIMES))
        events = _read_event(item)
        if reason := find_withheld(item):
            said.append((time, leave_out(reasons.WITHHELD[reason])))
        elif events is None:  # none of this platform's; it may say who speaks all the same
            said.append((time, read_message(item)))
        else:
            said += [(time, _read_event_text(event, time, names)) for event in events]
    if all(time for time, message in said if message.role != LEFT_OUT):
        said.sort(key=lambda pair: pair[0] or 0.0)
    roles = {f"@{user.get('id')}": find_role(str(user.get("type"))) or UNKNOWN for user in users}
    senders = [message.role for _, message in said if message.role[:1] == "@" and message.role not in roles]
    if senders and any(message.role == ASSISTANT for _, message in said):
        roles |= dict.fromkeys(senders, USER)
    elif senders:
        named = assign_roles([(name, "x", None) for name in senders], "")
        roles |= {name: message.role for name, message in zip(senders, named, strict=True)}
    return [message._replace(role=roles.get(message.role, message.role)) for _, message in said]


def _read_event_text(event: Event, time: float | None, names: Mapping[str, str]) -> Message:
    """Who has a name keeps it; ``names`` are those of ids."""
    if event.who == OTHER:
        return leave_out(reasons.OTHER_EVENTS)
    name = event.who.removeprefix("@") if event.who[:1] == "@" else ""
    name = names.get(name) or name
    message = read_html(event.who, event.text, timestamp=time, author=name)
    return message._replace(speaker=name or message.speaker)
