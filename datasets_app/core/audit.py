"""The only code that writes to the audit log."""

import getpass
import os
from typing import Any

from datasets_app.models import AuditEvent


def actor_name(actor: Any) -> str:
    """The user's name; for a command (``actor`` is None) the system account that ran it."""
    if actor is not None:
        return str(actor.get_username())
    return f"command line ({_system_account()})"


def _system_account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container, a uid may have no name
        return f"uid {os.getuid()}"


def record(action: str, *, actor: Any, dataset_name: str = "", **details: Any) -> None:
    """Add an event. Call it in the transaction of the change that it records."""
    AuditEvent.objects.create(
        action=action, actor=actor_name(actor), dataset_name=dataset_name, details=details
    )
