"""Where a model may be asked, and with which key: the installation's goes to addresses it trusts only.

Keys come from the environment or a file that it names. They are read when they are needed, and kept nowhere.
"""

from pathlib import Path
from typing import Any

from django.conf import settings

from alignmenter_site import env
from datasets_app.core.errors import UserError
from datasets_app.domain.model_calls.endpoint import Endpoint, EndpointError, normalize_base_url

GENERATE_ANYWHERE_PERMISSION = "datasets_app.generate_anywhere"
KEY_VARIABLE, KEY_FILE_VARIABLE = "OPENAI_API_KEY", "ALIGNMENTER_LLM_KEY_FILE"
_MAX_KEY_CHARACTERS = 4096


def configured_endpoints() -> list[str]:
    """Base URLs at which everybody who may generate can have sessions written; the first is the default."""
    return [normalize_base_url(given) for given in settings.LLM_ENDPOINTS]


def can_generate_anywhere(actor: Any) -> bool:
    """By permission, or by access to the command line."""
    return actor is None or bool(actor.has_perm(GENERATE_ANYWHERE_PERMISSION))


def require_endpoint(base_url: str | None, actor: Any) -> Endpoint:
    """The endpoint at ``base_url`` (the default one if there is none), if ``actor`` may use it.

    Without this, anyone who may generate could have the server send requests to any host it reaches.
    Raises :class:`UserError`. ``actor`` is None for a command and for nobody else.
    """
    configured = configured_endpoints()
    if not base_url:
        if not configured:
            raise UserError("No endpoint is configured (ALIGNMENTER_LLM_ENDPOINTS); give a base URL.")
        return Endpoint(configured[0], True)
    try:
        wanted = normalize_base_url(base_url)
    except EndpointError as error:
        raise UserError(str(error)) from None
    if wanted in configured:
        return Endpoint(wanted, True)
    if not can_generate_anywhere(actor):
        raise UserError(
            "Models can be asked at the configured addresses only. Ask an administrator to add this one to "
            "ALIGNMENTER_LLM_ENDPOINTS, or for the permission to generate anywhere."
        )
    # A command's environment is that of the person who gives the address. The server's is not.
    return Endpoint(wanted, trusted=actor is None)


def get_api_key(endpoint: Endpoint) -> str:
    """The key to send to ``endpoint``; empty if there is none, or it is not to be sent there.

    Raises :class:`UserError`, without repeating anything of the key.
    """
    if not endpoint.trusted:
        return ""
    source, key = _read_key()
    # What can't stand in a header would be shown by the error that says so.
    if not key.isascii() or not key.isprintable() or " " in key or len(key) > _MAX_KEY_CHARACTERS:
        raise UserError(f"The key in {source} holds characters that no key has, or more than one line.")
    return key


def _read_key() -> tuple[str, str]:
    path = env.text(KEY_FILE_VARIABLE)
    if not path:
        return KEY_VARIABLE, env.text(KEY_VARIABLE)
    try:
        with Path(path).expanduser().open("rb") as file:
            return KEY_FILE_VARIABLE, file.read(_MAX_KEY_CHARACTERS + 2).decode().strip()
    except UnicodeDecodeError:
        return KEY_FILE_VARIABLE, "\0"
    except OSError as error:
        raise UserError(
            f"The file that {KEY_FILE_VARIABLE} names can't be read ({error.strerror})."
        ) from None
