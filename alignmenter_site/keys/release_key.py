"""The Ed25519 key of this installation, which signs releases; anyone with the public key can verify them."""

import base64
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from alignmenter_site import env
from alignmenter_site.keys import secret_key

ENV_VAR, FORMER_KEYS_ENV_VAR = "ALIGNMENTER_RELEASE_KEY", "ALIGNMENTER_FORMER_RELEASE_KEYS"
PUBLIC_KEY_BYTES = 32


def sign(message: bytes) -> bytes:
    """The signature of ``message``, 64 bytes; the same for the same message and key."""
    return _private_key().sign(message)


def public_key() -> bytes:
    """The 32 bytes with which others verify signatures made here."""
    return _private_key().public_key().public_bytes_raw()


def fingerprint(public: bytes) -> str:
    """The first 16 hex digits of the SHA-256 of a public key."""
    return hashlib.sha256(public).hexdigest()[:16]


def is_valid_signature(message: bytes, signature: bytes, public: bytes) -> bool:
    """Whether ``signature`` signs ``message`` with the private key of ``public``."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_own_key(public: bytes) -> bool:
    """Whether this is the current or a former key of this installation."""
    return public == public_key() or public in former_keys()


def former_keys() -> list[bytes]:
    """The public keys of keys used before the current one."""
    keys = []
    for number, text in enumerate(env.word_list(FORMER_KEYS_ENV_VAR, []), 1):
        try:
            key = base64.b64decode(text, validate=True)
        except ValueError:
            key = b""
        if len(key) != PUBLIC_KEY_BYTES:
            raise env.EnvironmentVariableError(
                f"{FORMER_KEYS_ENV_VAR}: key {number} must be a public key in base64"
            )
        keys.append(key)
    return keys


def _private_key() -> Ed25519PrivateKey:
    secret = secret_key.load_key(ENV_VAR, "release_key")
    # Derive the key (RFC 5869), so that any long enough secret will do.
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"alignmenter datasets: releases, 1")
    return Ed25519PrivateKey.from_private_bytes(derive.derive(secret.encode()))
