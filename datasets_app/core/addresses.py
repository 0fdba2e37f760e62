"""Addresses that this server may send requests to when a person entered them.

The host is resolved once, each address it has must be public or in a listed network, and the connection goes
to what was checked: a name that resolves to something else a moment later changes nothing.
"""

import ipaddress
import socket
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

PORTS = {"http": 80, "https": 443}
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
    know networks that the library doesn't. An IPv4 address within an IPv6 one counts as itself."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return is_public(address.ipv4_mapped)
    return address.is_global and not any(address in network for network in _load_networks())


@cache
def _load_networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    lines = _NETWORKS_PATH.read_text(encoding="utf-8").splitlines()
    return [ipaddress.ip_network(line) for line in lines if line and not line.startswith("#")]


def connect_to(address: tuple[str, int]) -> Callable[..., socket.socket]:
    """In place of what ``http.client`` connects with. Names in the certificate and in the Host header stay
    those of the host."""
    return lambda _, *rest: socket.create_connection(address, *rest)
