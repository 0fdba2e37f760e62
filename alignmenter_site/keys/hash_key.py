"""The installation's key for hashes of session ids and marks; works without a database."""

from pathlib import Path

from alignmenter_site import env
from alignmenter_site.keys import secret_key

NAME = "ALIGNMENTER_HASH_KEY"
# As many as a key of 24 random bytes has in base64. Fewer could be found by trying.
LEAST_CHARACTERS = 32


def hash_key() -> bytes:
    """The UTF-8 bytes of ALIGNMENTER_HASH_KEY, or of the key generated once in ``hash_key`` under var.

    Raises :class:`env.ImproperEnvironment` for a key too short to protect anything.
    """
    return given_key() or _checked(secret_key.kept(_generated_in()), str(_generated_in()))


def given_key() -> bytes:
    """The key from the environment, or nothing."""
    given = env.text(NAME)
    return _checked(given, NAME) if given else b""


def _checked(key: str, source: str) -> bytes:
    if len(key) < LEAST_CHARACTERS:
        raise env.ImproperEnvironment(
            f"{source} must have at least {LEAST_CHARACTERS} characters, got {len(key)}; make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return key.encode()


def _generated_in() -> Path:
    from django.conf import settings

    return Path(settings.VAR_DIR) / "hash_key"
