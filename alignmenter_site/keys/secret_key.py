"""Secret keys: from the environment, or generated once into a file that only its owner can read."""

import os
import secrets
from pathlib import Path

from alignmenter_site import env

# As many as a key of 24 random bytes has in base64. Shorter keys could be guessed.
MIN_KEY_CHARACTERS = 32


def load_key(env_var: str, file_name: str) -> str:
    """The key from the environment, else the one in ``file_name`` under the data directory.

    Raises :class:`env.EnvironmentVariableError` for a key that is too short.
    """
    from django.conf import settings

    path = Path(settings.VAR_DIR) / file_name
    return key_from_env(env_var) or _validate_key(load_or_create(path), str(path))


def key_from_env(env_var: str) -> str:
    """The key from the environment, or an empty string."""
    key = env.text(env_var)
    return _validate_key(key, env_var) if key else ""


def _validate_key(key: str, source: str) -> str:
    if len(key) < MIN_KEY_CHARACTERS:
        raise env.EnvironmentVariableError(
            f"{source} must have at least {MIN_KEY_CHARACTERS} characters, got {len(key)}. "
            "Generate one with: python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return key


def load_or_create(path: Path) -> str:
    """The key in the file, generated first if there is none; safe with any number of processes.

    Raises :class:`env.EnvironmentVariableError` if it can be neither read nor written.
    """
    try:
        return _read_key(path) or _create(path)
    except OSError as error:
        raise env.unusable(path, error) from None


def _create(path: Path) -> str:
    from alignmenter_site.embedded import locks

    env.writable_directory(path.parent)
    with locks.hold(path.with_name(f"{path.name}.lock")):
        if key := _read_key(path):
            return key
        # The file gets its name once it is complete; an empty one, left by a crash, is replaced.
        new = path.with_name(f"{path.name}.new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(secrets.token_urlsafe(64))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    return _read_key(path)


def _read_key(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
