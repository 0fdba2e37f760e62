"""Tickets and chats of help desks: Intercom, Zendesk, Freshdesk."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from datasets_app.domain.conversations.roles import ASSISTANT, USER, find_role, find_withheld
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.html_text import read_html, strip_html
from datasets_app.domain.traces.records import Call, Conversation, Message, Remark, leave_out
from datasets_app.domain.traces.values import as_dict, as_list, as_name, pick, to_seconds

# What may be around a ticket: pages, answers of the API, wrappers of scripts.
MAX_ENVELOPES = 4
_OF_TICKETS = frozenset(("ticket_form_id", "brand_id", "submitter_id", "comments"))
_Parts = list[tuple[float, Message]]


def _list_records(value: Any, *keys: str) -> list[dict[str, Any]]:
    """The records of an export: the value itself, or what a list of these names holds."""
    for key in keys:
        if type(value) is dict and type(value.get(key)) is list:
            return [item for item in value[key] if type(item) is dict]
    return [value] if type(value) is dict else []


def _read_part(item: dict[str, Any], role: str, body: Any, author: Any = None) -> tuple[float, Message]:
    """(time, message); without a role, nobody knows who speaks."""
    seconds = to_seconds(pick(item, "created_at", "timestamp")) or 0.0
    if reason := find_withheld(item):
        return seconds, leave_out(reasons.WITHHELD[reason])
    return seconds, read_html(role, body, timestamp=seconds or None, author=author)


def _finish(name: str, parts: _Parts, facts: dict[str, Any], line: int) -> Conversation:
    messages = [message for _, message in sorted(parts, key=lambda part: part[0])]
    return Conversation(name, messages, facts, line, separate=True)


# --- Intercom ----------------------------------------------------------------------------------


def matches_intercom(value: Any) -> bool:
    first = next(iter(_list_records(value, "conversations", "data")), {})
    return (
        "conversation_parts" in first
        or ("conversation_id" in first and "part_type" in first)
        or ("conversation_message" in first and "id" in first)
        or (first.get("type") == "conversation" and ("source" in first or "statistics" in first))
    )


def read_intercom(value: Any, number: int) -> Iterator[Call | Conversation | Remark]:
    for item in _list_records(value, "conversations", "data"):
        if "conversation_id" in item and "part_type" in item:
            yield _read_flat_part(item, number)
            continue
        if not matches_intercom(item):
            yield Remark(reasons.NO_MESSAGES, number)
            continue
        source = as_dict(item.get("source")) or as_dict(item.get("conversation_message"))
        parts = [{"created_at": item.get("created_at"), **source}] if source else []
        found = item.get("conversation_parts")
        found = found if type(found) is list else as_list(as_dict(found).get("conversation_parts"))
        parts += map(as_dict, found)
        facts = {
            "title": strip_html(item.get("title") or source.get("subject")),
            "state": item.get("state"),
            "rating": as_dict(item.get("conversation_rating")).get("rating"),
            "tags": [
                tag.get("name") for tag in as_list(as_dict(item.get("tags")).get("tags")) if type(tag) is dict
            ],
            "user_id": _find_contact(item),
        }
        yield _finish(as_name(item.get("id")), list(map(_read_intercom_part, parts)), facts, number)


def _read_flat_part(part: dict[str, Any], number: int) -> Call:
    """A part as a record of its own, as connectors export them."""
    time, message = _read_intercom_part(part)
    return Call(as_name(part["conversation_id"]), "", time, [], [message], {}, number, separate=True)


def _find_contact(item: dict[str, Any]) -> Any:
    contacts = as_list(as_dict(item.get("contacts")).get("contacts")) or [item.get("user")]
    return pick(as_dict(next(iter(contacts), None)), "external_id", "id", "email")


def _read_intercom_part(part: dict[str, Any]) -> tuple[float, Message]:
    """Assignments, snoozes and other events have no body; what an attribute's change says isn't said."""
    if not part.get("body") and part.get("part_type", "comment") != "comment":
        return 0.0, leave_out(reasons.OTHER_EVENTS)
    author = as_dict(part.get("author"))
    side = find_role(str(author.get("type")))
    return _read_part(part, side if side in (USER, ASSISTANT) else "", part.get("body"), author.get("name"))


# --- Zendesk -----------------------------------------------------------------------------------


class _Ticket(NamedTuple):
    """A ticket, with what its envelope holds beside it."""

    fields: dict[str, Any]
    comments: list[dict[str, Any]]
    events: list[dict[str, Any]]
    users: dict[str, Any]


def matches_zendesk(value: Any) -> bool:
    first = next(iter(_list_records(value, "tickets", "results", "data")), {})
    if _is_zendesk_chat(first):
        return True
    tickets = _list_tickets(value)
    fields = tickets[0].fields if tickets else {}
    return bool(tickets) and (
        any("author_id" in comment for comment in tickets[0].comments[:3])
        or bool(tickets[0].events)
        or ("requester_id" in fields and "conversations" not in fields and not _OF_TICKETS.isdisjoint(fields))
    )


def _is_zendesk_chat(value: dict[str, Any]) -> bool:
    return type(value.get("history")) is list and "visitor" in value


def _list_tickets(value: Any, around: tuple[dict[str, Any], ...] = ()) -> list[_Ticket]:
    """The tickets of a record or of a page of the API, whatever is ``around`` them; [] if it has none."""
    value = as_dict(value)
    for key in ("tickets", "results", "data"):
        found = value.get(key)
        records = found if type(found) is list else [found] if key == "data" and type(found) is dict else []
        if records and len(around) < MAX_ENVELOPES:
            return [ticket for record in records for ticket in _list_tickets(record, (*around, value))]
    if type(value.get("ticket")) is dict and len(around) < MAX_ENVELOPES:
        return _list_tickets(value["ticket"], (*around, value))
    places = (value, *reversed(around))
    name = as_name(value.get("id"))
    comments = next((found for place in places if (found := _list_comments(place, name))), [])
    events = next((found for place in places if (found := _list_audit_events(place))), [])
    listed = [user for place in places for inner in (place, as_dict(place.get("comments")))
              for user in map(as_dict, as_list(inner.get("users")))]  # fmt: skip
    if not around and not (comments or events or "requester_id" in value):
        return []
    return [_Ticket(value, comments, events, {as_name(user.get("id")): user for user in listed})]


def _list_comments(place: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Those of one ticket: of a list of all comments, the ones that name it."""
    found = place.get("comments")
    found = as_list(as_dict(found).get("comments")) if type(found) is dict else as_list(found)
    return [item for item in map(as_dict, found) if as_name(item.get("ticket_id")) in ("", name)]


