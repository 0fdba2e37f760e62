"""Hostile texts: whether a search takes time by the length of a text, and no more."""

import gc
import time
from collections.abc import Callable
from typing import Any


def assert_linear_time(find: Callable[[str], Any], unit: str, length: int = 10_000, ending: str = "") -> None:
    """Compares CPU times of two texts of ``unit``: the least of three of each has to do."""

    def seconds(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length] + ending
        gc.disable()  # a collection of all that the tests have made would count as well
        try:
            started = time.process_time()
            find(text)
            return time.process_time() - started
        finally:
            gc.enable()

    # Eight times the length; quadratic time would be sixty-four times as much.
    long = seconds(8 * length)
    if long < 0.05:
        return
    short = min(seconds(length) for _ in range(3))
    assert long < 24 * short + 0.05 or any(seconds(8 * length) < 24 * short + 0.05 for _ in range(4))
