"""The cache that all processes share: it counts failed sign-ins, and requests of API tokens."""

import json
import logging
import time
from typing import Any

import redis
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

KEY_PREFIX = "alignmenter"
RETRY_SECONDS = 15
log = logging.getLogger(__name__)


class JsonSerializer:
    """Django's own serializer unpickles what it reads, so a writer to Redis could run code here."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class SharedCache(RedisCache):
    """Redis. While it can't be reached, each process counts for itself, so that people can still sign in."""

    away_until = 0.0  # of all threads: time.monotonic()

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._local = LocMemCache(KEY_PREFIX, params)

    def add(self, *args: Any, **options: Any) -> Any:
        return self._call("add", *args, **options)

    def get(self, *args: Any, **options: Any) -> Any:
        return self._call("get", *args, **options)

    def set(self, *args: Any, **options: Any) -> Any:
        return self._call("set", *args, **options)

    def incr(self, *args: Any, **options: Any) -> Any:
        return self._call("incr", *args, **options)

    def delete(self, *args: Any, **options: Any) -> Any:
        return self._call("delete", *args, **options)

    def clear(self) -> None:
        """Delete nothing in Redis: its database also holds the queue."""
        self._local.clear()

    def _call(self, method: str, *args: Any, **options: Any) -> Any:
        if time.monotonic() >= SharedCache.away_until:
            try:
                return getattr(super(), method)(*args, **options)
            except (redis.RedisError, OSError) as error:
                SharedCache.away_until = time.monotonic() + RETRY_SECONDS
                log.warning(
                    "Redis can't be reached (%s): each process counts for itself.", type(error).__name__
                )
        return getattr(self._local, method)(*args, **options)
