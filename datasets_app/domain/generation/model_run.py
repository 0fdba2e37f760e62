"""What the calls of a run share: the budget, what the endpoint is known to refuse, when all must wait."""

import asyncio
from collections.abc import Callable, Iterable, Set
from typing import Protocol

from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.budget import BudgetSpent, TokenBudget, TokensUsed, estimated_tokens
from datasets_app.domain.generation.model_turns import as_turns
from datasets_app.domain.generation.openai_compatible import FORMATS, LENGTH_PARAMETERS, Answer
from datasets_app.domain.generation.plan import PlannedSession
from datasets_app.domain.generation.retry_rules import MAY_BE_PAID, PASSING, CallFailed, Patience, Trouble
from datasets_app.domain.generation.session_schema import JSON_SCHEMA, NameFinder, Unusable, read_texts
from datasets_app.domain.generation.writer import Written

# Of an answer: for the JSON around it, and for each turn.
_TOKENS_AROUND, _TOKENS_A_TURN, _TOKENS_A_WORD = 200, 150, 2.5
# An answer that was cut off doubles the room, for a model that thinks before it writes.
_MOST_ROOM = 16
# So many sessions that fail one after the other are no accident.
_FAILED_IN_A_ROW = 20
_TRIES_TO_REACH = 3
_SCHEMA_TOKENS = estimated_tokens(str(JSON_SCHEMA))


class Stopped(Exception):
    """The run ends; this session is left unwritten, and can be asked for later."""


