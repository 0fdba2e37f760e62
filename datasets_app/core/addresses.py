"""Addresses that this server may send requests to when a person entered them.

The host is resolved once, each address it has must be public or in a listed network, and the connection goes
to what was checked: a name that resolves to something else a moment later changes nothing.
"""

import ipaddress
import socket
from collections.abc import Callable, Collection
from typing import Any

PORTS = {"http": 80, "https": 443}
# IPv6 addresses that stand for IPv4 addresses, on this machine or behind a gateway.
_GATEWAYS = [
    ipaddress.ip_network(name)
    for name in ("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
]


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
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return is_public(address.ipv4_mapped)
        if address.is_site_local or any(address in network for network in _GATEWAYS):
            return False
    return address.is_global and not address.is_multicast


def connect_to(address: tuple[str, int]) -> Callable[..., socket.socket]:
    """For ``_create_connection`` of ``http.client``. Names in the certificate and in the Host header stay
    those of the host."""
    return lambda _, *rest: socket.create_connection(address, *rest)
