"""What the calls of a run share: the budget, what the endpoint is known to refuse, when all must wait."""

import asyncio
from collections.abc import Callable, Iterable, Set
from typing import Protocol

from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.budget import BudgetExhausted, TokenBudget, TokensUsed, estimate_tokens
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.openai_compatible import LENGTH_PARAMETERS, RESPONSE_FORMATS, Answer
from datasets_app.domain.generation.plan import PlannedSession
from datasets_app.domain.generation.retry_rules import (
    POSSIBLY_BILLED_FAILURES,
    TRANSIENT_FAILURES,
    CallFailed,
    FailureKind,
    RetryPolicy,
)
from datasets_app.domain.generation.session_schema import JSON_SCHEMA, NameFinder, UnusableAnswer, parse_texts
from datasets_app.domain.generation.writer import WrittenSession

# Of an answer: for the JSON around it, and for each turn.
_OVERHEAD_TOKENS, _TOKENS_PER_TURN, _TOKENS_PER_WORD = 200, 150, 2.5
# An answer that was cut off doubles the room, for a model that thinks before it writes.
_MAX_ANSWER_FACTOR = 16
# So many sessions that fail one after the other are no accident.
_MAX_CONSECUTIVE_FAILURES = 20
_MAX_CONNECTION_TRIES = 3
_SCHEMA_TOKENS = estimate_tokens(str(JSON_SCHEMA))


class RunStopped(Exception):
    """The run ends; this session stays unwritten and can be requested later."""


class ModelClient(Protocol):
    @property
    def length_parameter(self) -> str: ...

    async def complete(
        self,
        messages: list[prompts.Message],
        *,
        answer_tokens: int,
        format: dict[str, object] | None,
        length_parameter: str,
        timeout: float,
    ) -> Answer: ...

    async def close(self) -> None: ...