class Calls(Protocol):
    @property
    def length_parameter(self) -> str: ...

    async def ask(
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
        calls: Calls,
        system: str,
        said: Set[int],
        used: TokensUsed,
        most_tokens: int | None,
        patience: Patience,
        draw: Callable[[], float],
        find_names: NameFinder,
    ) -> None:
        self.stopped = ""
        self._find_names = find_names
        self._calls, self._system, self._said = calls, system, said
        self._budget, self._patience, self._draw = TokenBudget(most_tokens, used), patience, draw
        self._format, self._length_parameter = 0, calls.length_parameter
        self._length_parameters_left = set(LENGTH_PARAMETERS) - {calls.length_parameter}
        self._room = 1
        self._answered = False
        self._pause_until = 0.0
        self._failed_in_a_row = 0

    async def close(self, tasks: Iterable["asyncio.Task[Written]"]) -> None:
        dropped = list(tasks)
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        await self._calls.close()

    def came_out(self, written: Written, concurrency: int) -> None:
        """Ends a run in which everything fails."""
        self._failed_in_a_row = self._failed_in_a_row + 1 if written.failure else 0
        if self._failed_in_a_row >= max(_FAILED_IN_A_ROW, 2 * concurrency) and not self.stopped:
            self.stopped = (
                f"The last {self._failed_in_a_row} sessions have all failed, the last one because: "
                f"{written.failure}. Nothing more was asked for."
            )

    async def session(self, planned: PlannedSession) -> Written:
        """Asks once, and once more if the answer is of no use. Raises :class:`Stopped`."""
        messages = prompts.messages(self._system, planned)
        tokens, problems = 0, ""
        for _ in range(2):
            try:
                answer, cost = await self._ask(messages, planned)
            except CallFailed as failure:
                return Written(planned, [], failure.message, tokens)
            tokens += cost
            try:
                return Written(planned, as_turns(planned, self._read(answer, planned)), None, tokens)
            except Unusable as unusable:
                problems = _in_few_words(unusable)
                messages += prompts.repair_messages(answer.content, unusable.to_mend, planned)
        return Written(planned, [], f"not usable after a second try: {problems}", tokens)

    def _read(self, answer: Answer, planned: PlannedSession) -> list[str]:
        if not answer.content and not answer.cut_off:
            raise Unusable(prompts.EMPTY)
        try:
            return read_texts(answer.content, planned, self._said, self._find_names)
        except Unusable:
            if answer.cut_off:
                raise Unusable(prompts.CUT_OFF) from None
            raise

    # --- calls ---------------------------------------------------------------------------------

    async def _ask(self, messages: list[prompts.Message], planned: PlannedSession) -> tuple[Answer, int]:
        """An answer, and what all tries at it have cost. Raises :class:`CallFailed` for good."""
        cost, retries = 0, 0
        while True:
            await self._wait_if_asked_to()
            asked_with = self._format, self._length_parameter
            try:
                answer, tokens = await self._call(messages, planned)
                return answer, cost + tokens
            except CallFailed as failure:
                self._stop_if_hopeless(failure)
                if failure.trouble is Trouble.REFUSED_REQUEST and self._asks_for_less(failure, asked_with):
                    continue
                retries += 1
                self._stop_if_nobody_is_there(failure, retries)
                if failure.trouble not in PASSING or retries > self._patience.retries:
                    raise
                await self._wait(failure, retries)

    async def _call(self, messages: list[prompts.Message], planned: PlannedSession) -> tuple[Answer, int]:
        """One call within the budget: set aside before, settled after, whatever becomes of it."""
        room = self._room
        prompt_tokens = estimated_tokens(*(message["content"] for message in messages)) + _SCHEMA_TOKENS
        answer_tokens = room * _answer_tokens(planned)
        reserved = prompt_tokens + answer_tokens
        await self._reserve(reserved)
        spent, guessed = (prompt_tokens, answer_tokens), True
        try:
            answer = await self._calls.ask(
                messages,
                answer_tokens=answer_tokens,
                format=FORMATS[self._format],
                length_parameter=self._length_parameter,
                timeout=self._patience.timeout,
            )
            spent, guessed = _told(answer, prompt_tokens)
        except CallFailed as failure:
            if failure.trouble not in MAY_BE_PAID:
                spent, guessed = (0, 0), False
            raise
        finally:
            await self._budget.settle(reserved, *spent, estimated=guessed)
        self._answered = True
        if answer.cut_off and room == self._room:
            self._room = min(2 * room, _MOST_ROOM)
        return answer, sum(spent)

    async def _reserve(self, tokens: int) -> None:
        if self._has_stopped():
            raise Stopped
        try:
            await self._budget.reserve(tokens)
        except BudgetSpent:
            used, limit = self._budget.used.total, self._budget.limit
            self._stop(
                f"The token budget is spent: {used:,} of {limit:,} are used, and the next call may take "
                f"{tokens:,}."
            )
            raise Stopped from None
        if self._has_stopped():  # in the meantime
            await self._budget.settle(tokens, 0, 0)
            raise Stopped

    def _has_stopped(self) -> bool:
        return bool(self.stopped)

    def _stop_if_hopeless(self, failure: CallFailed) -> None:
        refuses_all = failure.trouble is Trouble.NOT_ALLOWED and not self._answered
        if refuses_all or failure.trouble is Trouble.HOPELESS:
            self._stop(f"{failure.message[0].upper()}{failure.message[1:]}; nothing more was asked for.")
        if self.stopped:
            raise Stopped from None

    def _stop_if_nobody_is_there(self, failure: CallFailed, tries: int) -> None:
        """An address at which nobody has answered yet is more likely wrong than out of order."""
        if failure.trouble is Trouble.UNREACHABLE and not self._answered and tries >= _TRIES_TO_REACH:
            self._stop("The endpoint can't be reached: is it running, and is its address right?")
            raise Stopped from None

    def _stop(self, sentence: str) -> None:
        self.stopped = self.stopped or sentence

    def _asks_for_less(self, failure: CallFailed, asked_with: tuple[int, str]) -> bool:
        """Do without what the endpoint has refused. False if there is nothing left to do without.

        Others in flight have met the same refusal: who asked with what is given up already just asks again.
        """
        if failure.parameter == "temperature":
            self._stop("The model does not take this temperature; choose another, or none.")
            raise Stopped
        if failure.parameter in LENGTH_PARAMETERS:
            if self._length_parameter == asked_with[1] and self._length_parameters_left:
                self._length_parameter = self._length_parameters_left.pop()
                return True
            return self._length_parameter != asked_with[1]
        if self._format != asked_with[0]:
            return True
        # Once an answer has come in this format, a refusal is about something else.
        if self._format + 1 < len(FORMATS) and not self._answered:
            self._format += 1
            return True
        return False

    async def _wait(self, failure: CallFailed, retry: int) -> None:
        wait = self._patience.wait_before(retry, self._draw())
        if failure.retry_after is not None:
            asked = self._patience.asked_to_wait(failure.retry_after)
            # Who is asked to wait asks for all: the others would only be turned away as well.
            self._pause_until = max(self._pause_until, asyncio.get_running_loop().time() + asked)
            wait = asked + wait * self._draw() / 4
        await asyncio.sleep(wait)

    async def _wait_if_asked_to(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._pause_until - loop.time()) > 0:
            await asyncio.sleep(left)


def expected_tokens(system: str, planned: PlannedSession) -> tuple[int, int]:
    """About what a session will take: of the prompt, and of the answer. Most are short of their bound."""
    said = prompts.messages(system, planned)
    prompt = estimated_tokens(*(message["content"] for message in said)) + _SCHEMA_TOKENS
    return prompt, _answer_tokens(planned) // 2


def _answer_tokens(planned: PlannedSession) -> int:
    each = _TOKENS_A_TURN
    if planned.reply_words:
        each = max(each, int(planned.reply_words * _TOKENS_A_WORD))
    return _TOKENS_AROUND + each * planned.turns


def _told(answer: Answer, prompt_tokens: int) -> tuple[tuple[int, int], bool]:
    """What the answer says it has cost, or an estimate; and whether it is one."""
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return (prompt_tokens, estimated_tokens(answer.content)), True
    return (answer.prompt_tokens, answer.completion_tokens), False


def _in_few_words(unusable: Unusable) -> str:
    first, *others = unusable.problems
    return f"{first} (and {len(others)} more)" if others else first
