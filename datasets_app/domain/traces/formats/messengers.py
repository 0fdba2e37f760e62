"""Messengers' exports in JSON: Telegram, Messenger, Instagram, Slack, Discord."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from itertools import filterfalse
from types import MappingProxyType
from typing import Any

from datasets_app.domain.conversations.roles import find_withheld
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.formats.own_words import is_own_words
from datasets_app.domain.traces.records import Conversation, Message, Remark, leave_out
from datasets_app.domain.traces.values import as_dict, as_list, as_name, drop_empty, pick, to_seconds


def assign_roles(spoken: Sequence[tuple[str, str, float | None]], assistant: str = "") -> list[Message]:
    """(sender, text, time) → messages. Everybody but the assistant is a user; without one, the first sender
    is, until somebody says otherwise."""
    first = spoken[0][0] if spoken else ""
    return [
        Message(
            "assistant" if (sender == assistant if assistant else sender != first) else "user",
            text,
            drop_empty({"timestamp": time, "author": sender}),
            sender,
        )
        for sender, text, time in spoken
    ]


# --- Telegram ----------------------------------------------------------------------------------


def matches_telegram(value: Any) -> bool:
    return next(_find_chats(value), None) is not None


def read_telegram(value: Any, number: int) -> Iterator[Conversation]:
    return (_read_chat(chat, number) for chat in _find_chats(value))


def _find_chats(value: Any) -> Iterator[dict[str, Any]]:
    value = as_dict(value)
    lists = (as_dict(value.get(key)).get("list") for key in ("chats", "left_chats"))
    chats = [chat for found in lists for chat in as_list(found)]
    for chat in chats or [value]:
        messages = as_list(as_dict(chat).get("messages"))
        if any("from_id" in as_dict(item) or "date_unixtime" in as_dict(item) or "actor_id" in as_dict(item)
               for item in messages[:5]):  # fmt: skip
            yield chat


def _read_chat(chat: dict[str, Any], number: int) -> Conversation:
    facts = {"title": chat.get("name"), "chat_type": chat.get("type")}
    spoken: list[_Said] = []
    left_out: list[str] = []
    for item in map(as_dict, chat["messages"]):
        poll = as_dict(item.get("poll"))
        said = (item.get("text"), item.get("text_entities"), item.get("rich_message"), poll.get("question"))
        buttons = [button for row in as_list(item.get("inline_bot_buttons")) for button in as_list(row)]
        text = join_unsaid(map(join_texts, (*said, *as_list(poll.get("answers")), *buttons)))
        if item.get("type", "message") != "message":
            left_out.append(reasons.SERVICE_MESSAGES)
            continue
        if withheld := find_withheld(item):
            left_out.append(reasons.WITHHELD[withheld])
            text = ""
        elif not text.strip():
            left_out.append(reasons.MEDIA if _TELEGRAM_MEDIA & item.keys() else reasons.UNREADABLE_FORM)
        sender = as_name(item.get("from")) or as_name(item.get("from_id")) or "unknown"
        time = to_seconds(item.get("date_unixtime")) or to_seconds(item.get("date"))
        spoken.append((sender, text, time))
    return Conversation(as_name(chat.get("id")), _finish(spoken, left_out), facts, number, separate=True)


_Said = tuple[str, str, float | None]
_TELEGRAM_MEDIA = frozenset(
    "photo file media_type sticker_emoji contact_information location_information game_title venue_title "
    "contact_vcard live_location_period_seconds poll dice giveaway_information invoice_information".split()
)


def _finish(spoken: list[_Said], left_out: list[str], assistant: str = "") -> list[Message]:
    """A sender of nothing but media has no text, but may be the first sender."""
    messages = assign_roles(spoken, assistant)
    return [*(message for message in messages if message.text.strip()), *map(leave_out, left_out)]


def join_texts(value: Any) -> str:
    """The texts of rich text, in order: strings, and what objects have as text, blocks, elements or
    fields."""
    if type(value) is str:
        return value
    if type(value) is list:
        parts = [(join_texts(item), str(as_dict(item).get("type")) in _BLOCKS) for item in value]
        return "".join(f"{text}\n" if is_block and text else text for text, is_block in parts).strip("\n")
    if type(value) is not dict:
        return ""
    kind = str(value.get("type"))
    if kind in _MENTIONS:
        return f"<@{as_name(value.get('user_id') or value.get('range') or value.get('usergroup_id'))}>"
    if kind == "emoji":
        return f":{value.get('name')}:"
    found = [join_texts(value[key]) for key in _TEXT_KEYS if key in value]
    return "\n".join(filter(None, found)) or (as_name(value.get("url")) if kind == "link" else "")


def join_unsaid(texts: Iterable[str]) -> str:
    """The texts below each other, without lines that say nothing new: Slack and Telegram repeat what a
    message says as rich text, which may be all of it."""
    found: list[str] = []
    words = ""
    for text in texts:
        new = [line for line in text.splitlines() if not found or _spell(line) not in words]
        found += [text] if new and not found else new
        words = "".join(map(_spell, found))
    return "\n".join(found)


def _spell(line: str) -> str:
    """The words between blanks, or the signs of a line without words."""
    return f" {' '.join(_WORD.findall(line)) or line.strip()} "


_WORD = re.compile(r"\w+")
_TEXT_KEYS = ("text", "blocks", "elements", "fields", "items", "rows", "cells", "content", "caption")
_BLOCKS = frozenset(
    "paragraph section header rich_text rich_text_section rich_text_list rich_text_quote context "
    "rich_text_preformatted heading blockquote list list_item preformatted markdown".split()
)
_MENTIONS = frozenset(("user", "broadcast", "usergroup"))


# --- Messenger, Instagram, Slack, Discord ------------------------------------------------------


def matches_messenger(value: Any) -> bool:
    value = as_dict(value)
    first = as_dict(next(iter(as_list(value.get("messages"))), None))
    if ("sender_name" in first and "timestamp_ms" in first) or {"senderName", "isUnsent"} <= first.keys():
        return True
    if "isBot" in as_dict(first.get("author")) and "channel" in value:
        return True
    return (
        value.get("type") == "message"
        and "ts" in value
        and (any(key in value for key in ("user", "bot_id", "subtype", "blocks", "username")))
    )


def read_messenger(documents: Iterable[Document]) -> Iterator[Conversation | Remark]:
    """Slack's messages come one by one; those of a thread are a conversation, and so are the others of a
    channel."""
    threads: dict[tuple[str, str], list[dict[str, Any]]] = {}
    first = 0
    for number, value in documents:
        messages = as_list(as_dict(value).get("messages"))
        if matches_messenger(value) and messages:
            name = as_name(
                pick(value, "thread_path", "threadName") or as_dict(value.get("channel")).get("id")
            )
            yield _read_group(name, messages, number)
        elif matches_messenger(value):
            first = first or number
            threads.setdefault((as_name(value.get(CHANNEL)), as_name(value.get("thread_ts"))), []).append(
                value
            )
        else:
            yield Remark(reasons.NO_MESSAGES, number)
    starts = {(channel, as_name(item.get("ts"))): item for (channel, thread), items in threads.items()
              for item in items if not thread}  # fmt: skip
    for (channel, thread), items in threads.items():
        if thread and (channel, thread) in starts:  # a thread begins with a message of the channel
            items.insert(0, starts[channel, thread])
            threads[channel, ""].remove(starts[channel, thread])
    names = _name_users(item for items in threads.values() for item in items)
    for (channel, thread), items in threads.items():
        if items:
            yield _read_group("/".join(filter(None, (channel, thread))), items, first, names)


# Where an archive of Slack keeps the name of a message's channel, and the names of all users.
CHANNEL, USERS = "channel_name", "user_names"
_SLACK_SPEECH = frozenset(
    "bot_message slackbot_response file_comment me_message thread_broadcast reply_broadcast file_share "
    "assistant_app_thread bot_add_message document_mention".split()
)
_DISCORD_SPEECH = frozenset(
    "Default Reply ApplicationCommand ChatInputCommand ContextMenuCommand 20 0 19 23".split()
)
_FACEBOOK_SERVICE = frozenset("Call Subscribe Unsubscribe Plan RoomCall".split())
_SLACK_REFERENCE = re.compile(r"<([@#!]?)(date\^[^<>|]*|[^<>|\s]+)(?:\|([^<>]*))?>")


def _name_users(items: Iterable[dict[str, Any]]) -> dict[str, str]:
    """{id: name} of users and bots, by the archive's list and by what messages say of their senders."""
    names: dict[str, str] = {}
    for item in items:
        names |= as_dict(item.get(USERS))
        profile = as_dict(item.get("user_profile"))
        bot = item.get("username") or as_dict(item.get("bot_profile")).get("name")
        for key, name in (("user", pick(profile, "real_name", "display_name", "name")), ("bot_id", bot)):
            if as_name(item.get(key)) and as_name(name):
                names.setdefault(as_name(item[key]), as_name(name))
    return names


