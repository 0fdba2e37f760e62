"""One message to one address: signed, to an address that was checked, without following redirects."""

import http.client
import ssl
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from standardwebhooks import Webhook

from alignmenter_site.web_address import split_address
from datasets_app.core import http_sender
from datasets_app.core.errors import UserError

# Of a delivery, from the first byte to the last.
TOTAL_SECONDS = 20.0


class DeliveryFailed(Exception):
    """There was no answer; the message is a code of :data:`ERRORS`."""


ERRORS = {
    "not_allowed": "The address is private, or not https",
    "not_found": "The host was not found",
    "certificate": "The certificate is not valid for the host",
    "timeout": "No answer in time",
    "unreachable": "The host could not be reached",
    "no_answer": "The answer is not HTTP",
    "secret_lost": "SECRET_KEY has changed: replace the secret",
    "interrupted": "The worker was stopped while it sent",
}


def check_url(url: str) -> str:
    """The address as it is stored. Raises UserError if nothing could be sent there."""
    url = url.strip()
    parts = split_address(url)
    is_printable = url.isascii() and url.isprintable() and " " not in url
    if parts is None or parts.fragment or not is_printable:
        raise UserError("Enter an address like https://host/path, without user, password or fragment.")
    try:
        _resolve(url)
    except http_sender.HostNotFound:
        raise UserError("The host was not found. Check the address.") from None
    except http_sender.PrivateAddress:
        raise UserError(
            "The host has an address in a private network. An administrator can allow it with "
            "ALIGNMENTER_WEBHOOK_NETWORKS."
        ) from None
    except http_sender.Unencrypted:
        raise UserError("Enter an https address: messages must not be sent unencrypted.") from None
    return url


def sign(secrets: Sequence[str], message_id: str, at: datetime, body: str) -> dict[str, str]:
    """The headers of a message; ``at`` is when it is sent, in UTC."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(message_id, at, body) for secret in secrets),
    }


def post(url: str, headers: Mapping[str, str], body: str) -> int:
    """Send a message; returns the status of the answer, whose content isn't read.

    Raises :class:`DeliveryFailed`.
    """
    try:
        address = _resolve(url)
    except http_sender.HostNotFound:
        raise DeliveryFailed("not_found") from None
    except (http_sender.PrivateAddress, http_sender.Unencrypted):
        raise DeliveryFailed("not_allowed") from None
    request = http_sender.Request("POST", url, headers, body.encode())
    try:
        return http_sender.send(request, address, seconds=TOTAL_SECONDS).status
    except ssl.SSLCertVerificationError:
        raise DeliveryFailed("certificate") from None
    except TimeoutError:
        raise DeliveryFailed("timeout") from None
    except http.client.HTTPException:
        raise DeliveryFailed("no_answer") from None
    except OSError:
        raise DeliveryFailed("unreachable") from None


def _resolve(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    port = parts.port or http_sender.PORTS[parts.scheme]
    return http_sender.resolve(str(parts.hostname), port, parts.scheme, settings.WEBHOOK_NETWORKS)
