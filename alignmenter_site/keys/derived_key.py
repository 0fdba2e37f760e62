"""Keys for values that are stored in the database but must not be readable there, derived from SECRET_KEY."""

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings


def make_fernet(purpose: str) -> MultiFernet:
    """Encrypts by a key of its own for each purpose, from SECRET_KEY, and decrypts by former ones as well."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
