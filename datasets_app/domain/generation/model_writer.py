"""Has a model write sessions, many at a time; each succeeds or fails with a reason."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.budget import TokensUsed
from datasets_app.domain.generation.endpoint import Endpoint
from datasets_app.domain.generation.model_run import ModelRun, RunStopped, estimate_session_tokens
from datasets_app.domain.generation.openai_compatible import OpenAIClient
from datasets_app.domain.generation.plan import PlannedSession
from datasets_app.domain.generation.retry_rules import RetryPolicy
from datasets_app.domain.generation.session_schema import NameFinder, find_no_names, fingerprint_reply
from datasets_app.domain.generation.writer import GenerationStopped, WrittenSession
from datasets_app.domain.personas.persona import PersonaDocument

GENERATOR, VERSION = "openai-compatible", "1"
DEFAULT_CONCURRENCY, MAX_CONCURRENCY = 8, 256
# Seconds between ticks of the caller while no session finishes.
TICK_SECONDS = 0.5
GRACE_SECONDS = 5.0

_SAMPLE_SIZE = 50

_Tasks = set["asyncio.Task[WrittenSession]"]


def run_last(runner: asyncio.Runner, closing: Coroutine[Any, Any, None]) -> None:
    """Run what ends the work, also after an interrupt: raised within a task, it can leave the loop a callback
    that stops its next run at once."""
    with suppress(RuntimeError):
        runner.run(asyncio.sleep(0))
    runner.run(closing)


class ModelWriter:
    """A writer (see :mod:`writer`) that uses a model. ``key`` goes only to ``endpoint``.

    ``max_tokens`` limits the run, including ``used`` from an earlier part. ``on_tick`` is called about twice
    a second in the caller's thread; an exception from it ends the run: no more sessions are requested, and
    those that finish within ``grace_seconds``, which are paid for, are still yielded.
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
        max_tokens: int | None = None,
        used: TokensUsed | None = None,
        retry_policy: RetryPolicy = RetryPolicy(),  # noqa: B008
        on_tick: Callable[[], None] = lambda: None,
        grace_seconds: float = GRACE_SECONDS,
        find_names: NameFinder = find_no_names,
    ) -> None:
        self.endpoint, self.model, self.temperature = endpoint, model, temperature
        self.concurrency, self.max_tokens, self.retry_policy = concurrency, max_tokens, retry_policy
        self.used = used or TokensUsed()
        self.on_tick, self.grace_seconds = on_tick, grace_seconds
        self._find_names = find_names
        self.failed = 0
        self._key, self._system = key, prompts.build_system_message(persona)
        self._known_replies: set[int] = set()
        self._rng = random.Random()

    def __repr__(self) -> str:
        return f"<ModelWriter {self.model} at {self.endpoint.host}>"

    def describe(self) -> dict[str, Any]:
        description: dict[str, Any] = {
            "generator": GENERATOR,
            "generator_version": VERSION,
            "model": self.model,
            "endpoint": self.endpoint.host,
            "prompt_sha256": prompts.hash_prompt(self._system),
            "reproducible": False,
        }
        if self.temperature is not None:
            description["temperature"] = self.temperature
        if self.used.calls:
            description["calls"] = self.used.calls
            description["tokens"] = {"prompt": self.used.prompt, "completion": self.used.completion}
            if self.used.estimated:
                description["tokens"]["estimated"] = self.used.estimated
        return description

    def estimate_tokens(self, plan: Sequence[PlannedSession]) -> TokensUsed:
        """Estimate the tokens of a whole plan from a sample; each call reserves more than that."""
        step = max(1, len(plan) // _SAMPLE_SIZE)
        sample = [estimate_session_tokens(self._system, plan[number]) for number in range(0, len(plan), step)]
        prompt, completion = (sum(each) * len(plan) // len(sample) for each in zip(*sample, strict=True))
        return TokensUsed(prompt, completion, prompt + completion, len(plan))

    def remember_replies(self, turns: Iterable[TurnRecord]) -> None:
        """Add replies of existing sessions, which no new session may repeat verbatim."""
        marks = (fingerprint_reply(turn.text) for turn in turns if turn.role == "assistant")
        self._known_replies.update(mark for mark in marks if mark is not None)

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        for written in self.write_all([planned]):
            if written.failure is None:
                return written.turns
            raise GenerationStopped(f"The session could not be written: {written.failure}.")
        raise GenerationStopped("The session was not written.")

    def write_all(self, planned: Iterable[PlannedSession]) -> Generator[WrittenSession, None, None]:
        """Yield sessions as they finish. Closing the generator drops the calls in flight.

        The event loop runs only while the caller waits here, so that the caller may use a database,
        which refuses to work inside a running loop.
        """
        waiting = iter(planned)
        self._find_names([""])  # load dependencies before the first call
        with asyncio.Runner() as runner:
            run = runner.run(self._start_run())
            done: _Tasks = set()
            tasks: _Tasks = set()
            try:
                while self._start_tasks(waiting, tasks, run, runner.get_loop()):
                    done, tasks = runner.run(_wait_for_tasks(tasks, TICK_SECONDS, asyncio.FIRST_COMPLETED))
                    yield from self._collect_results(done, run)
                    try:
                        self.on_tick()
                    except Exception:
                        run.stopped = run.stopped or "The run was stopped."
                        done, tasks = runner.run(
                            _wait_for_tasks(tasks, self.grace_seconds, asyncio.ALL_COMPLETED)
                        )
                        yield from self._collect_results(done, run)
                        raise
            finally:
                run_last(runner, run.close(done | tasks))
        if run.stopped:
            raise GenerationStopped(run.stopped)

    async def _start_run(self) -> ModelRun:
        calls = OpenAIClient(
            self.endpoint,
            self.model,
            key=self._key,
            temperature=self.temperature,
            concurrency=self.concurrency,
        )
        return ModelRun(
            calls,
            self._system,
            self._known_replies,
            self.used,
            self.max_tokens,
            self.retry_policy,
            self._rng.random,
            self._find_names,
        )

    def _start_tasks(
        self,
        pending: Iterator[PlannedSession],
        tasks: _Tasks,
        run: ModelRun,
        loop: asyncio.AbstractEventLoop,
    ) -> bool:
        """Start as many sessions as may run at a time. False if none remains."""
        while len(tasks) < self.concurrency and not run.stopped:
            following = next(pending, None)
            if following is None:
                break
            tasks.add(loop.create_task(run.write_session(following)))
        return bool(tasks)

    def _collect_results(self, done: _Tasks, run: ModelRun) -> Iterator[WrittenSession]:
        for task in done:
            try:
                written = task.result()
            except RunStopped:
                continue
            if written.failure is None:
                self.remember_replies(written.turns)
            else:
                self.failed += 1
            run.record_outcome(written, self.concurrency)
            yield written


async def _wait_for_tasks(tasks: _Tasks, seconds: float, return_when: str) -> tuple[_Tasks, _Tasks]:
    """Wait up to ``seconds``; returns the finished tasks and the others."""
    return await asyncio.wait(tasks, timeout=seconds, return_when=return_when) if tasks else (set(), set())
