"""The installation's key for hashes of session ids and marks; works without a database."""

from pathlib import Path

from alignmenter_site import env
from alignmenter_site.keys import secret_key

ENV_VAR = "ALIGNMENTER_HASH_KEY"
# As many as a key of 24 random bytes has in base64. Fewer could be found by trying.
MIN_KEY_CHARACTERS = 32


def hash_key() -> bytes:
    """The UTF-8 bytes of ALIGNMENTER_HASH_KEY, or of the key generated once in ``hash_key`` under var.

    Raises :class:`env.ImproperEnvironment` for a key too short to protect anything.
    """
    return key_from_env() or _validate_key(secret_key.load_or_create(_key_path()), str(_key_path()))


def key_from_env() -> bytes:
    """The key from the environment, or nothing."""
    given = env.text(ENV_VAR)
    return _validate_key(given, ENV_VAR) if given else b""


def _validate_key(key: str, source: str) -> bytes:
    if len(key) < MIN_KEY_CHARACTERS:
        raise env.EnvironmentVariableError(
            f"{source} must have at least {MIN_KEY_CHARACTERS} characters, got {len(key)}; make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return key.encode()


def _key_path() -> Path:
    from django.conf import settings

    return Path(settings.VAR_DIR) / "hash_key"
