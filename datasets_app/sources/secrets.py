"""Tokens: those that a source sends are encrypted; of those that it accepts the digest is stored."""

import secrets

from cryptography.fernet import InvalidToken

from alignmenter_site.keys.derived_key import make_fernet
from datasets_app.core.errors import UserError

TOKEN_PREFIX = "alds_"  # so that scanners for leaked secrets recognize one # nosec B105


def encrypt_credential(value: str) -> str:
    return make_fernet("sources").encrypt(value.encode()).decode() if value else ""


def decrypt_credential(stored: str) -> str:
    """Raises UserError if SECRET_KEY was replaced since."""
    try:
        return make_fernet("sources").decrypt(stored.encode()).decode() if stored else ""
    except InvalidToken:
        raise UserError(
            "The token of the source can't be decrypted, because SECRET_KEY has changed. Enter it again."
        ) from None


def make_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)
