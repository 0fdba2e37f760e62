"""JSON over HTTPS from an address that a person entered.

The host is resolved once, each address it has must be allowed, and the connection goes to what was resolved.
Redirects are not followed. Nothing of an answer is quoted in an error.
"""

import http.client
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import msgspec
from django.conf import settings

from alignmenter_site.web_address import split_address
from datasets_app.core import http_sender
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.model_calls.retry_rules import parse_retry_after
from datasets_app.domain.wording import format_count

# Of one answer, and of a request with all its repetitions.
MAX_ANSWER_SECONDS, MAX_REQUEST_SECONDS = 120.0, 300.0
MAX_ANSWER_BYTES = 64 << 20
MAX_TRIES = 5
# The first pause; each is twice as long as the one before, unless the server asks for another.
PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 60.0


class _TryAgain(Exception):
    """``pause`` is what the server asks for, in seconds; the message completes the error."""

    def __init__(self, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.pause = pause


def check_url(url: str) -> str:
    """The address without a slash at its end. Raises UserError if it can't be one."""
    parts = split_address(url.strip())
    if parts is None or parts.query or parts.fragment or not url.isascii():
        raise UserError("Enter an address like https://host, without user, password or query.")
    return url.strip().rstrip("/")


class ApiClient:
    """Calls ``report_progress`` with (``done``, None) between requests, also while it waits."""

    def __init__(self, url: str, headers: Mapping[str, str], report_progress: ProgressCallback) -> None:
        self._parts = urlsplit(check_url(url))
        self._headers = {"Accept": "application/json", "User-Agent": "alignmenter-datasets", **headers}
        self._report = report_progress
        self._address: tuple[str, int] | None = None
        self.host = str(self._parts.hostname)
        self.done = 0

    def get(self, path: str, parameters: Any = ()) -> Any:
        """``parameters`` is a dict, or pairs."""
        return self._request("GET", f"{path}?{urlencode(parameters)}" if parameters else path, None)

    def post(self, path: str, value: Any) -> Any:
        return self._request("POST", path, msgspec.json.encode(value))

    def _request(self, method: str, path: str, body: bytes | None) -> Any:
        pause, deadline = PAUSE_SECONDS, time.monotonic() + MAX_REQUEST_SECONDS
        for left in reversed(range(MAX_TRIES)):
            self._report(self.done, None)
            try:
                return self._try(method, self._parts.path + path, body, deadline)
            except _TryAgain as error:
                if not left or time.monotonic() > deadline:
                    times = format_count(MAX_TRIES - left, "time")
                    raise UserError(f"{self.host} {error} {times}, so nothing was pulled.") from None
                self._wait(min(pause if error.pause is None else error.pause, MAX_PAUSE_SECONDS))
                pause *= 2
        raise AssertionError

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._report(self.done, None)
            time.sleep(min(left, 0.5))

    def _try(self, method: str, path: str, body: bytes | None, deadline: float) -> Any:
        url = urlunsplit((self._parts.scheme, self._parts.netloc, "", "", "")) + path
        headers = self._headers | ({"Content-Type": "application/json"} if body else {})
        request = http_sender.Request(method, url, headers, body)
        seconds = min(MAX_ANSWER_SECONDS, max(0.0, deadline - time.monotonic()))
        try:
            answer = http_sender.send(
                request, self._find_address(), seconds=seconds, max_bytes=MAX_ANSWER_BYTES, tick=self._tick
            )
        except http_sender.AnswerTooLarge:
            raise UserError(f"{self.host} sent an answer of more than {MAX_ANSWER_BYTES >> 20} MB.") from None
        except http.client.HTTPException:
            raise _TryAgain("ended its answer too early") from None
        except ssl.SSLCertVerificationError:
            raise UserError(f"The certificate of {self.host} is not valid for it.") from None
        except TimeoutError:
            raise _TryAgain("did not answer in time") from None
        except OSError:
            raise _TryAgain("could not be reached") from None
        self._check_status(answer)
        return _decode(answer.content)

    def _tick(self) -> None:
        self._report(self.done, None)

    def _check_status(self, answer: http_sender.Answer) -> None:
        if answer.status in (408, 429) or answer.status >= 500:
            pause = parse_retry_after(answer.headers.get("Retry-After"), time.time())
            raise _TryAgain(f"answered {answer.status}", pause)
        if answer.status in (401, 403):
            raise UserError(f"{self.host} refused the token ({answer.status}). Enter another one.")
        if answer.status in range(300, 400):
            raise UserError(
                f"{self.host} redirects to another address, which is not followed. Enter the right one."
            )
        if answer.status != 200:
            raise UserError(
                f"{self.host} answered {answer.status}. Check the address and the name of the project."
            )

    def _find_address(self) -> tuple[str, int]:
        if self._address is None:
            port = self._parts.port or http_sender.PORTS[self._parts.scheme]
            self._address = _resolve(self.host, port, self._parts.scheme)
        return self._address


def _resolve(host: str, port: int, scheme: str) -> tuple[str, int]:
    """The first address, if all are allowed: one of them may be our own network's."""
    try:
        return http_sender.resolve(host, port, scheme, settings.SOURCE_NETWORKS)
    except http_sender.HostNotFound:
        raise UserError(f"The host {host} was not found. Check the address.") from None
    except http_sender.PrivateAddress:
        raise UserError(
            f"{host} has an address in a private network. An administrator can allow it with "
            "ALIGNMENTER_SOURCE_NETWORKS."
        ) from None
    except http_sender.Unencrypted:
        raise UserError("Enter an https address: a token must not be sent unencrypted.") from None


def _decode(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise _TryAgain("sent no valid JSON") from None
