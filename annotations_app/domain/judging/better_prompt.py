"""Asks a model to write better instructions for a judge, from those it has and from where people differ."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from annotations_app.domain.judging.judge_document import CONTROL_CHARACTERS, MAX_INSTRUCTIONS_CHARACTERS
from annotations_app.domain.judging.judge_prompt import (
    JudgedReply,
    format_reply,
)
from datasets_app.domain.labels.criterion import Criterion
from datasets_app.domain.model_calls.json_answers import UnusableAnswer, find_objects
from datasets_app.domain.model_calls.openai_compatible import AnswerFormat

INSTRUCTIONS = "instructions"
FORMAT = AnswerFormat(
    INSTRUCTIONS,
    {
        "type": "object",
        "properties": {INSTRUCTIONS: {"type": "string"}},
        "required": [INSTRUCTIONS],
        "additionalProperties": False,
    },
)
REPAIR_PROMPT = "That can't be used: {problems}. Answer with the JSON object alone."
_TASK = """\
You improve the instructions of a judge: a model that answers a question about replies of an assistant. You \
see its instructions, the question, and replies of which most people say something else than the judge. Find \
what the judge gets wrong in general, and write instructions that put it right. Quote no reply: \
rules that only fit these replies are no help. Keep what works, and keep it short.
Answer with JSON and nothing else: {"instructions": "…"}."""


class Disagreement(NamedTuple):
    reply: JudgedReply
    people: str
    judge: str
    reason: str


def build_request(
    instructions: str, criterion: Criterion, disagreements: Sequence[Disagreement]
) -> list[dict[str, str]]:
    shown = [f"{format_reply(one.reply)}\n{_describe(one)}" for one in disagreements]
    parts = [f"Instructions:\n{instructions}", f"Question: {criterion.question}", *shown]
    return [{"role": "system", "content": _TASK}, {"role": "user", "content": "\n\n".join(parts)}]


def _describe(one: Disagreement) -> str:
    said = {"people say": one.people, "the judge says": one.judge, "because": one.reason}
    return json.dumps(said, ensure_ascii=False)


def read_instructions(content: str) -> str:
    """Raises :class:`UnusableAnswer`."""
    for value in find_objects(content):
        written = value.get(INSTRUCTIONS)
        text = CONTROL_CHARACTERS.sub("", written).strip() if isinstance(written, str) else ""
        if 0 < len(text) <= MAX_INSTRUCTIONS_CHARACTERS:
            return text
    raise UnusableAnswer("the model wrote no instructions that can be read")
