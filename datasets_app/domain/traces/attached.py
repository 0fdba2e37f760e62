"""How many files are attached to the texts of a document: no reader reads them, so they are counted."""

from typing import Any

from datasets_app.domain.traces.documents import Document

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
_TEXTS = (
    "text content body body_text plain_body html_body description description_text message msg query"
).split()
# What else is said of a message, below it.
_OF_A_MESSAGE = frozenset(("metadata", "_embedded", "_source", "data"))
# What an assistant says to a tool.
_OF_A_CALL = frozenset(("arguments", "args", "parameters", "tool_calls"))
_TOLD = _LISTS.union(_ONLY, _OF_A_MESSAGE)
_NESTED = (dict, list)


def count_attached(document: Document) -> int:
    """Files beside a text; a message of nothing but files is left out and counted by its reader."""
    found = 0
    waiting: list[tuple[Any, bool]] = [(document.value, False)]
    while waiting:
        value, has_text = waiting.pop()
        if type(value) is list:
            waiting += [(item, False) for item in value if type(item) in _NESTED]
            continue
        if type(value) is not dict:
            continue
        if not _TOLD.isdisjoint(value):
            has_text = has_text or any(map(value.get, _TEXTS))
            found += _count_files(value) if has_text else 0
        for key, item in value.items():
            if type(item) in _NESTED and key not in _OF_A_CALL:
                waiting.append((item, has_text and key in _OF_A_MESSAGE))
    return found


def _count_files(message: dict[str, Any]) -> int:
    listed = (item for key in _LISTS & message.keys() if type(message[key]) is list for item in message[key])
    alone = sum(type(message.get(key)) is str and "date" in message for key in _ONLY)
    return sum(map(_is_file, listed)) + alone


def _is_file(item: Any) -> bool:
    """``item`` is a name, an address, the content in Base64, or a record of the file."""
    if type(item) is dict:
        is_card = "card" in str(item.get("contentType")) and bool(item.get("content"))
        return is_card or any(type(item.get(key)) is str and item[key] for key in _OF_A_FILE)
    return type(item) is str and item != ""
