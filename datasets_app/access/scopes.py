"""The scopes of API tokens: each is a few permissions, which the person must have as well."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy


class Scope(NamedTuple):
    label: Promise
    permissions: tuple[str, ...]


# Who can see every restricted dataset sees it by a token, too; nothing here changes who sees what.
_SEE = ("view_dataset", "view_session", "view_turn", "view_jobrun", "view_scrubrun", "limit_access")

# No scope overrides, signs or deletes: that takes a recent sign-in. One erases, and does nothing else.
SCOPES: dict[str, Scope] = {
    "datasets:read": Scope(
        gettext_lazy("See datasets, sessions and jobs"), tuple(f"datasets_app.{name}" for name in _SEE)
    ),
    "raw:read": Scope(gettext_lazy("Read raw text"), ("datasets_app.read_raw",)),
    "imports:write": Scope(gettext_lazy("Upload and import files"), ("datasets_app.import_dataset",)),
    "exports:write": Scope(
        gettext_lazy("Export datasets and download files"), ("datasets_app.export_dataset",)
    ),
    "checks:write": Scope(gettext_lazy("Run checks"), ("datasets_app.check_dataset",)),
    "scrubs:write": Scope(gettext_lazy("Preview and run scrubs"), ("datasets_app.scrub_dataset",)),
    "splits:write": Scope(gettext_lazy("Split datasets"), ("datasets_app.split_dataset",)),
    "releases:read": Scope(gettext_lazy("See versions"), ("datasets_app.view_release",)),
    "releases:write": Scope(gettext_lazy("Release versions"), ("datasets_app.release_dataset",)),
    "personas:read": Scope(gettext_lazy("See personas"), ("datasets_app.view_persona",)),
    "personas:write": Scope(
        gettext_lazy("Add and change personas"), ("datasets_app.add_persona", "datasets_app.change_persona")
    ),
    # Their permissions are added by the app of labels.
    "labels:read": Scope(gettext_lazy("See campaigns, labels and agreement, and export labels"), ()),
    "labels:write": Scope(gettext_lazy("Import labels"), ()),
    "campaigns:write": Scope(gettext_lazy("Start campaigns"), ()),
    "people:erase": Scope(gettext_lazy("Find and erase people"), ("datasets_app.erase_session",)),
    "audit:read": Scope(gettext_lazy("Read the audit log"), ("datasets_app.view_auditevent",)),
}


def list_permissions(scopes: list[str]) -> frozenset[str]:
    """The permissions of these scopes; one that no longer exists has none."""
    known = [SCOPES[name] for name in scopes if name in SCOPES]
    return frozenset(permission for scope in known for permission in scope.permissions)


def find_scope(permission: str) -> str:
    """The scope with this permission; empty if none has it."""
    return next((name for name, scope in SCOPES.items() if permission in scope.permissions), "")