def _read_group(
    name: str, messages: list[Any], number: int, names: Mapping[str, str] = MappingProxyType({})
) -> Conversation:
    spoken: list[_Said] = []
    left_out: list[str] = []
    bots: set[str] = set()
    for item in map(as_dict, messages):
        sender = _find_sender(item, names)
        text = _repair(_find_text(item, names), "sender_name" in item)
        if _is_service(item) or is_own_words(text):
            left_out.append(reasons.SERVICE_MESSAGES)
            continue
        if withheld := find_withheld(item):
            left_out.append(reasons.WITHHELD[withheld])
            text = ""
        elif not text.strip():
            left_out.append(reasons.MEDIA)
        left_out += [reasons.PREVIEWS for card in _list_cards(item) if _is_preview(item, card)]
        left_out += [reasons.PREVIEWS] * (type(item.get("share")) is dict)
        if as_dict(item.get("author")).get("isBot") or item.get("bot_id"):
            bots.add(sender)
        time = to_seconds(item.get("timestamp_ms") or item.get("ts") or item.get("timestamp"))
        spoken.append((sender, text, time))
    spoken.sort(key=lambda line: line[2] or 0.0)
    messages = _finish(spoken, left_out, min(bots) if len(bots) == 1 else "")
    return Conversation(name, messages, {}, number, separate=True)


