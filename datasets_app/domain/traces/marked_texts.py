"""Texts in chat templates → messages: whole conversations, prompts with their answers."""

from typing import Any

from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.conversations.roles import ASSISTANT, SYSTEM
from datasets_app.domain.traces.markup import find_markup, split_markup, strip_ends
from datasets_app.domain.traces.messages import read_messages, read_parts
from datasets_app.domain.traces.records import Message
from datasets_app.domain.traces.values import as_dict


def read_text(text: str, is_named: bool = True) -> list[Message]:
    """The messages of a text in a chat template. In a field that may be anything, tokens have to say so."""
    marked = split_markup(text, preamble=is_named)
    if not marked or not marked.is_conversation or (marked.markup.words and not is_named):
        return []
    return read_parts(marked)


def join_texts(question: Any, answer: Any) -> list[Message]:
    """A prompt in a chat template and its answer. [] if it is in none, or the answer repeats the prompt."""
    if type(question) is not str or type(answer) is not str:
        return []
    prompt, reply = split_markup(question, preamble=True), split_markup(answer)
    if not prompt or not prompt.sides or (reply and reply.sides > {ASSISTANT}):
        return []
    last, words = prompt.parts[-1], prompt.markup.words
    if not words and (reply or last.role == ASSISTANT):
        return read_text(question + answer)
    if words and (
        last.role == ASSISTANT and last.text or prompt.parts[0].role == SYSTEM and len(prompt.sides) < 2
    ):
        return []
    return read_parts(prompt) + read_messages(strip_ends(answer), ASSISTANT)


def explain_texts(value: Any) -> str:
    """Why a record with texts in a chat template isn't a conversation; empty if none is in one."""
    for key, text in [("", value)] if type(value) is str else as_dict(value).items():
        if type(text) is str and (name := find_markup(text)):
            return (
                f"{repr(key) if key else 'the text'} has tokens of a chat template ({name}), but isn't a "
                "conversation in it; it has to begin with a turn, and name both user and assistant"
            )
    return ""


def find_problem(value: Any, line: int) -> LineError | None:
    reason = explain_texts(value)
    return LineError(line, "E110", reason) if reason else None
