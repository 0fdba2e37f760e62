"""Conversations → the formats that a file can be converted to, besides tables."""

from collections.abc import Callable, Iterator

from datasets_app.domain.conversations.chat import CHAT_FORMATS, encode_chat
from datasets_app.domain.conversations.jsonl import encode_session, encode_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.traces.label_tasks import encode_argilla, encode_label_studio

Conversations = Iterator[list[TurnRecord]]
Encoder = Callable[[Conversations], Iterator[bytes]]


def _encode_turns(conversations: Conversations) -> Iterator[bytes]:
    return (b"".join(map(encode_turn, turns)) for turns in conversations)


def _encode_sessions(conversations: Conversations) -> Iterator[bytes]:
    return map(encode_session, conversations)


def _make_chat_encoder(name: str) -> Encoder:
    return lambda conversations: (encode_chat(turns, CHAT_FORMATS[name]) for turns in conversations)


TARGETS: dict[str, Encoder] = {
    "turns": _encode_turns,
    **{name: _make_chat_encoder(name) for name in CHAT_FORMATS},
    "sessions": _encode_sessions,
    "labelstudio": encode_label_studio,
    "argilla": encode_argilla,
}
