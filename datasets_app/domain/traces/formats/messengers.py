"""Messengers: WhatsApp's text exports and Telegram's JSON. Who of them is the assistant has to be said."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.records import NO_MESSAGES, Conversation, LeftOut, Message
from datasets_app.domain.traces.values import as_dict, as_list, as_name, drop_empty, to_seconds

SERVICE_MESSAGES = "messages of the messenger itself"
MEDIA = "media without text"
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES = re.compile("[\u00a0\u202f\u2007\u2009]")
_LINE = re.compile(
    r"\[?(?P<date>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}),?\s+(?:at\s+|um\s+)?(?P<time>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)"
    r"(?:\s*(?P<half>[ap]\.?\s?m\.?))?\]?\s*(?:[-\u2013]\s+)?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SENDER = re.compile(r"(?P<name>[^:\n]{1,80}?):(?:\s(?P<text>.*)|(?P<glued>.{0,400}))", re.DOTALL)
_MEDIA_OMITTED = re.compile(
    r"<[^<>]{0,40}(?:omitted|omesso|ausgeschlossen|omitido|omis|weggelaten)[^<>]{0,20}>"
    r"|(?:image|video|audio|sticker|gif|document|contact card) omitted|<attached: [^<>]+>",
    re.IGNORECASE,
)


class Line(NamedTuple):
    number: int
    sender: str
    text: str
    date: str
    time: str
    half: str


def matches_whatsapp(text: str) -> bool:
    """Whether the beginning of a text file looks like a WhatsApp export."""
    lines = [_clean(line) for line in text.splitlines()[:40] if line.strip()]
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    return bool(found) and len(found) * 4 >= len(lines) and (lines[0][:1] in "[0123456789" or len(found) > 1)


def _clean(line: str) -> str:
    return _SPACES.sub(" ", _MARKS.sub("", line))


def read_whatsapp(lines: Iterable[tuple[int, str]], assistant: str = "") -> Iterator[Conversation | LeftOut]:
    """The whole file is one conversation. Without ``assistant``, the first sender is the user."""
    found: list[Line] = []
    left_out = 0
    for number, raw in lines:
        line = _clean(raw)
        match = _LINE.fullmatch(line.rstrip("\n"))
        if not match:
            if found:
                found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}".rstrip("\n"))
            continue
        sender = _SENDER.fullmatch(match["rest"])
        # iPhones mark what WhatsApp itself says in the name of a sender.
        if not sender or (
            f"{sender['name']}: \u200e" in raw and not _MEDIA_OMITTED.fullmatch(sender["text"] or "")
        ):
            left_out += 1
            continue
        text = sender["text"] if sender["text"] is not None else sender["glued"] or ""
        text = text.removesuffix("<This message was edited>").rstrip(" ")
        found.append(
            Line(number, sender["name"].strip(), text, match["date"], match["time"], match["half"] or "")
        )
    if left_out:
        yield LeftOut(SERVICE_MESSAGES, 0, left_out)
    media = [line for line in found if _MEDIA_OMITTED.fullmatch(line.text.strip())]
    if media:
        yield LeftOut(MEDIA, 0, len(media))
    day_first = _is_day_first([line.date for line in found])
    spoken = [
        (line.sender, line.text, _parse_time(line, day_first))
        for line in found
        if line not in media and line.text.strip()
    ]
    if spoken:
        yield Conversation("", assign_roles(spoken, assistant), {}, found[0].number, separate=True)


def assign_roles(spoken: list[tuple[str, str, float | None]], assistant: str) -> list[Message]:
    """(sender, text, time) → messages. Everybody but the assistant is a user; without one, the first sender
    is."""
    first = spoken[0][0]
    return [
        Message(
            "assistant" if (sender == assistant if assistant else sender != first) else "user",
            text,
            drop_empty({"timestamp": time, "author": sender}) or None,
        )
        for sender, text, time in spoken
    ]


def _is_day_first(dates: list[str]) -> bool:
    parts = [[int(part) for part in re.split(r"[./-]", date)] for date in dates]
    if any(part[0] > 12 for part in parts):
        return True
    return not any(part[1] > 12 for part in parts)


def _parse_time(line: Line, day_first: bool) -> float | None:
    one, two, three = (int(part) for part in re.split(r"[./-]", line.date))
    if one > 31:
        year, month, day = one, two, three
    else:
        day, month = (one, two) if day_first else (two, one)
        year = three + 2000 if three < 100 else three
    hour, minute, second = (*(int(part) for part in re.split(r"[:.]", line.time)), 0)[:3]
    half = line.half[:1].lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None


# --- Telegram ----------------------------------------------------------------------------------


def matches_telegram(value: Any) -> bool:
    return next(_find_chats(value), None) is not None


def read_telegram(documents: Iterable[Document], assistant: str = "") -> Iterator[Conversation | LeftOut]:
    for number, value in documents:
        found = False
        for chat in _find_chats(value):
            found = True
            yield from _read_chat(chat, assistant, number)
        if not found:
            yield LeftOut(NO_MESSAGES, number)


def _find_chats(value: Any) -> Iterator[dict[str, Any]]:
    value = as_dict(value)
    chats = as_list(as_dict(value.get("chats")).get("list"))
    for chat in chats or [value]:
        messages = as_list(as_dict(chat).get("messages"))
        if any("from_id" in as_dict(item) or "date_unixtime" in as_dict(item) or "actor_id" in as_dict(item)
               for item in messages[:5]):  # fmt: skip
            yield chat


def _read_chat(chat: dict[str, Any], assistant: str, number: int) -> Iterator[Conversation | LeftOut]:
    spoken: list[tuple[str, str, float | None]] = []
    service = media = 0
    for item in map(as_dict, chat["messages"]):
        text = _join_entities(item.get("text"))
        if item.get("type") != "message":
            service += 1
        elif not text.strip():
            media += 1
        else:
            sender = as_name(item.get("from")) or as_name(item.get("from_id")) or "unknown"
            spoken.append(
                (sender, text, to_seconds(item.get("date_unixtime")) or to_seconds(item.get("date")))
            )
    if service:
        yield LeftOut(SERVICE_MESSAGES, number, service)
    if media:
        yield LeftOut(MEDIA, number, media)
    if spoken:
        facts = drop_empty({"title": chat.get("name"), "chat_type": chat.get("type")})
        yield Conversation(
            as_name(chat.get("id")), assign_roles(spoken, assistant), facts, number, separate=True
        )


# --- Messenger, Instagram, Slack, Discord ------------------------------------------------------


def matches_messenger(value: Any) -> bool:
    value = as_dict(value)
    first = as_dict(next(iter(as_list(value.get("messages"))), None))
    if "sender_name" in first and "timestamp_ms" in first:
        return True
    if "isBot" in as_dict(first.get("author")) and "channel" in value:
        return True
    return value.get("type") == "message" and "ts" in value and ("user" in value or "bot_id" in value)


def read_messenger(documents: Iterable[Document], assistant: str = "") -> Iterator[Conversation | LeftOut]:
    """Slack's messages come one by one; those of a thread are a conversation."""
    threads: dict[str, list[dict[str, Any]]] = {}
    first = 0
    for number, value in documents:
        messages = as_list(as_dict(value).get("messages"))
        if matches_messenger(value) and messages:
            name = as_name(value.get("thread_path")) or as_name(as_dict(value.get("channel")).get("id"))
            yield from _read_group(name, messages, assistant, number)
        elif matches_messenger(value):
            first = first or number
            threads.setdefault(as_name(value.get("thread_ts")), []).append(value)
        else:
            yield LeftOut(NO_MESSAGES, number)
    starts = {as_name(item.get("ts")): item for item in threads.get("", [])}
    for name, messages in threads.items():
        if name and name in starts:  # a thread begins with a message of the channel
            messages.insert(0, starts[name])
            threads[""].remove(starts[name])
    for name, messages in threads.items():
        yield from _read_group(name, messages, assistant, first)


