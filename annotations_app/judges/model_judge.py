"""The calls that have a model judge one reply."""

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NamedTuple

from annotations_app.domain.judging.better_prompt import (
    INSTRUCTIONS,
    INSTRUCTIONS_SCHEMA,
    read_instructions,
)
from annotations_app.domain.judging.judge_prompt import (
    REPAIR,
    UnreadableJudgment,
    build_json_schema,
    format_reply,
    parse_judgment,
    swap_codes,
)
from annotations_app.judges.replies import ReplyToJudge
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.model_calls.budget import TokenBudget, estimate_tokens
from datasets_app.domain.model_calls.calls import Message, ModelCalls
from datasets_app.domain.model_calls.endpoint import Endpoint
from datasets_app.domain.model_calls.openai_compatible import OpenAIClient, list_formats
from datasets_app.domain.model_calls.retry_rules import CallFailed, RetryPolicy
from datasets_app.domain.model_calls.run import RunStopped, run_calls

# A rationale of two sentences, and the JSON around it.
_OVERHEAD_TOKENS, _TOKENS_PER_ANSWER = 250, 20
_INSTRUCTIONS_TOKENS = 1500
REFUSED, EMPTY = "the model declined to answer", "the model gave no answer"


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


async def _write(calls: ModelCalls, messages: list[Message]) -> WrittenInstructions:
    try:
        answer, _ = await calls.ask(messages, _INSTRUCTIONS_TOKENS)
        return WrittenInstructions(read_instructions(answer.content))
    except CallFailed as failure:
        return WrittenInstructions(failure=failure.message)
    except UnreadableJudgment as unreadable:
        return WrittenInstructions(failure=str(unreadable))


class ModelJudge:
    """One model at one endpoint, under one prompt. ``key`` goes only to ``endpoint``."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        system: str,
        schema: Schema,
        key: str,
        temperature: float | None,
        concurrency: int,
        retry_policy: RetryPolicy,
    ) -> None:
        self.endpoint, self.model = endpoint, model
        self._system, self._schema, self._key = system, schema, key
        self._temperature, self._concurrency, self._retry_policy = temperature, concurrency, retry_policy
        json_schema = build_json_schema(schema)
        self._formats = list_formats("judgment", json_schema)
        self._format_tokens = estimate_tokens(str(json_schema))
        self._answer_tokens = _OVERHEAD_TOKENS + _TOKENS_PER_ANSWER * len(schema.questions)

    def __repr__(self) -> str:
        return f"<ModelJudge {self.model} at {self.endpoint.host}>"

    def judge_all(
        self, replies: Iterable[ReplyToJudge], budget: TokenBudget, on_tick: Callable[[], None]
    ) -> Iterator[JudgedTurn]:
        """See :func:`run_calls`."""
        start = self._start_calls(budget, self._formats, self._format_tokens, "judgments")
        return run_calls(
            replies, start=start, work=self._judge, concurrency=self._concurrency, on_tick=on_tick
        )

    def write_instructions(self, messages: list[Message], budget: TokenBudget) -> WrittenInstructions:
        """One answer to :func:`build_request`."""
        formats = list_formats(INSTRUCTIONS, INSTRUCTIONS_SCHEMA)
        tokens = estimate_tokens(str(INSTRUCTIONS_SCHEMA))
        start = self._start_calls(budget, formats, tokens, "proposals")
        calls = run_calls([messages], start=start, work=_write, concurrency=1, on_tick=lambda: None)
        try:
            return next(calls)
        except RunStopped as stopped:
            return WrittenInstructions(failure=str(stopped).rstrip("."))

    def _start_calls(
        self, budget: TokenBudget, formats: Any, format_tokens: int, noun: str
    ) -> Callable[[], Awaitable[ModelCalls]]:
        async def start() -> ModelCalls:
            client = OpenAIClient(
                self.endpoint,
                self.model,
                key=self._key,
                temperature=self._temperature,
                concurrency=self._concurrency,
            )
            return ModelCalls(
                client,
                formats=formats,
                format_tokens=format_tokens,
                budget=budget,
                retry_policy=self._retry_policy,
                draw_jitter=random.random,
                noun=noun,
            )

        return start

    async def _judge(self, calls: ModelCalls, item: ReplyToJudge) -> JudgedTurn:
        """Ask once, and once more if the answer can't be read."""
        messages: list[Message] = [
            {"role": "system", "content": self._system},
            {"role": "user", "content": format_reply(item.reply)},
        ]
        problem = ""
        for _ in range(2):
            try:
                answer, _ = await calls.ask(messages, self._answer_tokens)
            except CallFailed as failure:
                return self._fail(item, failure.message)
            if not answer.content:
                return self._fail(item, EMPTY if answer.is_truncated else REFUSED)
            try:
                judgment = parse_judgment(answer.content, self._schema)
            except UnreadableJudgment as unreadable:
                problem = "the answer was cut off" if answer.is_truncated else str(unreadable)
                messages += [
                    {"role": "assistant", "content": answer.content},
                    {"role": "user", "content": REPAIR},
                ]
                continue
            codes = swap_codes(self._schema, judgment.codes) if item.swapped else judgment.codes
            return JudgedTurn(item.turn, item.repeat, codes, judgment.rationale, swapped=item.swapped)
        return self._fail(item, problem)

    @staticmethod
    def _fail(item: ReplyToJudge, reason: str) -> JudgedTurn:
        return JudgedTurn(item.turn, item.repeat, {}, failure=reason, swapped=item.swapped)
