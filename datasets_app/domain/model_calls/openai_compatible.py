"""Calls an endpoint that speaks the OpenAI protocol; only this module imports the openai package.

The package never holds the key: each request gets it as it leaves. Errors and logs repeat nothing that an
endpoint says, since that may include the key or the prompt.
"""

import asyncio
import json
import logging
import time
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from datasets_app.domain.model_calls.budget import estimate_tokens
from datasets_app.domain.model_calls.endpoint import Endpoint, Model
from datasets_app.domain.model_calls.retry_rules import CallFailed, FailureKind, parse_retry_after

if TYPE_CHECKING:
    import httpx2
    import openai

MAX_ANSWER_BYTES = 4 << 20
# Send only these: no organization, no header from the environment, nothing about this machine.
ALLOWED_HEADERS = frozenset(
    ["host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"]
)
# The newer name, which only OpenAI requires, and the older one; other endpoints ignore unknown names.
LENGTH_PARAMETERS = ("max_completion_tokens", "max_tokens")
_HOSTS_WITH_NEW_PARAMETER = (".openai.com", ".azure.com")
_QUIET_LOGGERS = ("openai", "httpx2", "httpcore2")
_CONNECT_TIMEOUT_SECONDS = 10.0
# A client scans all of its connections for each call, so many calls are spread over several clients.
CALLS_PER_CLIENT = 16


class AnswerFormat(NamedTuple):
    """The JSON that a model is to answer with."""

    name: str
    schema: dict[str, Any]

    @property
    def tokens(self) -> int:
        """What the schema costs in each call."""
        return estimate_tokens(str(self.schema))

    @property
    def ways(self) -> tuple[dict[str, Any] | None, ...]:
        """The strictest way to request it first; a run drops one for good once the endpoint rejects it."""
        strict = {"name": self.name, "strict": True, "schema": self.schema}
        return {"type": "json_schema", "json_schema": strict}, {"type": "json_object"}, None


class Answer(NamedTuple):
    """``content`` is empty if the model declined. Tokens are None if the endpoint reports none."""

    content: str
    is_truncated: bool
    prompt_tokens: int | None
    completion_tokens: int | None