def read_zendesk(value: Any, number: int) -> Iterator[Conversation]:
    chats = [item for item in _list_records(value, "tickets", "results", "data") if _is_zendesk_chat(item)]
    tickets = [] if chats else _list_tickets(value)
    yield from (_read_zendesk_chat(item, number) for item in chats)
    yield from (_read_zendesk_ticket(ticket, number) for ticket in tickets)


def _read_zendesk_ticket(ticket: _Ticket, number: int) -> Conversation:
    item, events, users = ticket.fields, ticket.events, ticket.users
    comments = ticket.comments + [event for event in events if event.get("type") == "Comment"]
    comments.sort(key=lambda comment: to_seconds(comment.get("created_at")) or 0.0)
    requester = pick(item, "requester_id", "requester") or (
        comments[0].get("author_id") if comments else None
    )
    requester = as_name(requester.get("id") if type(requester) is dict else requester)
    parts: _Parts = [
        (0.0, leave_out(reasons.OTHER_EVENTS)) for event in events if event.get("type") != "Comment"
    ]
    for comment in comments:
        author = as_name(pick(comment, "author_id") or as_dict(comment.get("author")).get("id"))
        role = as_dict(users.get(author)).get("role") or as_dict(comment.get("author")).get("role")
        side = "" if not author else USER if author == requester else ASSISTANT
        side = find_role(role) if type(role) is str else side
        body = pick(comment, "plain_body", "html_body", "body")
        parts.append(_read_part(comment, side, body))
    description = strip_html(item.get("description"))
    if description and not any(message.text[:80] == description[:80] for _, message in parts):
        created = to_seconds(item.get("created_at")) or 0.0
        parts.insert(
            0, _read_part({"created_at": min([created, *(time for time, _ in parts)])}, USER, description)
        )
    facts = {
        "title": item.get("subject"),
        "status": item.get("status"),
        "tags": item.get("tags"),
        "user_id": requester,
        "rating": as_dict(item.get("satisfaction_rating")).get("score"),
    }
    return _finish(as_name(item.get("id")), parts, facts, number)


def _list_audit_events(item: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"created_at": as_dict(audit).get("created_at"), **event}
        for audit in as_list(item.get("audits"))
        for event in as_list(as_dict(audit).get("events"))
        if type(event) is dict
    ]


def _read_zendesk_chat(item: dict[str, Any], number: int) -> Conversation:
    parts: _Parts = []
    for event in map(as_dict, item["history"]):
        if event.get("type") == "chat.msg":
            sender = str(event.get("sender_type") or event.get("nick") or "").lower().partition(":")[0]
            side = ASSISTANT if sender == "trigger" else find_role(sender)
            parts.append(_read_part(event, side, event.get("msg"), event.get("name")))
        else:
            parts.append((0.0, leave_out(reasons.OTHER_EVENTS)))
    facts = {
        "rating": item.get("rating"),
        "tags": item.get("tags"),
        "user_id": as_dict(item.get("visitor")).get("id"),
    }
    return _finish(as_name(item.get("id")), parts, facts, number)


# --- Freshdesk ---------------------------------------------------------------------------------


def matches_freshdesk(value: Any) -> bool:
    value = next(iter(_list_records(value, "tickets", "results")), {})
    ticket = as_dict(value.get("helpdesk_ticket")) or value
    replies = as_list(ticket.get("conversations")) or as_list(ticket.get("notes"))
    return "description_text" in ticket or any(
        "incoming" in as_dict(item) or "body_text" in as_dict(item) or "helpdesk_note" in as_dict(item)
        for item in replies[:3]
    )


def read_freshdesk(value: Any, number: int) -> Iterator[Conversation]:
    for record in _list_records(value, "tickets", "results"):
        ticket = as_dict(record.get("helpdesk_ticket")) or record
        description = pick(ticket, "description_text", "description", "description_html")
        opened = {"created_at": ticket.get("created_at")}
        parts = [_read_part(opened, USER, description)] if description else []
        for reply in as_list(ticket.get("conversations")) or as_list(ticket.get("notes")):
            reply = as_dict(as_dict(reply).get("helpdesk_note")) or as_dict(reply)
            side = USER if reply.get("incoming") else ASSISTANT
            parts.append(_read_part(reply, side, pick(reply, "body_text", "body", "body_html")))
        facts = {
            "title": ticket.get("subject"),
            "status": pick(ticket, "status_name", "status"),
            "tags": ticket.get("tags"),
            "user_id": ticket.get("requester_id"),
        }
        yield _finish(as_name(pick(ticket, "id", "display_id")), parts, facts, number)
