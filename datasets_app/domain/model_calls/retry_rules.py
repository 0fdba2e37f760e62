"""Which failures of a call pass, and how long to wait before it is made again."""

import math
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import NamedTuple


class FailureKind(Enum):
    """Why a call failed, as text for the report."""

    RATE_LIMITED = "too many requests (429)"
    SERVER = "errors of the server (5xx)"
    TIMED_OUT = "no answer in time"
    CONNECTION = "the connection broke"
    UNREACHABLE = "no connection"
    BROKEN_ANSWER = "answers that can't be read"
    REFUSED_REQUEST = "the endpoint refused the request"
    # Refuses one request or all of them: all, if it has not answered any yet.
    NOT_ALLOWED = "the endpoint does not allow the request"
    PERMANENT = "the endpoint refuses every request"


TRANSIENT_FAILURES = frozenset(FailureKind) - {
    FailureKind.REFUSED_REQUEST,
    FailureKind.NOT_ALLOWED,
    FailureKind.PERMANENT,
}
# The endpoint may have worked, and be paid, though nothing came of it.
POSSIBLY_BILLED_FAILURES = frozenset(
    {FailureKind.TIMED_OUT, FailureKind.CONNECTION, FailureKind.BROKEN_ANSWER}
)


class CallFailed(Exception):
    """A call without a usable answer. ``message`` is of our own making: what endpoints say of an error may
    repeat the key or the prompt. ``retry_after`` is in seconds; ``parameter`` is the one that is not known
    there."""

    def __init__(
        self, kind: FailureKind, message: str = "", *, retry_after: float | None = None, parameter: str = ""
    ) -> None:
        super().__init__(message or kind.value)
        self.kind, self.message = kind, message or kind.value
        self.retry_after, self.parameter = retry_after, parameter


class RetryPolicy(NamedTuple):
    """``retries`` after the first try; waits and ``timeout`` (of a whole call) in seconds."""

    retries: int = 5
    timeout: float = 120.0
    initial_wait: float = 2.0
    max_wait: float = 60.0
    max_retry_after: float = 120.0

    def compute_wait(self, retry: int, jitter: float) -> float:
        """Before the ``retry``-th (from 1): twice as long each time, less up to half of it by ``jitter`` (0
        to 1), so that calls that failed together don't retry together."""
        longest = min(self.initial_wait * 2.0 ** min(retry - 1, 30), self.max_wait)
        return longest * (1.0 - jitter / 2.0)

    def limit_retry_after(self, retry_after: float | None) -> float:
        """What an endpoint asks for, within bounds."""
        return min(max(retry_after or 0.0, 0.0), self.max_retry_after)


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Seconds from ``now`` (of the epoch) that a Retry-After header asks for: a number, or a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
