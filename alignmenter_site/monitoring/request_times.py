"""How long pages take, counted by all web processes together.

The counts are in Redis, whose increments no two processes can lose, and begin anew when it forgets them. Like
Prometheus' histograms they only ever grow in between.
"""

import threading
import time
from typing import NamedTuple

import redis
from django.conf import settings

KEY = "alignmenter:request_seconds"
BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
RETRY_SECONDS = 15.0
_away_until = 0.0


class ViewTimes(NamedTuple):
    """Requests of a view with one class of status: of each bucket, of all, and their seconds in all."""

    buckets: list[int]
    count: int
    seconds: float


def record_request(view: str, status: int, seconds: float) -> None:
    """Never fails, and asks no server that was away within the last seconds."""
    global _away_until
    if time.monotonic() < _away_until:
        return
    name = f"{view}|{status // 100}xx"
    try:
        with _connect().pipeline(transaction=False) as pipeline:
            # One bucket only; reading adds up those below.
            bucket = next((limit for limit in BUCKETS if seconds <= limit), None)
            if bucket is not None:
                pipeline.hincrby(KEY, f"{name}|{bucket}", 1)
            pipeline.hincrby(KEY, f"{name}|count", 1)
            pipeline.hincrbyfloat(KEY, f"{name}|sum", round(seconds, 6))
            pipeline.execute()
    except (redis.RedisError, OSError):
        _away_until = time.monotonic() + RETRY_SECONDS


def read_times() -> dict[tuple[str, str], ViewTimes]:
    """By view and class of status, such as ("admin:index", "2xx"). Raises RedisError, OSError."""
    fields: dict[tuple[str, str], dict[str, float]] = {}
    for key, value in _connect().hgetall(KEY).items():
        view, status, part = key.decode().rsplit("|", 2)
        fields.setdefault((view, status), {})[part] = float(value)
    times = {}
    for name, parts in sorted(fields.items()):
        below, buckets = 0, []
        for limit in BUCKETS:
            below += int(parts.get(str(limit), 0))
            buckets.append(below)
        times[name] = ViewTimes(buckets, int(parts.get("count", 0)), parts.get("sum", 0.0))
    return times


def _connect() -> "redis.Redis[bytes]":
    global _client
    # A second client would close the connections of the first one as it is dropped, while they are in use.
    with _lock:
        if _client is None:
            _client = redis.Redis.from_url(str(settings.RQ_QUEUES["default"]["URL"]), socket_timeout=1)
        return _client


_lock = threading.Lock()
_client: "redis.Redis[bytes] | None" = None