def _read_group(
    name: str, messages: list[Any], assistant: str, number: int
) -> Iterator[Conversation | LeftOut]:
    spoken: list[tuple[str, str, float | None]] = []
    bots: set[str] = set()
    for item in map(as_dict, messages):
        author = as_dict(item.get("author"))
        sender = next(
            (as_name(found) for found in (item.get("sender_name"), author.get("name"), item.get("user"),
                                          item.get("username"), item.get("bot_id")) if as_name(found)),
            "unknown",
        )  # fmt: skip
        if author.get("isBot") or item.get("bot_id"):
            bots.add(sender)
        text = _repair(str(item.get("content") or item.get("text") or ""), "sender_name" in item)
        time = to_seconds(item.get("timestamp_ms") or item.get("ts") or item.get("timestamp"))
        if text.strip():
            spoken.append((sender, text, time))
    spoken.sort(key=lambda line: line[2] or 0.0)
    if len(messages) > len(spoken):
        yield LeftOut(MEDIA, number, len(messages) - len(spoken))
    if spoken:
        roles = assign_roles(spoken, assistant or (min(bots) if len(bots) == 1 else ""))
        yield Conversation(name, roles, {}, number, separate=True)


def _repair(text: str, damaged: bool) -> str:
    """Facebook writes the bytes of UTF-8 as if each were a character."""
    if damaged:
        try:
            return text.encode("latin-1").decode()
        except (UnicodeEncodeError, UnicodeDecodeError):
            return text
    return text


def _join_entities(text: Any) -> str:
    if type(text) is str:
        return text
    return "".join(
        part if type(part) is str else str(as_dict(part).get("text", "")) for part in as_list(text)
    )
