"""State shared by the calls of a run: the budget, parameters the endpoint refuses, and waits."""

import asyncio
from collections.abc import Callable, Iterable, Set

from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.budget import BudgetExhausted, TokenBudget, TokensUsed, estimate_tokens
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.openai_compatible import (
    LENGTH_PARAMETERS,
    RESPONSE_FORMATS,
    Answer,
    OpenAIClient,
)
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

# Tokens of an answer for the JSON around it, and for each turn.
_OVERHEAD_TOKENS, _TOKENS_PER_TURN, _TOKENS_PER_WORD = 200, 150, 2.5
# A truncated answer doubles the limit, for models that reason before they write.
_MAX_ANSWER_FACTOR = 16
# This many consecutive failures are no accident.
_MAX_CONSECUTIVE_FAILURES = 20
_MAX_CONNECTION_TRIES = 3
_SCHEMA_TOKENS = estimate_tokens(str(JSON_SCHEMA))


class RunStopped(Exception):
    """The run ends; this session stays unwritten and can be requested later."""


class ModelRun:
    """For one event loop. ``stopped`` is empty, or the reason why the run ends early."""

    def __init__(
        self,
        client: OpenAIClient,
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
        """Stop a run in which everything fails."""
        self._consecutive_failures = self._consecutive_failures + 1 if written.failure else 0
        if self._consecutive_failures >= max(_MAX_CONSECUTIVE_FAILURES, 2 * concurrency) and not self.stopped:
            self.stopped = (
                f"The last {self._consecutive_failures} sessions have all failed, the last one because: "
                f"{written.failure}. Stopped; no more sessions were requested."
            )

    async def write_session(self, planned: PlannedSession) -> WrittenSession:
        """Request a session, and retry once if the answer is unusable. Raises :class:`RunStopped`."""
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
        """Return an answer and the cost of all attempts. Raises :class:`CallFailed` after the last one."""
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
        """An address that has never answered is more likely wrong than down."""
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
        """Drop the parameter that the endpoint refused. False if there is none left to drop.

        Calls in flight meet the same refusal: one that used a dropped parameter just retries.
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
        # Once this format has worked, a refusal is about something else.
        if self._format + 1 < len(RESPONSE_FORMATS) and not self._has_answered:
            self._format += 1
            return True
        return False

    async def _wait_before_retry(self, failure: CallFailed, retry: int) -> None:
        wait = self._retry_policy.compute_wait(retry, self._draw_jitter())
        if failure.retry_after is not None:
            asked = self._retry_policy.limit_retry_after(failure.retry_after)
            # A request to wait applies to all calls: the others would be turned away too.
            self._pause_until = max(self._pause_until, asyncio.get_running_loop().time() + asked)
            wait = asked + wait * self._draw_jitter() / 4
        await asyncio.sleep(wait)

    async def _wait_for_pause(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._pause_until - loop.time()) > 0:
            await asyncio.sleep(left)


def estimate_session_tokens(system: str, planned: PlannedSession) -> tuple[int, int]:
    """Estimate the prompt and answer tokens of a session; most stay below their limit."""
    said = prompts.build_messages(system, planned)
    prompt = estimate_tokens(*(message["content"] for message in said)) + _SCHEMA_TOKENS
    return prompt, _estimate_answer_tokens(planned) // 2


def _estimate_answer_tokens(planned: PlannedSession) -> int:
    each = _TOKENS_PER_TURN
    if planned.reply_words:
        each = max(each, int(planned.reply_words * _TOKENS_PER_WORD))
    return _OVERHEAD_TOKENS + each * planned.turns


def _read_usage(answer: Answer, prompt_tokens: int) -> tuple[tuple[int, int], bool]:
    """The reported token usage, or an estimate, and whether it is one."""
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return (prompt_tokens, estimate_tokens(answer.content)), True
    return (answer.prompt_tokens, answer.completion_tokens), False


def _summarize_problems(unusable: UnusableAnswer) -> str:
    first, *others = unusable.problems
    return f"{first} (and {len(others)} more)" if others else first
