"""Secrets of webhooks: encrypted in the database, shown once, and replaced with a day's overlap."""

import base64
import secrets
from datetime import timedelta

from cryptography.fernet import InvalidToken
from django.utils import timezone

from alignmenter_site.keys.derived_key import make_fernet
from datasets_app.models import WebhookEndpoint

PREFIX = "whsec_"  # nosec B105
OVERLAP = timedelta(days=1)


class SecretLost(Exception):
    """SECRET_KEY was replaced since the secret was made."""


def make_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def encrypt_secret(secret: str) -> str:
    return make_fernet("webhooks").encrypt(secret.encode()).decode()


def read_secrets(endpoint: WebhookEndpoint) -> list[str]:
    """Those to sign with: the present one, and for a day the one before. Raises :class:`SecretLost`."""
    stored = [endpoint.secret]
    if endpoint.previous_secret and endpoint.previous_until and endpoint.previous_until > timezone.now():
        stored.append(endpoint.previous_secret)
    try:
        return [make_fernet("webhooks").decrypt(value.encode()).decode() for value in stored]
    except InvalidToken:
        raise SecretLost from None


def replace_secret(endpoint: WebhookEndpoint) -> str:
    """Give the endpoint another secret; returns it. The caller saves the endpoint."""
    secret = make_secret()
    endpoint.previous_secret, endpoint.previous_until = endpoint.secret, timezone.now() + OVERLAP
    endpoint.secret = encrypt_secret(secret)
    return secret
