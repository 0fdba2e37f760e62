"""Many things, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of ``size``, of which the last may be shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
