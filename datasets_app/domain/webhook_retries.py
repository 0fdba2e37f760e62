"""When a message that was not accepted is sent again."""

FIRST_PAUSE_SECONDS = 5.0
PAUSE_FACTOR = 4.0
MAX_PAUSE_SECONDS = 8 * 3600.0
# The pauses add up to about a day: 5 s, 20 s, 80 s, 5 min, 21 min, 1.4 h, 5.7 h, 8 h, 8 h.
MAX_ATTEMPTS = 10


def pause_seconds(attempt: int, jitter: float) -> float:
    """Seconds between ``attempt`` (1 is the first) and the next one.

    ``jitter`` (0 to 1) lengthens the pause by up to a quarter, so that a receiver that comes back doesn't get
    all messages at once.
    """
    return min(FIRST_PAUSE_SECONDS * PAUSE_FACTOR ** (attempt - 1), MAX_PAUSE_SECONDS) * (1 + jitter / 4)
