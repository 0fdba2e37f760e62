"""The address a request comes from.

``X-Forwarded-For`` is written by proxies, but also by anyone who wants to hide. So it counts only as far
as the proxies that ALIGNMENTER_TRUSTED_PROXIES names have written it.
"""

from ipaddress import ip_address
from typing import Any

from django.conf import settings

UNKNOWN = "0.0.0.0"  # never bound to # nosec B104


def client_address(request: Any) -> str:
    """The address of the client, or of the first proxy before it that isn't trusted."""
    address = _parse(request.META.get("REMOTE_ADDR", ""))
    hops = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    while hops and _is_trusted(address):
        # What a trusted proxy added, from the nearest to the farthest; something else ends the chain.
        if (hop := _parse(hops.pop())) == UNKNOWN:
            break
        address = hop
    return address


def _is_trusted(address: str) -> bool:
    # A server behind a proxy on the same machine may listen on a Unix socket, where nobody has an address.
    if address == UNKNOWN:
        return bool(settings.TRUSTED_PROXIES)
    return any(ip_address(address) in network for network in settings.TRUSTED_PROXIES)


def _parse(text: str) -> str:
    try:
        address = ip_address(text.strip())
    except ValueError:
        return UNKNOWN
    # IPv4 clients of a server that listens on IPv6.
    return str(getattr(address, "ipv4_mapped", None) or address)