class ModelRun:
    """For one event loop. ``stopped`` is empty, or the sentence that tells why the run ends early."""

    def __init__(
        self,
        client: ModelClient,
        system: str,
        known_replies: Set[int],
        used: TokensUsed,
        max_tokens: int | None,
        retry_policy: RetryPolicy,
        draw_jitter: Callable[[], float],
        find_names: NameFinder,
    ) -> None:
        self.stopped = ""
        self._find_names = find_names
        self._client, self._system, self._known_replies = client, system, known_replies
        self._budget, self._retry_policy, self._draw_jitter = (
            TokenBudget(max_tokens, used),
            retry_policy,
            draw_jitter,
        )
        self._format, self._length_parameter = 0, client.length_parameter
        self._untried_length_parameters = set(LENGTH_PARAMETERS) - {client.length_parameter}
        self._answer_factor = 1
        self._has_answered = False
        self._pause_until = 0.0
        self._consecutive_failures = 0

    async def close(self, tasks: Iterable["asyncio.Task[WrittenSession]"]) -> None:
        dropped = list(tasks)
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        await self._client.close()

    def record_outcome(self, written: WrittenSession, concurrency: int) -> None:
        """Ends a run in which everything fails."""
        self._consecutive_failures = self._consecutive_failures + 1 if written.failure else 0
        if self._consecutive_failures >= max(_MAX_CONSECUTIVE_FAILURES, 2 * concurrency) and not self.stopped:
            self.stopped = (
                f"The last {self._consecutive_failures} sessions have all failed, the last one because: "
                f"{written.failure}. Stopped; no more sessions were requested."
            )

    async def write_session(self, planned: PlannedSession) -> WrittenSession:
        """Asks once, and once more if the answer is of no use. Raises :class:`RunStopped`."""
        messages = prompts.build_messages(self._system, planned)
        tokens, problems = 0, ""
        for _ in range(2):
            try:
                answer, cost = await self._ask_with_retries(messages, planned)
            except CallFailed as failure:
                return WrittenSession(planned, [], failure.message, tokens)
            tokens += cost
            try:
                return WrittenSession(
                    planned, build_turns(planned, self._parse_answer(answer, planned)), None, tokens
                )
            except UnusableAnswer as unusable:
                problems = _summarize_problems(unusable)
                messages += prompts.build_repair_messages(answer.content, unusable.repair_hint, planned)
        return WrittenSession(planned, [], f"not usable after a second try: {problems}", tokens)

    def _parse_answer(self, answer: Answer, planned: PlannedSession) -> list[str]:
        if not answer.content and not answer.is_truncated:
            raise UnusableAnswer(prompts.EMPTY_ANSWER)
        try:
            return parse_texts(answer.content, planned, self._known_replies, self._find_names)
        except UnusableAnswer:
            if answer.is_truncated:
                raise UnusableAnswer(prompts.TRUNCATED_ANSWER) from None
            raise

    # --- calls ---------------------------------------------------------------------------------

    async def _ask_with_retries(
        self, messages: list[prompts.Message], planned: PlannedSession
    ) -> tuple[Answer, int]:
        """An answer, and what all tries at it have cost. Raises :class:`CallFailed` for good."""
        cost, retries = 0, 0
        while True:
            await self._wait_for_pause()
            asked_with = self._format, self._length_parameter
            try:
                answer, tokens = await self._call_within_budget(messages, planned)
                return answer, cost + tokens
            except CallFailed as failure:
                self._stop_if_permanent(failure)
                if failure.kind is FailureKind.REFUSED_REQUEST and self._relax_request(failure, asked_with):
                    continue
                retries += 1
                self._stop_if_unreachable(failure, retries)
                if failure.kind not in TRANSIENT_FAILURES or retries > self._retry_policy.retries:
                    raise
                await self._wait_before_retry(failure, retries)

    async def _call_within_budget(
        self, messages: list[prompts.Message], planned: PlannedSession
    ) -> tuple[Answer, int]:
        """Make one call within the budget: reserve its cost before, charge it after, even if it fails."""
        room = self._answer_factor
        prompt_tokens = estimate_tokens(*(message["content"] for message in messages)) + _SCHEMA_TOKENS
        answer_tokens = room * _estimate_answer_tokens(planned)
        reserved = prompt_tokens + answer_tokens
        await self._reserve(reserved)
        spent, guessed = (prompt_tokens, answer_tokens), True
        try:
            answer = await self._client.complete(
                messages,
                answer_tokens=answer_tokens,
                format=RESPONSE_FORMATS[self._format],
                length_parameter=self._length_parameter,
                timeout=self._retry_policy.timeout,
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
        return answer, sum(spent)

    async def _reserve(self, tokens: int) -> None:
        if self._has_stopped():
            raise RunStopped
        try:
            await self._budget.reserve(tokens)
        except BudgetExhausted:
            used, limit = self._budget.used.total, self._budget.limit
            self._stop(
                f"The token budget is spent: {used:,} of {limit:,} are used, and the next call may take "
                f"{tokens:,}."
            )
            raise RunStopped from None
        if self._has_stopped():  # in the meantime
            await self._budget.charge(tokens, 0, 0)
            raise RunStopped

    def _has_stopped(self) -> bool:
        return bool(self.stopped)

    def _stop_if_permanent(self, failure: CallFailed) -> None:
        refuses_all = failure.kind is FailureKind.NOT_ALLOWED and not self._has_answered
        if refuses_all or failure.kind is FailureKind.PERMANENT:
            self._stop(f"{failure.message[0].upper()}{failure.message[1:]}; no more sessions were requested.")
        if self.stopped:
            raise RunStopped from None

    def _stop_if_unreachable(self, failure: CallFailed, tries: int) -> None:
        """An address at which nobody has answered yet is more likely wrong than out of order."""
        if (
            failure.kind is FailureKind.UNREACHABLE
            and not self._has_answered
            and tries >= _MAX_CONNECTION_TRIES
        ):
            self._stop("The endpoint can't be reached: is it running, and is its address right?")
            raise RunStopped from None

    def _stop(self, sentence: str) -> None:
        self.stopped = self.stopped or sentence

    def _relax_request(self, failure: CallFailed, attempted: tuple[int, str]) -> bool:
        """Do without what the endpoint has refused. False if there is nothing left to do without.

        Others in flight have met the same refusal: who asked with what is given up already just asks again.
        """
        if failure.parameter == "temperature":
            self._stop("The model does not take this temperature; choose another, or none.")
            raise RunStopped
        if failure.parameter in LENGTH_PARAMETERS:
            if self._length_parameter == attempted[1] and self._untried_length_parameters:
                self._length_parameter = self._untried_length_parameters.pop()
                return True
            return self._length_parameter != attempted[1]
        if self._format != attempted[0]:
            return True
        # Once an answer has come in this format, a refusal is about something else.
        if self._format + 1 < len(RESPONSE_FORMATS) and not self._has_answered:
            self._format += 1
            return True
        return False

    async def _wait_before_retry(self, failure: CallFailed, retry: int) -> None:
        wait = self._retry_policy.compute_wait(retry, self._draw_jitter())
        if failure.retry_after is not None:
            asked = self._retry_policy.limit_retry_after(failure.retry_after)
            # Who is asked to wait asks for all: the others would only be turned away as well.
            self._pause_until = max(self._pause_until, asyncio.get_running_loop().time() + asked)
            wait = asked + wait * self._draw_jitter() / 4
        await asyncio.sleep(wait)

    async def _wait_for_pause(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._pause_until - loop.time()) > 0:
            await asyncio.sleep(left)


def estimate_session_tokens(system: str, planned: PlannedSession) -> tuple[int, int]:
    """About what a session will take: of the prompt, and of the answer. Most are short of their bound."""
    said = prompts.build_messages(system, planned)
    prompt = estimate_tokens(*(message["content"] for message in said)) + _SCHEMA_TOKENS
    return prompt, _estimate_answer_tokens(planned) // 2


def _estimate_answer_tokens(planned: PlannedSession) -> int:
    each = _TOKENS_PER_TURN
    if planned.reply_words:
        each = max(each, int(planned.reply_words * _TOKENS_PER_WORD))
    return _OVERHEAD_TOKENS + each * planned.turns


def _read_usage(answer: Answer, prompt_tokens: int) -> tuple[tuple[int, int], bool]:
    """What the answer says it has cost, or an estimate; and whether it is one."""
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return (prompt_tokens, estimate_tokens(answer.content)), True
    return (answer.prompt_tokens, answer.completion_tokens), False


def _summarize_problems(unusable: UnusableAnswer) -> str:
    first, *others = unusable.problems
    return f"{first} (and {len(others)} more)" if others else first
