"""Has a model write variants of what a user asked: the prompts, and whether an answer can be used."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from datasets_app.domain.generation.session_schema import MAX_TEXT_CHARACTERS
from datasets_app.domain.model_calls.budget import estimate_tokens
from datasets_app.domain.model_calls.calls import Message, ModelCalls
from datasets_app.domain.model_calls.json_answers import UNSTORABLE, UnusableAnswer, find_objects
from datasets_app.domain.model_calls.openai_compatible import AnswerFormat
from datasets_app.domain.model_calls.retry_rules import CallFailed
from datasets_app.domain.pii.placeholders import PLACEHOLDER_PATTERN

SYSTEM_PROMPT = """\
You write variants of a message to an assistant, for a team that tests how its assistant answers them. You \
get the conversation as JSON, with the message last, and are told what to change. All else stays: what is \
requested, names of products, numbers, and about the length.

Rules:
- Placeholders in square brackets, such as [NAME], stand for what was taken out. Use those of the message as \
they are, and no others.
- Invent nothing that identifies anybody: no names of people, addresses, phone numbers or account numbers.
- Answer with JSON and nothing else: {"text": "…"}
"""
TASKS = {
    "rephrase": "Say the same in other words and with another structure of sentences.",
    "typos": "Add the typing mistakes of somebody in a hurry; it must still be understood.",
    "tone": "Say the same in another tone, such as impatient, formal or chatty.",
    "language": "Say the same in another widely spoken language, as a native speaker would.",
    "distraction": "Add a sentence or two that have nothing to do with what is asked.",
    "changed_fact": "Change one fact, so that another answer is right, and keep all else word for word.",
}
# The conversation is sent from its end; the message itself is always whole.
MAX_CONTEXT_CHARACTERS = 12_000
_OVERHEAD_TOKENS = 200
JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
FORMAT = AnswerFormat("variant", JSON_SCHEMA)
REPAIR_PROMPT = "That can't be used: {problems}. Answer with the JSON object alone."


class PlannedVariant(NamedTuple):
    """``turns`` are (role, text) up to the message that the variant takes the place of. ``known`` are
    the texts that it may not repeat."""

    family: str
    kind: str
    turns: Sequence[tuple[str, str]]
    known: frozenset[str]

    @property
    def message(self) -> str:
        return self.turns[-1][1]


class WrittenVariant(NamedTuple):
    """``failure`` is None, or why there is no text, without anything that a model said."""

    planned: PlannedVariant
    text: str
    failure: str | None = None


async def write_variant(calls: ModelCalls, planned: PlannedVariant) -> WrittenVariant:
    messages: list[Message] = [
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": f"{_format_turns(planned.turns)}\n\n{TASKS[planned.kind]}"},
    ]
    tokens = _OVERHEAD_TOKENS + 2 * estimate_tokens(planned.message)
    try:
        text = await calls.ask_for(
            messages, tokens, lambda content: parse_variant(content, planned), REPAIR_PROMPT.format
        )
    except (CallFailed, UnusableAnswer) as failure:
        return WrittenVariant(planned, "", str(failure))
    return WrittenVariant(planned, text)


def parse_variant(content: str, planned: PlannedVariant) -> str:
    """Raises UnusableAnswer."""
    texts = (value["text"] for value in find_objects(content) if isinstance(value.get("text"), str))
    text = next(texts, "").strip()
    if not text:
        raise UnusableAnswer('the answer holds no JSON object with a "text"')
    if len(text) > MAX_TEXT_CHARACTERS or UNSTORABLE.search(text):
        raise UnusableAnswer("the text is too long, or holds characters that are none")
    if text in planned.known:
        raise UnusableAnswer("the text is the message itself or another variant")
    if set(PLACEHOLDER_PATTERN.findall(text)) - set(PLACEHOLDER_PATTERN.findall(planned.message)):
        raise UnusableAnswer("the text has a placeholder that the message doesn't have")
    return text


def _format_turns(turns: Sequence[tuple[str, str]]) -> str:
    """As JSON, so that nothing in a text can pass for another turn."""
    shown: list[dict[str, str]] = []
    room = MAX_CONTEXT_CHARACTERS
    for place, (role, text) in enumerate(reversed(turns)):
        room -= len(text)
        if place and room < 0:
            break
        shown.insert(0, {"role": role, "text": text})
    return "Conversation, with the message last: " + json.dumps(shown, ensure_ascii=False)
