"""The calls that have a model judge one reply."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from annotations_app.domain.judging import better_prompt
from annotations_app.domain.judging.judge_prompt import (
    REPAIR_PROMPT,
    build_json_schema,
    format_reply,
    parse_judgment,
    swap_codes,
)
from annotations_app.judges.replies import ReplyToJudge
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.model_calls.budget import TokenBudget
from datasets_app.domain.model_calls.calls import Message, ModelCalls
from datasets_app.domain.model_calls.endpoint import Model
from datasets_app.domain.model_calls.json_answers import UnusableAnswer
from datasets_app.domain.model_calls.openai_compatible import AnswerFormat
from datasets_app.domain.model_calls.retry_rules import CallFailed
from datasets_app.domain.model_calls.run import RunStopped, run_calls

# A rationale of two sentences, and the JSON around it.
_OVERHEAD_TOKENS, _TOKENS_PER_ANSWER = 250, 20
_INSTRUCTIONS_TOKENS = 1500


class JudgedTurn(NamedTuple):
    """``failure`` is None, or why there is no judgment, without anything that a model said."""

    turn: int
    repeat: int
    codes: dict[str, int | float]
    rationale: str = ""
    failure: str | None = None
    swapped: bool = False


class WrittenInstructions(NamedTuple):
    text: str = ""
    failure: str | None = None


def write_instructions(
    model: Model, messages: list[Message], budget: TokenBudget, on_tick: Callable[[], None]
) -> WrittenInstructions:
    """One answer to :func:`build_request`."""
    written = run_calls(
        [messages],
        _write,
        model=model,
        format=better_prompt.FORMAT,
        budget=budget,
        noun="proposals",
        on_tick=on_tick,
    )
    try:
        return next(written)
    except RunStopped as stopped:
        return WrittenInstructions(failure=str(stopped).rstrip("."))


async def _write(calls: ModelCalls, messages: list[Message]) -> WrittenInstructions:
    repair = better_prompt.REPAIR_PROMPT.format
    try:
        text = await calls.ask_for(messages, _INSTRUCTIONS_TOKENS, better_prompt.read_instructions, repair)
    except (CallFailed, UnusableAnswer) as failure:
        return WrittenInstructions(failure=str(failure))
    return WrittenInstructions(text)


class ModelJudge(NamedTuple):
    """A model under one prompt."""

    model: Model
    system: str
    schema: Schema

    def judge_all(
        self, replies: Iterable[ReplyToJudge], budget: TokenBudget, on_tick: Callable[[], None]
    ) -> Iterator[JudgedTurn]:
        """See :func:`run_calls`."""
        return run_calls(
            replies,
            self._judge,
            model=self.model,
            format=AnswerFormat("judgment", build_json_schema(self.schema)),
            budget=budget,
            noun="judgments",
            on_tick=on_tick,
        )

    async def _judge(self, calls: ModelCalls, item: ReplyToJudge) -> JudgedTurn:
        messages: list[Message] = [
            {"role": "system", "content": self.system},
            {"role": "user", "content": format_reply(item.reply)},
        ]
        tokens = _OVERHEAD_TOKENS + _TOKENS_PER_ANSWER * len(self.schema.questions)
        try:
            codes, rationale = await calls.ask_for(
                messages, tokens, lambda content: parse_judgment(content, self.schema), REPAIR_PROMPT.format
            )
        except (CallFailed, UnusableAnswer) as failure:
            return JudgedTurn(item.turn, item.repeat, {}, failure=str(failure), swapped=item.swapped)
        codes = swap_codes(self.schema, codes) if item.swapped else codes
        return JudgedTurn(item.turn, item.repeat, codes, rationale, swapped=item.swapped)
