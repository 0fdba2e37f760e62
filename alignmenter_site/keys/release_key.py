"""The installation's key that signs releases: Ed25519, so that whoever has the public key can check them."""

import base64
import hashlib
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from alignmenter_site import env
from alignmenter_site.keys import secret_key

ENV_VAR, FORMER_KEYS_ENV_VAR = "ALIGNMENTER_RELEASE_KEY", "ALIGNMENTER_FORMER_RELEASE_KEYS"
MIN_KEY_CHARACTERS = 32
PUBLIC_KEY_BYTES = 32


def sign(message: bytes) -> bytes:
    """The 64 bytes of the signature of ``message``; the same for the same message and key."""
    return _private_key().sign(message)


def public_key() -> bytes:
    """The 32 bytes by which others check what was signed here."""
    return _private_key().public_key().public_bytes_raw()


def fingerprint(public: bytes) -> str:
    """A short name of a public key: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(public).hexdigest()[:16]


def is_valid_signature(message: bytes, signature: bytes, public: bytes) -> bool:
    """Whether ``signature`` was made over ``message`` by the key that ``public`` belongs to."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_own_key(public: bytes) -> bool:
    """Whether this is the installation's key, or one that it signed with before."""
    return public == public_key() or public in former_keys()


def former_keys() -> list[bytes]:
    """Public keys, in base64, of keys that were in use before the present one."""
    keys = []
    for number, given in enumerate(env.word_list(FORMER_KEYS_ENV_VAR, []), 1):
        try:
            key = base64.b64decode(given, validate=True)
        except ValueError:
            key = b""
        if len(key) != PUBLIC_KEY_BYTES:
            raise env.EnvironmentVariableError(
                f"{FORMER_KEYS_ENV_VAR}: key {number} must be a public key in base64"
            )
        keys.append(key)
    return keys


def key_from_env() -> str:
    """The secret from the environment, or nothing."""
    given = env.text(ENV_VAR)
    return _validate_key(given, ENV_VAR) if given else ""


def _private_key() -> Ed25519PrivateKey:
    secret = key_from_env() or _validate_key(secret_key.load_or_create(_key_path()), str(_key_path()))
    # Any long secret will do: the key proper is derived from it (RFC 5869).
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"alignmenter datasets: releases, 1")
    return Ed25519PrivateKey.from_private_bytes(derive.derive(secret.encode()))


def _validate_key(key: str, source: str) -> str:
    if len(key) < MIN_KEY_CHARACTERS:
        raise env.EnvironmentVariableError(
            f"{source} must have at least {MIN_KEY_CHARACTERS} characters, got {len(key)}; make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return key


def _key_path() -> Path:
    from django.conf import settings

    return Path(settings.VAR_DIR) / "release_key"
