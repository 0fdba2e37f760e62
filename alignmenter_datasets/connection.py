"""Requests with a token: repeated while the server is busy or unreachable, errors as exceptions."""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from alignmenter_datasets.errors import ClientError, RequestRefused, ServerUnreachable

BUSY = frozenset({429, 502, 503, 504})
ATTEMPTS = 6
MAX_WAIT_SECONDS = 60.0
TIMEOUT = httpx.Timeout(connect=10, read=300, write=60, pool=10)
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class Connection:
    """To the API of one server. Redirects are not followed, as they would carry the token elsewhere."""

    def __init__(self, url: str, token: str, *, allow_http: bool = False, attempts: int = ATTEMPTS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ClientError(f"{url!r} isn't the address of a server, such as https://datasets.example.com.")
        if parts.scheme == "http" and parts.hostname not in _LOCAL and not allow_http:
            raise ClientError("The token would be sent unencrypted: use https://, or pass allow_http=True.")
        if not token.strip() or any(character.isspace() for character in token.strip()):
            raise ClientError("The token is empty or has spaces in it; create one on your account's page.")
        self._attempts = attempts
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token.strip()}", "User-Agent": "alignmenter-datasets"},
            timeout=TIMEOUT,
        )

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of the answer; None if it has none. Raises ClientError. Every request can be repeated:
        those that start something have a key by which the server knows them again."""
        headers = dict(options.pop("headers", {}))
        if method == "POST":
            headers.setdefault("Idempotency-Key", os.urandom(16).hex())
        for last in self._try():
            try:
                answer = self._http.request(method, path, headers=headers, **options)
            except httpx.TransportError as error:
                if last:
                    raise _unreachable(error) from None
                continue
            if answer.status_code in BUSY and not last:
                _wait_as_told(answer)
                continue
            _raise_for_error(answer)
            return answer.json() if answer.content else None
        raise AssertionError("unreachable")

    @contextmanager
    def stream(
        self, path: str, *, headers: dict[str, str] | None = None, **options: Any
    ) -> Iterator[httpx.Response]:
        """An answer whose body is read piece by piece. Raises ClientError, also while it is read."""
        for last in self._try():
            try:
                with self._http.stream("GET", path, headers=headers or {}, **options) as answer:
                    if answer.status_code in BUSY and not last:
                        answer.read()
                        _wait_as_told(answer)
                        continue
                    if answer.is_error:
                        answer.read()
                    _raise_for_error(answer)
                    yield answer
                    return
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if last:
                    raise _unreachable(error) from None
            except httpx.TransportError as error:
                raise _unreachable(error) from None

    def _try(self) -> Iterator[bool]:
        """Whether an attempt is the last one. Waits before each but the first."""
        for number in range(self._attempts):
            if number:
                time.sleep(min(0.25 * 2**number, 8.0) * random.uniform(0.5, 1.0))
            yield number == self._attempts - 1


def _wait_as_told(answer: httpx.Response) -> None:
    told = answer.headers.get("Retry-After", "")
    time.sleep(min(float(told), MAX_WAIT_SECONDS) if told.isdecimal() else 0.0)


def _unreachable(error: Exception) -> ServerUnreachable:
    return ServerUnreachable(f"The server can't be reached ({type(error).__name__}). Try again later.")


def _raise_for_error(answer: httpx.Response) -> None:
    if answer.is_success or answer.status_code == httpx.codes.NOT_MODIFIED:
        return
    if answer.is_redirect:
        raise ClientError("The server redirects to another address. Use that one, if you trust it.")
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    raise RequestRefused(answer.status_code, problem if isinstance(problem, dict) else {})
