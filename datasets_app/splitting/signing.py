"""Signs sessions for the search for near-duplicates on all processors, where there are enough of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.core.process_pool import ProcessPool, ProcessPoolError, available_cpus
from datasets_app.domain.splits.near_duplicates import SignBatches, Signer

# Fewer are signed sooner than processes start.
MIN_SESSIONS = 10_000


@contextmanager
def open_signing(similarity: float, session_count: int) -> Iterator[SignBatches]:
    """What signs batches, for about so many sessions. Raises UserError if a process dies."""
    processes = available_cpus() if session_count >= MIN_SESSIONS else 1
    try:
        with ProcessPool(processes, make_handler, similarity) as pool:
            yield pool.map
    except ProcessPoolError as error:
        raise UserError(f"{error} Nothing was split.") from None


def make_handler(similarity: float) -> Callable[[tuple[str, Any]], Any]:
    """Runs in each process."""
    sign = Signer(similarity).sign
    return lambda task: sign(task[1])
