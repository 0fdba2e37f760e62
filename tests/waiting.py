"""Waits for what other processes do."""

import time
from collections.abc import Callable
from typing import Any


def wait_for(question: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Ask again and again until the answer is true; returns the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer
