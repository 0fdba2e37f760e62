"""A file of one chat format, exported in the other, is a valid file that says the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.conversations.chat import OPENAI, SHAREGPT, ChatFormat, encode_chat, parse_chat
from datasets_app.domain.conversations.jsonl import parse_turn
from datasets_app.domain.conversations.records import LineError, TurnRecord
from tests.strategies import texts, values

SPOKEN_KEYS = ("role", "content", "from", "value")
extras = st.dictionaries(texts.filter(lambda key: key not in SPOKEN_KEYS), values, max_size=2)
parts = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=3)


@st.composite
def messages(draw: st.DrawFn, chat: ChatFormat) -> list[dict[str, Any]]:
    """Turns, with what is no turn between them: system prompts, tool calls and results, pictures."""
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    spoken = st.fixed_dictionaries({chat.role: st.sampled_from(sorted(chat.roles)), chat.text: texts | parts})
    silent = st.one_of(
        st.fixed_dictionaries(
            {chat.role: st.sampled_from(["system", "tool", "observation"]), chat.text: texts | parts}
        ),
        st.fixed_dictionaries(
            {
                chat.role: st.just(chat.written_roles["assistant"]),
                chat.text: st.none(),
                "tool_calls": st.just([{"id": "call_1", "function": {"name": "f", "arguments": "{}"}}]),
            }
        ),
        st.fixed_dictionaries({chat.role: st.just(chat.written_roles["user"]), chat.text: st.just([image])}),
    )
    either = st.tuples(spoken | silent, extras).map(lambda pair: pair[1] | pair[0])
    return [*draw(st.lists(either, max_size=4)), draw(spoken), *draw(st.lists(either, max_size=3))]


def read(line: bytes, chat: ChatFormat) -> list[TurnRecord]:
    turns = parse_chat(1, line, chat, "talk")
    assert isinstance(turns, list), turns
    return turns


def said(turns: list[TurnRecord]) -> list[tuple[int, str, str]]:
    return [(turn.turn_index, turn.role, turn.text) for turn in turns]


def line_of(spoken: list[dict[str, Any]], chat: ChatFormat) -> bytes:
    return json.dumps({"session_id": "talk", chat.messages: spoken}).encode()


@pytest.mark.parametrize(("chat", "other"), [(OPENAI, SHAREGPT), (SHAREGPT, OPENAI)])
@given(data=st.data())
def test_there_and_back_says_the_same(chat: ChatFormat, other: ChatFormat, data: st.DataObject) -> None:
    spoken = data.draw(messages(chat))
    turns = read(line_of(spoken, chat), chat)
    exported = encode_chat(turns, other)
    written = json.loads(exported)[other.messages]
    assert len(written) == len(spoken)
    assert all(isinstance(message[other.role], str) for message in written)
    assert not [key for message in written for key in message if key in (chat.role, chat.text)]
    there = read(exported, other)
    assert said(there) == said(turns)
    assert said(read(encode_chat(there, chat), chat)) == said(turns)
    # And in its own format nothing is lost.
    assert json.loads(encode_chat(turns, chat))[chat.messages] == spoken


def test_what_becomes_of_messages_that_are_no_turns() -> None:
    spoken = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]},
        {"role": "assistant", "content": None, "tool_calls": [1]},
        {"role": "tool", "content": "42", "tool_call_id": "c"},
        {"role": "assistant", "content": "It is 42.", "name": "ana"},
    ]
    exported = json.loads(encode_chat(read(line_of(spoken, OPENAI), OPENAI), SHAREGPT))
    assert exported["conversations"] == [
        {"from": "system", "value": "Be kind."},
        {"from": "human", "value": "Hello"},
        {"from": "gpt", "value": None, "tool_calls": [1]},
        {"from": "tool", "value": "42", "tool_call_id": "c"},
        {"from": "gpt", "value": "It is 42.", "name": "ana"},
    ]


@pytest.mark.parametrize("chat", [OPENAI, SHAREGPT])
def test_keys_of_a_turn_that_look_like_the_formats_own_never_replace_what_it_says(chat: ChatFormat) -> None:
    kept = {"role": "narrator", "from": "narrator", "content": "before", "value": [{"type": "text"}]}
    extra = {"message": kept, "messages_before": [3, {"no": "speaker"}], "messages_after": "none"}
    turn = TurnRecord("talk", 1, "user", "hello", [], None, None, None, extra, 1)
    assert said(read(encode_chat([turn], chat), chat)) == [(1, "user", "hello")]


@pytest.mark.parametrize("chat", [OPENAI, SHAREGPT])
def test_parts_that_no_longer_spell_the_text_are_dropped(chat: ChatFormat) -> None:
    parts = [{"type": "text", "text": "ana@example.org"}]
    turns = read(line_of([{"role": "user", "content": parts}], OPENAI), OPENAI)
    assert b"ana@" not in encode_chat([turns[0]._replace(text="[EMAIL]")], chat)


@pytest.mark.parametrize(
    ("persona_id", "reason"),
    [("p" * 501, "longer than 500 characters"), (" ", "a string of 1 characters"), (7, "the number 7")],
)
def test_a_persona_id_is_checked_as_in_a_turn(persona_id: object, reason: str) -> None:
    line = {"messages": [{"role": "user", "content": "hi"}], "persona_id": persona_id}
    error = parse_chat(1, json.dumps(line).encode(), OPENAI, "s-1")
    turn = {"session_id": "s-1", "turn_index": 1, "role": "user", "text": "hi", "persona_id": persona_id}
    assert isinstance(error, LineError)
    assert (error.code, error.field) == ("E102", "persona_id")
    assert reason in error.message
    assert error == parse_turn(1, json.dumps(turn).encode())
