"""Work spread over real processes: nothing lost, in order, a few at a time, and told when it fails."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from datasets_app.core.process_pool import (
    MAX_TASKS_PER_PROCESS,
    ProcessPool,
    ProcessPoolError,
    WorkerStartError,
    available_cpus,
)


def begin(argument: Any) -> Callable[[Any], Any]:
    """What the processes of these tests do."""
    if argument == "refuse":
        raise WorkerStartError("No such model.")

    def work(task: tuple[str, int]) -> Any:
        kind, number = task
        if kind == "fail":
            raise ValueError("a secret value")
        if kind == "die":
            os._exit(3)
        if kind == "slow" and number == 0:
            time.sleep(0.3)
        return argument, number, os.getpid()

    return work


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("tasks", [0, 1, 2, 3, 7])
def test_every_task_is_answered_once_and_in_order(count: int, tasks: int) -> None:
    with ProcessPool(count, begin, "x") as pool:
        answers = list(pool.map(iter(range(tasks)), "slow"))
    assert [answer[:2] for answer in answers] == [("x", number) for number in range(tasks)]
    here = {answer[2] == os.getpid() for answer in answers}
    assert here == ({count == 1 or tasks == 1} if tasks else set())


def test_tasks_are_taken_as_they_are_needed() -> None:
    taken = 0

    def tasks() -> Iterator[int]:
        nonlocal taken
        while taken < 100:
            taken += 1
            yield taken

    with ProcessPool(2, begin, None) as pool:
        answers = pool.map(tasks())
        next(answers)
        assert taken <= 2 * MAX_TASKS_PER_PROCESS + 1
        assert len(list(answers)) == 99


def test_processes_are_used_again_for_further_tasks() -> None:
    with ProcessPool(2, begin, None) as pool:
        used = {answer[2] for _ in range(3) for answer in pool.map(range(6), "slow")}
    assert len(used) <= 2


@pytest.mark.parametrize("count", [1, 2])
def test_what_goes_wrong_is_told_by_kind_and_place_only(count: int) -> None:
    with ProcessPool(count, begin, None) as pool, pytest.raises(ProcessPoolError) as failed:
        list(pool.map(range(3), "fail"))
    assert "ValueError in work" in str(failed.value)
    assert "secret" not in str(failed.value)
    with ProcessPool(count, begin, "refuse") as pool, pytest.raises(ProcessPoolError, match="No such model."):
        list(pool.map(range(3)))


def test_a_process_that_dies_ends_the_work() -> None:
    with ProcessPool(2, begin, None) as pool, pytest.raises(ProcessPoolError, match="exit code 3"):
        list(pool.map(range(9), "die"))


def test_as_many_as_this_process_may_use() -> None:
    assert 1 <= available_cpus() <= (os.cpu_count() or 1)
