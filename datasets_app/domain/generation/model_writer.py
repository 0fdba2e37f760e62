"""Sessions written by a model, many at a time: each is done, or failed for a reason that is told."""

import asyncio
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.budget import TokensUsed
from datasets_app.domain.generation.endpoint import Endpoint
from datasets_app.domain.generation.model_run import ModelRun, Stopped, expected_tokens
from datasets_app.domain.generation.plan import PlannedSession
from datasets_app.domain.generation.retry_rules import Patience
from datasets_app.domain.generation.session_schema import NameFinder, fingerprint, no_names
from datasets_app.domain.generation.writer import StoppedEarly, Written
from datasets_app.domain.personas.persona import PersonaDocument

GENERATOR, VERSION = "openai-compatible", "1"
DEFAULT_CONCURRENCY, MOST_CONCURRENT = 8, 256
# How often the caller is asked whether to go on, while nothing comes in.
TICK_SECONDS = 0.5
GRACE_SECONDS = 5.0

_SAMPLED = 50

_Tasks = set["asyncio.Task[Written]"]


class ModelWriter:
    """A writer (see :mod:`writer`) that asks a model. ``key`` goes to ``endpoint`` and nowhere else.

    ``most_tokens`` bounds the run, with ``used`` of an earlier part of it counted in. ``while_waiting`` is
    called about twice a second, in the caller's thread; what it raises ends the work: nothing more is asked
    for, and what comes in within ``grace`` seconds, which is paid for, is still handed out.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        persona: PersonaDocument | None = None,
        key: str = "",
        temperature: float | None = None,
        concurrency: int = DEFAULT_CONCURRENCY,
        most_tokens: int | None = None,
        used: TokensUsed | None = None,
        patience: Patience = Patience(),  # noqa: B008
        while_waiting: Callable[[], None] = lambda: None,
        grace: float = GRACE_SECONDS,
        find_names: NameFinder = no_names,
    ) -> None:
        self.endpoint, self.model, self.temperature = endpoint, model, temperature
        self.concurrency, self.most_tokens, self.patience = concurrency, most_tokens, patience
        self.used = used or TokensUsed()
        self.while_waiting, self.grace = while_waiting, grace
        self._find_names = find_names
        self.failed = 0
        self._key, self._system = key, prompts.system_message(persona)
        self._said: set[int] = set()
        self._chance = random.Random()

    def __repr__(self) -> str:
        return f"<ModelWriter {self.model} at {self.endpoint.host}>"

    def describe(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "generator": GENERATOR,
            "generator_version": VERSION,
            "model": self.model,
            "endpoint": self.endpoint.host,
            "prompt_sha256": prompts.prompt_sha256(self._system),
            "reproducible": False,
        }
        if self.temperature is not None:
            told["temperature"] = self.temperature
        if self.used.calls:
            told["calls"] = self.used.calls
            told["tokens"] = {"prompt": self.used.prompt, "completion": self.used.completion}
            if self.used.estimated:
                told["tokens"]["estimated"] = self.used.estimated
        return told

    def expected_tokens(self, plan: Sequence[PlannedSession]) -> TokensUsed:
        """About what a whole plan will take, from a few of its sessions; more is set aside for each call."""
        step = max(1, len(plan) // _SAMPLED)
        sample = [expected_tokens(self._system, plan[number]) for number in range(0, len(plan), step)]
        prompt, completion = (sum(each) * len(plan) // len(sample) for each in zip(*sample, strict=True))
        return TokensUsed(prompt, completion, prompt + completion, len(plan))

    def remember(self, turns: Iterable[TurnRecord]) -> None:
        """Replies of sessions that stand already: no other is to repeat them word for word."""
        marks = (fingerprint(turn.text) for turn in turns if turn.role == "assistant")
        self._said.update(mark for mark in marks if mark is not None)

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        for written in self.write_all([planned]):
            if written.failure is None:
                return written.turns
            raise StoppedEarly(f"The session could not be written: {written.failure}.")
        raise StoppedEarly("The session was not written.")

    def write_all(self, planned: Iterable[PlannedSession]) -> Generator[Written, None, None]:
        """In the order in which they are finished. Closing it drops the calls in flight.

        The event loop runs only while the caller waits here: the caller may use a database, which no
        running loop must be around of.
        """
        waiting = iter(planned)
        self._find_names([""])  # what it needs is loaded before the first call is under way
        with asyncio.Runner() as runner:
            run = runner.run(self._begin())
            done: _Tasks = set()
            tasks: _Tasks = set()
            try:
                while self._take_up(waiting, tasks, run, runner.get_loop()):
                    done, tasks = runner.run(_come_in(tasks, TICK_SECONDS, asyncio.FIRST_COMPLETED))
                    yield from self._outcomes(done, run)
                    try:
                        self.while_waiting()
                    except Exception:
                        run.stopped = run.stopped or "The run was stopped."
                        done, tasks = runner.run(_come_in(tasks, self.grace, asyncio.ALL_COMPLETED))
                        yield from self._outcomes(done, run)
                        raise
            finally:
                runner.run(run.close(done | tasks))
        if run.stopped:
            raise StoppedEarly(run.stopped)

    async def _begin(self) -> ModelRun:
        from datasets_app.domain.generation.openai_compatible import ModelCalls

        calls = ModelCalls(
            self.endpoint,
            self.model,
            key=self._key,
            temperature=self.temperature,
            concurrency=self.concurrency,
        )
        return ModelRun(
            calls,
            self._system,
            self._said,
            self.used,
            self.most_tokens,
            self.patience,
            self._chance.random,
            self._find_names,
        )

    def _take_up(
        self,
        waiting: Iterator[PlannedSession],
        tasks: _Tasks,
        run: ModelRun,
        loop: asyncio.AbstractEventLoop,
    ) -> bool:
        """As many sessions as may be asked for at a time. False if none is left."""
        while len(tasks) < self.concurrency and not run.stopped:
            following = next(waiting, None)
            if following is None:
                break
            tasks.add(loop.create_task(run.session(following)))
        return bool(tasks)

    def _outcomes(self, done: _Tasks, run: ModelRun) -> Iterator[Written]:
        for task in done:
            try:
                written = task.result()
            except Stopped:
                continue
            if written.failure is None:
                self.remember(written.turns)
            else:
                self.failed += 1
            run.came_out(written, self.concurrency)
            yield written


async def _come_in(tasks: _Tasks, seconds: float, when: str) -> tuple[_Tasks, _Tasks]:
    """Those that are done, after ``seconds`` at most, and the others."""
    return await asyncio.wait(tasks, timeout=seconds, return_when=when) if tasks else (set(), set())
