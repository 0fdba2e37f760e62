"""Searches the turns of large files for personal data on all processors."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.core.process_pool import ProcessPool, ProcessPoolError, available_cpus
from datasets_app.domain.quality.personal_data import SearchBatches
from datasets_app.domain.quality.runner import make_batch_search

# Smaller files are searched sooner than processes start.
MIN_BYTES = 16 << 20


@contextmanager
def open_searching(paths: Sequence[Path]) -> Iterator[SearchBatches | None]:
    """What searches batches of turns of these files, or None where one process is enough. Raises UserError if
    a process dies."""
    processes = available_cpus()
    if processes == 1 or sum(path.stat().st_size for path in paths if path.is_file()) < MIN_BYTES:
        yield None
        return
    try:
        with ProcessPool(processes, make_handler, None) as pool:
            yield pool.map
    except ProcessPoolError as error:
        raise UserError(f"{error} The files were not checked to the end.") from None


def make_handler(_: None) -> Callable[[tuple[str, Any]], Any]:
    """Runs in each process."""
    search = make_batch_search()
    return lambda task: search(task[1])
