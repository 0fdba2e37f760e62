"""State shared by the calls of a run: the budget, parameters the endpoint refuses, and waits."""

import asyncio
import random
from collections.abc import Callable
from typing import TypeVar

from datasets_app.domain.model_calls.budget import BudgetExhausted, TokenBudget, estimate_tokens
from datasets_app.domain.model_calls.json_answers import UnusableAnswer
from datasets_app.domain.model_calls.openai_compatible import (
    LENGTH_PARAMETERS,
    Answer,
    AnswerFormat,
    OpenAIClient,
)
from datasets_app.domain.model_calls.retry_rules import (
    POSSIBLY_BILLED_FAILURES,
    TRANSIENT_FAILURES,
    CallFailed,
    FailureKind,
)

Message = dict[str, str]
T = TypeVar("T")

DECLINED, CUT_OFF = "the model declined to answer", "the answer was cut off before its end; keep it shorter"

# A truncated answer doubles the limit, for models that reason before they write.
_MAX_ANSWER_FACTOR = 16
# This many consecutive failures aren't an accident.
_MAX_CONSECUTIVE_FAILURES = 20
_MAX_CONNECTION_TRIES = 3


class CallDropped(Exception):
    """The run ends; what this call was for stays undone and can be requested later."""


class ModelCalls:
    """For one event loop. ``stopped`` is empty, or the reason why the run ends early. ``noun`` is what calls
    are made for, in sentences for people."""

    def __init__(
        self,
        client: OpenAIClient,
        *,
        format: AnswerFormat,
        budget: TokenBudget,
        noun: str,
    ) -> None:
        self.stopped = ""
        self._client, self._formats, self._format_tokens = client, format.ways, format.tokens
        self._budget, self._retry_policy, self._noun = budget, client.model.retry_policy, noun
        self._format, self._length_parameter = 0, client.length_parameter
        self._untried_length_parameters = set(LENGTH_PARAMETERS) - {client.length_parameter}
        self._answer_factor = 1
        self._has_answered = False
        self._pause_until = 0.0
        self._consecutive_failures = 0

    async def close(self) -> None:
        await self._client.close()

    def record_outcome(self, failure: str | None, concurrency: int) -> None:
        """Stop a run in which everything fails."""
        self._consecutive_failures = self._consecutive_failures + 1 if failure else 0
        if self._consecutive_failures >= max(_MAX_CONSECUTIVE_FAILURES, 2 * concurrency):
            self.stop(
                f"The last {self._consecutive_failures} {self._noun} have all failed, the last one because: "
                f"{failure}. Stopped; no more {self._noun} were requested."
            )

    def stop(self, sentence: str) -> None:
        self.stopped = self.stopped or sentence

    async def ask_for(
        self,
        messages: list[Message],
        answer_tokens: int,
        read: Callable[[str], T],
        repair: Callable[..., str],
    ) -> T:
        """What ``read`` makes of the answer, or of one more if it raises UnusableAnswer: then the model is
        told by ``repair(problems=…)``. Raises UnusableAnswer after the second, :class:`CallFailed` and
        :class:`CallDropped`."""
        answer = await self.ask(messages, answer_tokens)
        try:
            return _read_answer(answer, read)
        except UnusableAnswer as unusable:
            said = [{"role": "assistant", "content": answer.content}] if answer.content else []
            request = {"role": "user", "content": repair(problems=unusable.repair_hint)}
        return _read_answer(await self.ask([*messages, *said, request], answer_tokens), read)

    async def ask(self, messages: list[Message], answer_tokens: int) -> Answer:
        """Raises :class:`CallFailed` after the last attempt, and :class:`CallDropped`."""
        retries = 0
        while True:
            await self._wait_for_pause()
            asked_with = self._format, self._length_parameter
            try:
                return await self._call_within_budget(messages, answer_tokens)
            except CallFailed as failure:
                self._stop_if_permanent(failure)
                if failure.kind is FailureKind.REFUSED_REQUEST and self._relax_request(failure, asked_with):
                    continue
                retries += 1
                self._stop_if_unreachable(failure, retries)
                if failure.kind not in TRANSIENT_FAILURES or retries > self._retry_policy.retries:
                    raise
                await self._wait_before_retry(failure, retries)

    async def _call_within_budget(self, messages: list[Message], expected_tokens: int) -> Answer:
        """Make one call within the budget: reserve its cost before, charge it after, even if it fails."""
        room = self._answer_factor
        prompt_tokens = estimate_tokens(*(message["content"] for message in messages)) + self._format_tokens
        answer_tokens = room * expected_tokens
        reserved = prompt_tokens, answer_tokens
        await self._reserve(*reserved)
        spent, guessed = reserved, True
        try:
            answer = await self._client.complete(
                messages,
                answer_tokens=answer_tokens,
                format=self._formats[self._format],
                length_parameter=self._length_parameter,
            )
            spent, guessed = _read_usage(answer, prompt_tokens)
        except CallFailed as failure:
            if failure.kind not in POSSIBLY_BILLED_FAILURES:
                spent, guessed = (0, 0), False
            raise
        finally:
            await self._budget.charge(reserved, *spent, estimated=guessed)
        self._has_answered = True
        if answer.is_truncated and room == self._answer_factor:
            self._answer_factor = min(2 * room, _MAX_ANSWER_FACTOR)
        return answer

    async def _reserve(self, prompt: int, answer: int) -> None:
        if self._has_stopped():
            raise CallDropped
        try:
            await self._budget.reserve(prompt, answer)
        except BudgetExhausted as exhausted:
            self.stop(str(exhausted))
            raise CallDropped from None
        if self._has_stopped():  # in the meantime
            await self._budget.charge((prompt, answer), 0, 0)
            raise CallDropped

    def _has_stopped(self) -> bool:
        return bool(self.stopped)

    def _stop_if_permanent(self, failure: CallFailed) -> None:
        refuses_all = failure.kind is FailureKind.NOT_ALLOWED and not self._has_answered
        if refuses_all or failure.kind is FailureKind.PERMANENT:
            said = f"{failure.message[0].upper()}{failure.message[1:]}"
            self.stop(f"{said}; no more {self._noun} were requested.")
        if self.stopped:
            raise CallDropped from None

    def _stop_if_unreachable(self, failure: CallFailed, tries: int) -> None:
        """An address that has never answered is more likely wrong than down."""
        if (
            failure.kind is FailureKind.UNREACHABLE
            and not self._has_answered
            and tries >= _MAX_CONNECTION_TRIES
        ):
            self.stop("The endpoint can't be reached: is it running, and is its address right?")
            raise CallDropped from None

    def _relax_request(self, failure: CallFailed, attempted: tuple[int, str]) -> bool:
        """Drop the parameter that the endpoint refused. False if there is none left to drop.

        Calls in flight meet the same refusal: one that used a dropped parameter just retries.
        """
        if failure.parameter == "temperature":
            self.stop("The model does not take this temperature; choose another, or none.")
            raise CallDropped
        if failure.parameter in LENGTH_PARAMETERS:
            if self._length_parameter == attempted[1] and self._untried_length_parameters:
                self._length_parameter = self._untried_length_parameters.pop()
                return True
            return self._length_parameter != attempted[1]
        if self._format != attempted[0]:
            return True
        # Once this format has worked, a refusal is about something else.
        if self._format + 1 < len(self._formats) and not self._has_answered:
            self._format += 1
            return True
        return False

    async def _wait_before_retry(self, failure: CallFailed, retry: int) -> None:
        wait = self._retry_policy.compute_wait(retry, random.random())
        if failure.retry_after is not None:
            asked = self._retry_policy.limit_retry_after(failure.retry_after)
            # A request to wait applies to all calls: the others would be turned away too.
            self._pause_until = max(self._pause_until, asyncio.get_running_loop().time() + asked)
            wait = asked + wait * random.random() / 4
        await asyncio.sleep(wait)

    async def _wait_for_pause(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._pause_until - loop.time()) > 0:
            await asyncio.sleep(left)


def _read_answer(answer: Answer, read: Callable[[str], T]) -> T:
    if not answer.content and not answer.is_truncated:
        raise UnusableAnswer(DECLINED)
    try:
        return read(answer.content)
    except UnusableAnswer:
        if answer.is_truncated:
            raise UnusableAnswer(CUT_OFF) from None
        raise


def _read_usage(answer: Answer, prompt_tokens: int) -> tuple[tuple[int, int], bool]:
    """The reported token usage, or an estimate, and whether it is one."""
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return (prompt_tokens, estimate_tokens(answer.content)), True
    return (answer.prompt_tokens, answer.completion_tokens), False
