"""The only code that writes to the audit log."""

import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent

_approver: ContextVar[str] = ContextVar("approver", default="")


@contextmanager
def approved_by(name: str) -> Iterator[None]:
    """Events that are recorded meanwhile name the person who approved them."""
    token = _approver.set(name)
    try:
        yield
    finally:
        _approver.reset(token)


def require_second_person() -> None:
    """Call it in whatever needs four eyes. Raises UserError unless a second person has approved it, or the
    installation doesn't ask for that."""
    if settings.FOUR_EYES and not _approver.get():
        raise UserError(
            "A second person has to approve this (ALIGNMENTER_FOUR_EYES is on). Request it in the admin, "
            "where it waits on the page Requests."
        )


NOT_SIGNED_IN = "not signed in"


@dataclass
class RequestOrigin:
    """Who sent the current request, and from where. ``get_user`` returns None if nobody is signed in.

    ``refusals`` are recorded after the response: what refused them rolls its transaction back. ``token`` is
    the primary key of the API token it was sent with.
    """

    address: str
    get_user: Callable[[], Any]
    refusals: list[dict[str, Any]] = field(default_factory=list)
    token: int | None = None


_origin: ContextVar[RequestOrigin | None] = ContextVar("origin", default=None)


@contextmanager
def attribute_to(origin: RequestOrigin) -> Iterator[None]:
    """Add the address of the request to all events that are recorded meanwhile."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


@contextmanager
def acting_as(user: Any) -> Iterator[None]:
    """Attribute changes to a user who isn't signed in yet, such as by a link to set a password."""
    origin = _origin.get()
    with attribute_to(RequestOrigin(origin.address if origin else "", lambda: user)):
        yield


def identify_token(user: Any, token: int) -> None:
    """Attribute the rest of the current request to a user who sent an API token in place of signing in."""
    if origin := _origin.get():
        origin.get_user, origin.token = lambda: user, token


def current_user() -> Any:
    """The user of the current request; None outside of requests, or if nobody is signed in."""
    origin = _origin.get()
    return origin.get_user() if origin else None


def current_address() -> str:
    """The address that the current request comes from; empty outside of requests."""
    origin = _origin.get()
    return origin.address if origin else ""


def note_refusal(**details: Any) -> None:
    """Have the current request record that it was refused. Jobs and commands report it themselves."""
    if origin := _origin.get():
        origin.refusals.append(details)


def current_token() -> int | None:
    """The primary key of the API token of the current request, or of the one that started this job."""
    origin = _origin.get()
    return origin.token if origin else None


def actor_name(actor: Any) -> str:
    """The user's name; for a command (``actor`` is None) the system account that ran it."""
    if actor is not None:
        return str(actor.get_username())
    return NOT_SIGNED_IN if current_address() else f"command line ({_system_account()})"


def _system_account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container, a uid may have no name
        return f"uid {os.getuid()}"


def record(action: str, *, actor: Any, dataset_name: str = "", **details: Any) -> None:
    """Add an event. Call it in the transaction of the change that it records."""
    if address := current_address():
        details["source_address"] = address
    if token := current_token():
        details["api_token"] = token
    if approver := _approver.get():
        details["approved_by"] = approver
    AuditEvent.objects.create(
        action=action, actor=actor_name(actor), dataset_name=dataset_name, details=details
    )
