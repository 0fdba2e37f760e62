"""One HTTP request to an address that a person entered: for webhooks and for sources.

The connection goes to the address that was checked, redirects are answers like any other, and all of it
together, from the first byte to the last, has one deadline and a limit of bytes: a server that sends a byte
now and then holds nobody up. Meanwhile ``tick`` is called twice a second, and may raise to cancel. Nothing of
an answer is quoted in an error.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

# Addresses that this server may send requests to when a person entered them.
#
# The host is resolved once, each address it has must be public or in a listed network, and the connection
# goes to what was checked: a name that resolves to something else a moment later changes nothing.
PORTS = {"http": 80, "https": 443}
# Before the IPv4 address in an IPv6 one of ISATAP, but for a bit that says whether it is unique.
_ISATAP, _ISATAP_MASK = 0x00005EFE, 0xFDFFFFFF
_NETWORKS_PATH = Path(__file__).with_name("special_networks.txt")


class HostNotFound(Exception):
    """No address is known for the host."""


class PrivateAddress(Exception):
    """The host has an address that is neither public nor in a listed network."""


class Unencrypted(Exception):
    """Only hosts in listed networks may be asked over http."""


def resolve(host: str, port: int, scheme: str, networks: Collection[Any]) -> tuple[str, int]:
    """The first address of ``host``, if all are allowed. Raises one of the exceptions above."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise HostNotFound from None
    addresses = [ipaddress.ip_address(str(item[4][0]).partition("%")[0]) for item in found]
    listed = [any(address in network for network in networks) for address in addresses]
    if not all(known or is_public(address) for known, address in zip(listed, addresses, strict=True)):
        raise PrivateAddress
    if scheme != "https" and not all(listed):
        raise Unencrypted
    return str(addresses[0]), port


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is one of the internet, both by the standard library and by IANA's registries, which
    know networks that the library doesn't. An IPv4 address within an IPv6 one counts as itself, but behind a
    tunnel, which may lead anywhere, none is public: ISATAP is in no registry, as it may have any prefix."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return is_public(address.ipv4_mapped)
        if int(address) >> 32 & _ISATAP_MASK == _ISATAP:
            return False
    return address.is_global and not any(address in network for network in _load_networks())


@cache
def _load_networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    lines = _NETWORKS_PATH.read_text(encoding="utf-8").splitlines()
    return [ipaddress.ip_network(line) for line in lines if line and not line.startswith("#")]


def connect_to(address: tuple[str, int]) -> Callable[..., socket.socket]:
    """In place of what ``http.client`` connects with. Names in the certificate and in the Host header stay
    those of the host."""
    return lambda _, *rest: socket.create_connection(address, *rest)


TICK_SECONDS = 0.5
# Of each step of a connection.
STEP_SECONDS = 30.0


class AnswerTooLarge(Exception):
    """More bytes came than allowed."""


class Request(NamedTuple):
    """``url`` has no user, password or fragment; ``body`` is None for a request without one."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes


def send(
    request: Request, address: tuple[str, int], *, seconds: float, max_bytes: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> Answer:  # fmt: skip
    """The answer; its content is read only if ``max_bytes`` allows any. Raises TimeoutError,
    :class:`AnswerTooLarge`, http.client.HTTPException for what isn't a complete answer, OSError, and what
    ``tick`` raises."""
    exchange = _Exchange(request, address, max_bytes)
    thread = threading.Thread(target=exchange.run, daemon=True)
    deadline = time.monotonic() + seconds
    thread.start()
    try:
        while not exchange.done.wait(min(TICK_SECONDS, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise TimeoutError
            tick()
    finally:
        exchange.close()
    if exchange.failure is not None:
        raise exchange.failure
    assert exchange.answer is not None
    return exchange.answer


class _Exchange:
    """Runs in a thread of its own, which ends when its socket is shut down."""

    def __init__(self, request: Request, address: tuple[str, int], max_bytes: int) -> None:
        self._request, self._max_bytes = request, max_bytes
        self._connection = _make_connection(request.url, address)
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.failure: Exception | None = None

    def run(self) -> None:
        parts = urlsplit(self._request.url)
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        try:
            self._connection.request(
                self._request.method, target, self._request.body, dict(self._request.headers)
            )
            response = self._connection.getresponse()
            content = self._read(response) if self._max_bytes else b""
            self.answer = Answer(response.status, dict(response.headers.items()), content)
        except Exception as error:  # raised again by the one who waits
            self.failure = error
        self.done.set()

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        content = bytearray()
        while block := response.read(1 << 16):
            content += block
            if len(content) > self._max_bytes:
                raise AnswerTooLarge
        if response.length:
            raise http.client.IncompleteRead(b"")
        return bytes(content)

    def close(self) -> None:
        sock = self._connection.sock
        if sock is not None and not self.done.is_set():
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
        self._connection.close()


def _make_connection(url: str, address: tuple[str, int]) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            str(parts.hostname), parts.port, timeout=STEP_SECONDS, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=STEP_SECONDS)
    # What was checked is what is connected to; the certificate is still that of the host.
    connection._create_connection = connect_to(address)  # type: ignore[attr-defined]
    return connection
