"""Endpoints, by their base URL, and the models behind them."""

from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from datasets_app.domain.model_calls.retry_rules import RetryPolicy

MAX_CHARACTERS = 500
DEFAULT_CONCURRENCY, MAX_CONCURRENCY = 8, 256
_PORTS = {"http": 80, "https": 443}


class EndpointError(ValueError):
    """The message is a sentence that repeats nothing of the URL, which may hold a password."""


class Endpoint(NamedTuple):
    """``base_url`` in its normal form. ``trusted``: the installation's key may be sent there."""

    base_url: str
    trusted: bool

    @property
    def host(self) -> str:
        """Host and port, for provenance."""
        return urlsplit(self.base_url).netloc


@dataclass(frozen=True)
class Model:
    """A model at an endpoint, and how it is called. ``key`` goes only to ``endpoint``."""

    endpoint: Endpoint
    name: str
    key: str = field(default="", repr=False)
    temperature: float | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    retry_policy: RetryPolicy = RetryPolicy()


def normalize_base_url(url: str) -> str:
    """``url`` with a scheme and host in lower case, no default port, and no slash at its end.

    Raises :class:`EndpointError`.
    """
    text = url.strip()
    if (
        not text.isascii()
        or not text.isprintable()
        or len(text) > MAX_CHARACTERS
        or set(text) & set(' \\"<>^`{|}')
    ):
        raise EndpointError("The base URL holds characters that can't stand in one.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise EndpointError("The base URL can't be understood; it is like https://host/v1.") from None
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    if scheme not in _PORTS:
        raise EndpointError("The base URL must begin with https:// or http://.")
    if "@" in parts.netloc:
        raise EndpointError(
            "The base URL must hold no user and no password; keys belong into the environment."
        )
    if not host or port == 0:
        raise EndpointError("The base URL names no host; it is like https://host/v1.")
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise EndpointError("The base URL must hold no query and no fragment.")
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[scheme]:
        netloc += f":{port}"
    return urlunsplit((scheme, netloc, parts.path.rstrip("/"), "", ""))
