"""Searches many turns for personal data on all processors."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.core.process_pool import ProcessPool, ProcessPoolError, available_cpus
from datasets_app.domain.quality.personal_data import SearchBatches
from datasets_app.domain.quality.runner import make_batch_search

# Fewer are searched sooner than processes start.
MIN_TURNS = 20_000
_BYTES_PER_TURN = 400


@contextmanager
def open_searching(turn_count: int) -> Iterator[SearchBatches | None]:
    """What searches batches of about so many turns, or None where one process is enough. Raises UserError if
    a process dies."""
    processes = available_cpus()
    if processes == 1 or turn_count < MIN_TURNS:
        yield None
        return
    try:
        with ProcessPool(processes, make_handler, None) as pool:
            yield pool.map
    except ProcessPoolError as error:
        raise UserError(f"{error} The text was not searched to the end.") from None


def estimate_turns(paths: Sequence[Path]) -> int:
    """About how many turns these files have."""
    return sum(path.stat().st_size for path in paths if path.is_file()) // _BYTES_PER_TURN


def make_handler(_: None) -> Callable[[tuple[str, Any]], Any]:
    """Runs in each process."""
    search = make_batch_search()
    return lambda task: search(task[1])
