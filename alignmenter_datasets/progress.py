"""Bars on a terminal, nothing elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from alignmenter_datasets.transfers import OnBytes


@contextmanager
def show_progress(title: str, *, enabled: bool, unit: str = "B") -> Iterator[OnBytes]:
    """A function that takes (done, total)."""
    if not enabled or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with tqdm(desc=title, unit=unit, unit_scale=True, unit_divisor=1024, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total or None
            bar.update(done - bar.n)

        yield show
