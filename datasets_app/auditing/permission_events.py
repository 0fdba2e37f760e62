"""Record changes of accounts, roles and permissions in the audit log.

Accounts and roles are Django's own, so their changes arrive as signals, which don't know the user: it is
that of the current request. Without a request, the change came from the command line.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db.models import signals

from datasets_app.core import audit

ACTION = "permissions"
_ACCOUNT_FLAGS = ("is_active", "is_staff", "is_superuser")
_WATCHED_FIELDS = {"username", "password", *_ACCOUNT_FLAGS}
# Their column names in the many-to-many tables.
_THROUGH_COLUMNS: dict[Any, str] = {User: "user", Group: "group", Permission: "permission"}
_recording_suspended: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def suspend_recording() -> Iterator[None]:
    """Record nothing for the built-in roles, whose permissions are in ``roles.py``."""
    token = _recording_suspended.set(True)
    try:
        yield
    finally:
        _recording_suspended.reset(token)


def connect_signals() -> None:
    for through in (User.groups.through, User.user_permissions.through, Group.permissions.through):
        signals.m2m_changed.connect(_record_membership_change, sender=through)
    signals.pre_save.connect(_store_previous_values, sender=User)
    signals.post_save.connect(_record_account_save, sender=User)
    signals.pre_save.connect(_store_previous_values, sender=Group)
    signals.post_save.connect(_record_role_save, sender=Group)
    for sender in (User, Group):
        signals.post_delete.connect(_record_deletion, sender=sender)


def _record(subject: Any, **details: Any) -> None:
    if not _recording_suspended.get():
        subject_kind = {User: "account", Group: "role"}.get(type(subject), "permission")
        audit.record(ACTION, actor=audit.current_user(), **{subject_kind: _subject_name(subject)}, **details)


def _subject_name(subject: Any) -> str:
    if isinstance(subject, User):
        return str(subject.get_username())
    if isinstance(subject, Permission):
        return f"{subject.content_type.app_label}.{subject.codename}"
    return str(subject.name)


def _record_membership_change(
    instance: Any, action: str, model: Any, pk_set: set[int] | None, sender: Any, **_: Any
) -> None:
    """Record added or removed roles of an account, or permissions of an account or a role."""
    if action in {"post_add", "post_remove"} and pk_set:
        change = "added" if action == "post_add" else "removed"
        changed = model._default_manager.filter(pk__in=pk_set)
    elif action == "pre_clear":
        change = "removed"
        existing = sender._default_manager.filter(**{_THROUGH_COLUMNS[type(instance)]: instance})
        changed = model._default_manager.filter(pk__in=existing.values(_THROUGH_COLUMNS[model]))
    else:
        return
    if names := sorted(map(_subject_name, changed)):
        _record(instance, **{change: names})


def _store_previous_values(sender: Any, instance: Any, update_fields: Any, **_: Any) -> None:
    """Remember the stored values of the row if a watched one may change."""
    watched = _WATCHED_FIELDS if sender is User else {"name"}
    fields = watched if update_fields is None else watched & set(update_fields)
    if instance.pk and fields:
        instance._before = sender._default_manager.filter(pk=instance.pk).values(*fields).first() or {}


def _record_account_save(instance: User, created: bool, **_: Any) -> None:
    if created:
        _record(instance, change="created", **{flag: getattr(instance, flag) for flag in _ACCOUNT_FLAGS})
        return
    before = instance.__dict__.pop("_before", {})
    changed = {name for name, value in before.items() if getattr(instance, name) != value}
    details: dict[str, Any] = {flag: getattr(instance, flag) for flag in _ACCOUNT_FLAGS if flag in changed}
    if "username" in changed:
        details["was_called"] = before["username"]
    if "password" in changed:
        details["password"] = "changed"
    if details:
        _record(instance, change="changed", **details)


def _record_role_save(instance: Group, created: bool, **_: Any) -> None:
    before = instance.__dict__.pop("_before", {})
    if created:
        _record(instance, change="created")
    elif before and before["name"] != instance.name:
        _record(instance, change="changed", was_called=before["name"])


def _record_deletion(instance: Any, **_: Any) -> None:
    _record(instance, change="deleted")
