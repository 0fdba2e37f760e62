"""What a message has beside its text and no reader reads, so that it is counted: attached files, and values
under keys that no reader knows, such as reactions."""

import re
from collections.abc import Iterator
from typing import Any

# Where messengers, help desks and chat applications list the files of a message …
_LISTS = frozenset(
    "attachments attached_files files message_files photos videos audio_files gifs images media".split()
)
# … and where Telegram names its only one.
_ONLY = ("photo", "file")
# A quotation, a card or a preview of a link stands in such a list too, without any of these.
_OF_A_FILE = (
    "url uri href url_private content_url contentUrl data_url attachment_url filename file_name fileName "
    "original_name file_id name"
).split()
_TEXTS = frozenset(
    "text content body body_text plain_body html_body description description_text message msg query".split()
)
# What else is said of a message, below it.
_OF_A_MESSAGE = frozenset(("metadata", "_embedded", "_source", "data"))
# What an assistant says to a tool.
_OF_A_CALL = frozenset(("arguments", "args", "parameters", "tool_calls"))
_NESTED = (dict, list)
# Without one of these, an object with a text isn't a message; without one of the others, nor a part of one.
_ANNOTATIONS = frozenset(("annotations", "citations"))
_SPEAKERS = frozenset(
    "role author author_id from from_id sender sender_name senderName speaker direction ts "
    "incoming is_inbound isCreatedByUser".split()
)
# What readers read of messages, by any name, what is none of a conversation's business, and where it is.
_READ = _LISTS.union(
    _ONLY,
    _TEXTS,
    _SPEAKERS,
    "contents parts blocks value utterance message_parts contentParts text_entities rich_message recipient "
    "id _id uuid ts type kind part_type content_type subtype index key_order rank parent parentUuid children "
    "childrenIds sibling_ids event object channel channel_name team user_names user_profile bot_profile "
    "timestamp timestamp_ms created created_at createdAt create_time created_datetime createdDateTime date "
    "date_unixtime time sent_at AbsoluteTime inserted_at updated updated_at updatedAt update_time done "
    "model models modelName modelIdx model_slug usage usage_metadata tokenCount finish_reason stop_reason "
    "stop_sequence finish_details feedback annotation labels tags tool_calls function_call tool_results "
    "toolInvocations additional_kwargs response_metadata invalid_tool_calls reasoning reasoning_content "
    "thinking thoughts refusal audio status state visibility public private weight end_turn sender_type "
    "isMeta isSidechain version cwd metadata messages cards embeds poll inline_bot_buttons share user bot_id "
    "received replies turn_index function endpoint promptTokens timestamp_ is_complete pad command args "
    "default_model_slug is_visually_hidden_from_conversation subject title username thread_ts reply_count "
    "reply_users reply_users_count latest_reply subscribed last_read user_team source_team icons".split(),
)
_NAMES_A_RECORD = re.compile(r"(?!reply|in_reply|forward|quoted).*(?:_u?u?id|Id|ID)")

_PLAIN_KEY = re.compile(r"[A-Za-z_]\w{0,40}")


def find_texts(document: Any) -> Iterator[dict[str, Any]]:
    """The objects with a text, and those that say more of the one in which they are."""
    waiting: list[tuple[Any, bool]] = [(document, False)]
    while waiting:
        value, has_text = waiting.pop()
        if type(value) is list:
            waiting += [(item, False) for item in value if type(item) in _NESTED]
            continue
        if type(value) is not dict:
            continue
        has_text = has_text or (not _TEXTS.isdisjoint(value) and any(map(value.get, _TEXTS)))
        if has_text:
            yield value
        for key, item in value.items():
            if type(item) in _NESTED and key not in _OF_A_CALL:
                waiting.append((item, has_text and key in _OF_A_MESSAGE))


def list_unread(message: dict[str, Any]) -> list[str]:
    """The keys of what a message says beside its text, and no reader knows."""
    is_part = not _ANNOTATIONS.isdisjoint(message) and any(map(message.get, _TEXTS))
    if _SPEAKERS.isdisjoint(message) and not is_part:
        return []
    more = message.get("metadata")
    beside = {**more, **message} if type(more) is dict else message
    return [
        key if _PLAIN_KEY.fullmatch(key) else "others"
        for key, item in beside.items()
        if item and key not in _READ and not _NAMES_A_RECORD.fullmatch(key)
    ]


def count_files(message: dict[str, Any]) -> int:
    """Files beside a text; a message of nothing but files is left out and counted by its reader."""
    listed = (item for key in _LISTS & message.keys() if type(message[key]) is list for item in message[key])
    alone = sum(type(message.get(key)) is str and "date" in message for key in _ONLY)
    return sum(map(_is_file, listed)) + alone


def _is_file(item: Any) -> bool:
    """``item`` is a name, an address, the content in Base64, or a record of the file."""
    if type(item) is dict:
        is_card = "card" in str(item.get("contentType")) and bool(item.get("content"))
        return is_card or any(type(item.get(key)) is str and item[key] for key in _OF_A_FILE)
    return type(item) is str and item != ""