def _find_sender(item: dict[str, Any], names: Mapping[str, str]) -> str:
    author, comment = as_dict(item.get("author")), as_dict(item.get("comment"))
    found = (pick(item, "sender_name", "senderName"), author.get("name"), comment.get("user"),
             *(item.get(key) for key in ("user", "username", "bot_id")))  # fmt: skip
    sender = next((as_name(one) for one in found if as_name(one)), "unknown")
    return _repair(names.get(sender, sender), "sender_name" in item)


def _is_service(item: dict[str, Any]) -> bool:
    """What the messenger says itself, by the structure of its export."""
    subtype, kind = item.get("subtype"), str(item.get("type"))
    if "sender_name" in item or "senderName" in item:  # the latter in Messenger's chats with encryption
        is_unsent = item.get("is_unsent") is True or item.get("isUnsent") is True
        return kind in _FACEBOOK_SERVICE or "call_duration" in item or is_unsent
    if "author" in item:
        return "type" in item and kind not in _DISCORD_SPEECH
    return bool(item.get("hidden")) or (subtype is not None and str(subtype) not in _SLACK_SPEECH)


def _find_text(item: dict[str, Any], names: Mapping[str, str]) -> str:
    """The text, and below it what only blocks, attachments or embeds say."""
    cards = map(_join_card, filterfalse(partial(_is_preview, item), _list_cards(item)))
    if "ts" not in item:
        return join_unsaid([as_name(item.get("content")) or str(item.get("text") or ""), *cards])
    text = as_dict(item.get("comment")).get("comment") or item.get("text") or ""
    said = (str(text), join_texts(item.get("blocks")), *cards)
    return join_unsaid(
        unescape(_SLACK_REFERENCE.sub(lambda match: _show_reference(match, names), part)) for part in said
    )


def _list_cards(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Slack's attachments and Discord's embeds."""
    yield from map(as_dict, as_list(item.get("attachments" if "ts" in item else "embeds")))


def _is_preview(item: dict[str, Any], card: dict[str, Any]) -> bool:
    """Whether a card shows the page behind a link of the text: nobody has said that."""
    url = card.get("from_url") or card.get("url")
    return type(url) is str and url != "" and url in str(item.get("content") or item.get("text"))


def _join_card(card: dict[str, Any]) -> str:
    fields = [
        f"{pick(field, 'name', 'title')}: {field.get('value')}"
        for field in map(as_dict, as_list(card.get("fields")))
    ]
    said = [*(card.get(key) for key in ("pretext", "title", "description", "text")), *fields]
    said += [join_texts(card.get("blocks")), as_dict(card.get("footer")).get("text")]
    found = "\n".join(text for text in said if type(text) is str and text)
    return found or as_name(card.get("fallback"))


def _show_reference(match: re.Match[str], names: Mapping[str, str]) -> str:
    """<@U02>, <#C1|help>, <!here>, <https://…|words> as Slack shows them."""
    mark, target, words = match[1], match[2], match[3]
    if target.startswith("date^"):
        return words or ""
    if mark == "@":
        return f"@{words or names.get(target, target)}"
    if mark:
        return f"{'#' if mark == '#' else '@'}{words or target.partition('^')[0]}".replace("@@", "@")
    return words or target.removeprefix("mailto:").removeprefix("tel:")


def _repair(text: str, damaged: bool) -> str:
    """Facebook writes the bytes of UTF-8 as if each were a character."""
    if damaged:
        try:
            return text.encode("latin-1").decode()
        except (UnicodeEncodeError, UnicodeDecodeError):
            return text
    return text
