"""What ends a run of calls is run, whenever an interrupt comes."""

import asyncio

import pytest

from datasets_app.domain.model_calls.run import run_last


async def answer() -> None:
    pass


async def be_interrupted(steps: int) -> None:
    for _ in range(steps):
        await asyncio.sleep(0)
    raise KeyboardInterrupt


async def start(steps: int) -> list["asyncio.Task[None]"]:
    return [asyncio.ensure_future(answer()), asyncio.ensure_future(be_interrupted(steps))]


def work(steps: int, closed: list[bool]) -> None:
    async def close() -> None:
        await asyncio.gather(*tasks, return_exceptions=True)
        closed.append(True)

    with asyncio.Runner() as runner:
        tasks = runner.run(start(steps))
        try:
            runner.run(asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))
        finally:
            run_last(runner, close())


@pytest.mark.parametrize("steps", range(1, 5))
def test_what_ends_the_work_runs_after_an_interrupt_within_a_task(steps: int) -> None:
    """After four steps the loop is about to stop, as the other task has ended."""
    closed: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        work(steps, closed)
    assert closed