class OpenAIClient:
    """Calls one model at one endpoint. Create, use and close it in one event loop."""

    def __init__(self, model: Model) -> None:
        self.model = model
        count = -(-model.concurrency // CALLS_PER_CLIENT)
        clients = [_make_client(model.endpoint, model.key) for _ in range(count)]
        self._clients, self._client_cycle = clients, cycle(clients)

    async def complete(
        self,
        messages: list[dict[str, str]],
        *,
        answer_tokens: int,
        format: dict[str, Any] | None,
        length_parameter: str,
    ) -> Answer:
        """Raises :class:`CallFailed` without a cause, which could reveal the key or the prompt."""
        asked: dict[str, Any] = {
            "model": self.model.name,
            "messages": messages,
            length_parameter: answer_tokens,
        }
        if format is not None:
            asked["response_format"] = format
        if self.model.temperature is not None:
            asked["temperature"] = self.model.temperature
        try:
            # The package's own timeout covers each chunk of an answer; this one covers all of it.
            async with asyncio.timeout(self.model.retry_policy.timeout):
                body = await self._post(asked)
        except Exception as error:
            failure = _classify_error(error)
        else:
            return _parse_answer(body)
        raise failure

    async def _post(self, request: dict[str, Any]) -> bytes:
        """The raw answer, which we validate ourselves."""
        import httpx2

        response = await next(self._client_cycle).post(
            "/chat/completions", body=request, cast_to=httpx2.Response
        )
        return response.content

    @property
    def length_parameter(self) -> str:
        """The one to begin with."""
        return LENGTH_PARAMETERS[not f".{self.model.endpoint.host}".endswith(_HOSTS_WITH_NEW_PARAMETER)]

    async def close(self) -> None:
        for client in self._clients:
            await client.close()


def _make_client(endpoint: Endpoint, key: str) -> "openai.AsyncOpenAI":
    import httpx2
    import openai

    for name in _QUIET_LOGGERS:
        # Below this level they log requests and headers, regardless of OPENAI_LOG.
        logging.getLogger(name).setLevel(logging.WARNING)

    async def leave(request: "httpx2.Request") -> None:
        for name in {name for name in request.headers if name.lower() not in ALLOWED_HEADERS}:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    async def arrive(response: "httpx2.Response") -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _ResponseTooLarge  # a few bytes could decompress to more than fits in memory
        response.stream = _limit_stream(response.stream)

    http_client = httpx2.AsyncClient(
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        event_hooks={"request": [leave], "response": [arrive]},
    )
    return openai.AsyncOpenAI(
        api_key="put on by the request hook",
        admin_api_key="",
        organization="",
        project="",
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=None,
        http_client=http_client,
    )


class _ResponseTooLarge(Exception):
    pass


def _limit_stream(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> Any:
            left = MAX_ANSWER_BYTES
            async for part in stream:
                left -= len(part)
                if left < 0:
                    raise _ResponseTooLarge
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


def _classify_error(error: Exception) -> CallFailed:
    """Convert an error of the package, or below it, to one that holds only its kind."""
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return _classify_status(error)
    causes = (error, error.__cause__)
    if any(isinstance(cause, _ResponseTooLarge) for cause in causes):
        return CallFailed(FailureKind.PERMANENT, "the endpoint's answers are too large or packed")
    if any(isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout) for cause in causes):
        return CallFailed(FailureKind.UNREACHABLE)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return CallFailed(FailureKind.TIMED_OUT)
    if isinstance(error, openai.APIConnectionError):
        return CallFailed(FailureKind.CONNECTION)
    if isinstance(error, openai.OpenAIError | ValueError | httpx2.HTTPError | httpx2.InvalidURL):
        return CallFailed(FailureKind.BROKEN_ANSWER)
    raise error


def _classify_status(error: "openai.APIStatusError") -> CallFailed:
    status, code = error.status_code, error.code
    if status in {401, 403}:
        return CallFailed(
            FailureKind.NOT_ALLOWED, f"the endpoint does not accept the key, or asks for one ({status})"
        )
    if status == 404:
        return CallFailed(
            FailureKind.NOT_ALLOWED, "the endpoint knows no such model, or no chat completions (404)"
        )
    if status == 402 or code in {"insufficient_quota", "billing_hard_limit_reached"}:
        return CallFailed(FailureKind.PERMANENT, f"the account at the endpoint has no credit left ({status})")
    if 300 <= status < 400:
        return CallFailed(
            FailureKind.PERMANENT,
            f"the endpoint sends on to another address ({status}), which is not followed; give that address",
        )
    if status == 429:
        asked = parse_retry_after(error.response.headers.get("retry-after"), time.time())
        return CallFailed(FailureKind.RATE_LIMITED, retry_after=asked)
    if status in {408, 409} or status >= 500:
        asked = parse_retry_after(error.response.headers.get("retry-after"), time.time())
        return CallFailed(FailureKind.SERVER, f"errors of the server ({status})", retry_after=asked)
    return CallFailed(
        FailureKind.REFUSED_REQUEST,
        f"the endpoint refused the request ({status})",
        parameter=_find_refused_parameter(error.body),
    )


def _find_refused_parameter(body: object) -> str:
    """The parameter that a refusal names in its field or its message, if any."""
    if not isinstance(body, dict):
        return ""
    named = body.get("param")
    if isinstance(named, str) and named:
        return named.split(".")[0]
    said = str(body.get("message", ""))
    known = ("response_format", *LENGTH_PARAMETERS, "temperature")
    return next((name for name in known if name in said), "")


def _parse_answer(body: bytes) -> Answer:
    try:
        value = json.loads(body)
        choice = value["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise CallFailed(FailureKind.BROKEN_ANSWER) from None
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Answer(
        content if isinstance(content, str) and not message.get("refusal") else "",
        choice.get("finish_reason") == "length",
        _read_count(usage.get("prompt_tokens")),
        _read_count(usage.get("completion_tokens")),
    )


def _read_count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
