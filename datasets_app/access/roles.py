"""The five roles: groups with permissions, which `migrate` creates.

Django creates permissions after all migrations, app by app, so the groups get theirs then, once per app.

No role has ``generate_anywhere``: it lets users make the server send requests to any address that the server
can reach. Superusers have it; give it to others one by one.
"""

from contextlib import nullcontext
from typing import Any

# Those of labels and campaigns are added by their app.
ROLES: dict[str, tuple[str, ...]] = {
    "curator": (
        "datasets_app.view_dataset", "datasets_app.read_raw",
        "datasets_app.change_dataset", "datasets_app.import_dataset",
        "datasets_app.export_dataset", "datasets_app.check_dataset", "datasets_app.scrub_dataset",
        "datasets_app.generate_dataset", "datasets_app.split_dataset", "datasets_app.release_dataset",
        "datasets_app.view_release",
        "datasets_app.view_scrubrun", "datasets_app.view_scrubfinding", "datasets_app.view_scrubmark",
        "datasets_app.view_session", "datasets_app.view_turn", "datasets_app.add_sessioncomment",
        "datasets_app.view_jobrun",
        "datasets_app.view_persona", "datasets_app.add_persona", "datasets_app.change_persona",
        "datasets_app.view_retentionpolicy",
        "datasets_app.view_source", "datasets_app.add_source", "datasets_app.change_source",
        "datasets_app.delete_source",
        "datasets_app.view_webhookendpoint", "datasets_app.add_webhookendpoint",
        "datasets_app.change_webhookendpoint", "datasets_app.delete_webhookendpoint",
    ),
    "annotator": (),
    "lead": (
        "datasets_app.view_dataset", "datasets_app.view_release",
        "datasets_app.view_session", "datasets_app.view_turn", "datasets_app.add_sessioncomment",
        "datasets_app.view_jobrun", "datasets_app.view_persona",
    ),
    "privacy officer": (
        "datasets_app.view_dataset", "datasets_app.read_raw",
        "datasets_app.change_dataset", "datasets_app.check_dataset",
        "datasets_app.scrub_dataset", "datasets_app.keep_terms_everywhere",
        "datasets_app.export_dataset", "datasets_app.override_gate",
        "datasets_app.view_release", "datasets_app.sign_review", "datasets_app.hold_dataset",
        "datasets_app.erase_session", "datasets_app.apply_retention", "datasets_app.limit_access",
        "datasets_app.view_scrubrun", "datasets_app.view_scrubfinding", "datasets_app.view_scrubmark",
        "datasets_app.view_session", "datasets_app.view_turn", "datasets_app.add_sessioncomment",
        "datasets_app.view_jobrun",
        "datasets_app.view_auditevent",
        "datasets_app.view_webhookendpoint", "datasets_app.delete_webhookendpoint",
        "datasets_app.view_retentionpolicy", "datasets_app.add_retentionpolicy",
        "datasets_app.change_retentionpolicy", "datasets_app.delete_retentionpolicy",
        "datasets_app.activate_retentionpolicy",
    ),
    "viewer": (
        "datasets_app.view_dataset", "datasets_app.view_release", "datasets_app.view_session",
        "datasets_app.view_turn", "datasets_app.view_persona",
    ),
}  # fmt: skip


# By database, in this process: the last permission before migrating, and the roles created since.
_last_permission_before: dict[str, int] = {}
_created_roles: dict[str, set[str]] = {}


def snapshot_permissions(using: str = "default", **_: Any) -> None:
    """Note the existing permissions before migrating, to recognize new ones afterwards."""
    from django.contrib.auth.models import Permission
    from django.db import connections
    from django.db.models import Max

    _last_permission_before[using], _created_roles[using] = 0, set()
    if Permission._meta.db_table in connections[using].introspection.table_names():
        _last_permission_before[using] = (
            Permission.objects.using(using).aggregate(last=Max("pk"))["last"] or 0
        )


def ensure_roles(using: str = "default", **_: Any) -> None:
    """Create the groups and give them their permissions: a new group all of them, an existing group only
    new ones. What an installation added or removed stays that way."""
    from django.contrib.auth.models import Group, Permission

    from datasets_app.auditing.permission_events import suspend_recording

    known = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.using(using).values_list(
            "pk", "content_type__app_label", "codename"
        )
    }
    new_roles = _created_roles.setdefault(using, set())
    # Without a migration before it (flush), no permission is new to an existing group.
    last_before = _last_permission_before.get(using, max(known.values(), default=0))
    for role, permissions in ROLES.items():
        with suspend_recording():
            group, created = Group.objects.using(using).get_or_create(name=role)
        if created:
            new_roles.add(role)
        # A new group also gets the permissions of apps that come later.
        pks = [known[name] for name in permissions if name in known]
        with suspend_recording() if role in new_roles else nullcontext():
            group.permissions.add(*(pk for pk in pks if role in new_roles or pk > last_before))
