"""Conversations → the formats that a file can be converted to, besides tables."""

from collections.abc import Callable, Iterator
from typing import Any

from datasets_app.domain.conversations.chat import CHAT_FORMATS, encode_chat
from datasets_app.domain.conversations.jsonl import encode_line, encode_session, encode_turn
from datasets_app.domain.conversations.records import TurnRecord

Conversations = Iterator[list[TurnRecord]]
Encoder = Callable[[Conversations], Iterator[bytes]]


def _make_chat_encoder(name: str) -> Encoder:
    return lambda conversations: (encode_chat(turns, CHAT_FORMATS[name]) for turns in conversations)


def _encode_label_studio(conversations: Conversations) -> Iterator[bytes]:
    """One task for each conversation; ``data.dialogue`` is what the tag <Paragraphs> shows."""
    yield b"[\n"
    for number, turns in enumerate(conversations):
        dialogue = [{"author": turn.role, "text": turn.text} for turn in turns]
        task = {
            "data": {"dialogue": dialogue, "session_id": turns[0].session_id},
            "meta": {"session_id": turns[0].session_id, **_collect_metadata(turns)},
        }
        yield (b",\n" if number else b"") + encode_line(task).rstrip(b"\n")
    yield b"\n]\n"


def _encode_argilla(conversations: Conversations) -> Iterator[bytes]:
    """One record a line, with a chat field, as ``dataset.records.log`` takes them."""
    for turns in conversations:
        chat = [{"role": turn.role, "content": turn.text} for turn in turns]
        record = {"id": turns[0].session_id, "fields": {"chat": chat}, "metadata": _collect_metadata(turns)}
        yield encode_line(record)


def _collect_metadata(turns: list[TurnRecord]) -> dict[str, Any]:
    """What tools can filter by: names and numbers of the first turn and of the replies."""
    found: dict[str, Any] = {}
    for turn in turns:
        for key, value in (turn.metadata or {}).items():
            if isinstance(value, str | int | float) and key != "system_prompt" and len(str(value)) < 200:
                found.setdefault(key, value)
    return found


TARGETS: dict[str, Encoder] = {
    "turns": lambda conversations: (b"".join(map(encode_turn, turns)) for turns in conversations),
    **{name: _make_chat_encoder(name) for name in CHAT_FORMATS},
    "sessions": lambda conversations: map(encode_session, conversations),
    "labelstudio": _encode_label_studio,
    "argilla": _encode_argilla,
}
