"""Keys for values that are stored in the database but must not be readable there, derived from SECRET_KEY."""

import base64
import hashlib
import hmac

from django.conf import settings


def derive_fernet_key(purpose: str, secret: str | None = None) -> bytes:
    """A key for Fernet, another one for each purpose; from SECRET_KEY or a former one."""
    key = (settings.SECRET_KEY if secret is None else secret).encode()
    return base64.urlsafe_b64encode(hmac.new(key, purpose.encode(), hashlib.sha256).digest())
