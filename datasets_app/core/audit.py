"""The audit trail's only writer."""

import getpass
import os
from typing import Any

from datasets_app.models import AuditEvent


def actor_name(actor: Any) -> str:
    """A user's name; for a command, which no user stands behind, the account it ran under."""
    if actor is not None:
        return str(actor.get_username())
    return f"command line ({_system_account()})"


def _system_account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container, a uid need not have a name
        return f"uid {os.getuid()}"


def record(action: str, *, actor: Any, dataset_name: str = "", **details: Any) -> None:
    """Add an event. Call it inside the transaction of what it records."""
    AuditEvent.objects.create(
        action=action, actor=actor_name(actor), dataset_name=dataset_name, details=details
    )
