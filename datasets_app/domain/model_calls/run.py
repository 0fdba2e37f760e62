"""Works through many items by calls to a model, a number of them at a time."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from datasets_app.domain.model_calls.budget import TokenBudget
from datasets_app.domain.model_calls.calls import CallDropped, ModelCalls
from datasets_app.domain.model_calls.endpoint import Model
from datasets_app.domain.model_calls.openai_compatible import AnswerFormat, OpenAIClient

# Seconds between ticks of the caller while nothing finishes.
TICK_SECONDS = 0.5
GRACE_SECONDS = 5.0


Item = TypeVar("Item")
T = TypeVar("T")


class RunStopped(Exception):
    """No more can be done (budget exhausted, endpoint refuses all). The message is a sentence for the user;
    earlier results remain valid."""


class Outcome(Protocol):
    """What became of an item: ``failure`` is None, or the reason why nothing did."""

    @property
    def failure(self) -> str | None: ...


Result = TypeVar("Result", bound=Outcome)


def run_calls(
    items: Iterable[Item],
    work: Callable[[ModelCalls, Item], Coroutine[Any, Any, Result]],
    *,
    model: Model,
    format: AnswerFormat,
    budget: TokenBudget,
    noun: str,
    on_tick: Callable[[], None],
) -> Generator[Result, None, None]:
    """Yield results as they come, consuming no more of ``items`` than is worked on. Closing the generator
    drops the calls in flight. Raises :class:`RunStopped` at the end of a run that ended early.

    ``noun`` is what the items are, in sentences for people. ``on_tick`` is called about twice a second in the
    caller's thread; an exception from it ends the run: nothing more is requested, and what comes within
    :data:`GRACE_SECONDS`, which is paid for, is still yielded.

    The event loop runs only while the caller waits here, so that the caller may use a database, which refuses
    to work inside a running loop.
    """
    waiting, concurrency = iter(items), model.concurrency
    done: set[asyncio.Task[Result]] = set()
    tasks: set[asyncio.Task[Result]] = set()
    with asyncio.Runner() as runner:
        calls = runner.run(_start_calls(model, format, budget, noun))
        try:
            while _start_tasks(waiting, tasks, calls, work, concurrency, runner.get_loop()):
                done, tasks = runner.run(_wait_for(tasks, TICK_SECONDS, asyncio.FIRST_COMPLETED))
                yield from _collect(done, calls, concurrency)
                try:
                    on_tick()
                except Exception:
                    calls.stop("The run was stopped.")
                    done, tasks = runner.run(_wait_for(tasks, GRACE_SECONDS, asyncio.ALL_COMPLETED))
                    yield from _collect(done, calls, concurrency)
                    raise
        finally:
            run_last(runner, _close(calls, done | tasks))
    if calls.stopped:
        raise RunStopped(calls.stopped)


def run_last(runner: asyncio.Runner, closing: Coroutine[Any, Any, None]) -> None:
    """Run what ends the work, also after an interrupt: raised within a task, it can leave the loop a callback
    that stops its next run at once."""
    with suppress(RuntimeError):
        runner.run(asyncio.sleep(0))
    runner.run(closing)


def _start_tasks(
    waiting: Iterator[Item],
    tasks: "set[asyncio.Task[Result]]",
    calls: ModelCalls,
    work: Callable[[ModelCalls, Item], Coroutine[Any, Any, Result]],
    concurrency: int,
    loop: asyncio.AbstractEventLoop,
) -> bool:
    """Start as many as may run at a time. False if none remains."""
    while len(tasks) < concurrency and not calls.stopped:
        try:
            following = next(waiting)
        except StopIteration:
            break
        tasks.add(loop.create_task(work(calls, following)))
    return bool(tasks)


def _collect(done: "set[asyncio.Task[Result]]", calls: ModelCalls, concurrency: int) -> Iterator[Result]:
    for task in done:
        try:
            result = task.result()
        except CallDropped:
            continue
        calls.record_outcome(result.failure, concurrency)
        yield result


async def _start_calls(model: Model, format: AnswerFormat, budget: TokenBudget, noun: str) -> ModelCalls:
    return ModelCalls(OpenAIClient(model), format=format, budget=budget, noun=noun)


async def _wait_for(
    tasks: "set[asyncio.Task[T]]", seconds: float, return_when: str
) -> "tuple[set[asyncio.Task[T]], set[asyncio.Task[T]]]":
    """Wait up to ``seconds``; returns the finished tasks and the others."""
    return await asyncio.wait(tasks, timeout=seconds, return_when=return_when) if tasks else (set(), set())


async def _close(calls: ModelCalls, dropped: "set[asyncio.Task[Any]]") -> None:
    for task in dropped:
        task.cancel()
    await asyncio.gather(*dropped, return_exceptions=True)
    await calls.close()
