"""The five roles, as groups with permissions. They exist after `migrate`.

Permissions are made by Django when an app's migrations have run, so the groups are filled then:
once for each app, with those of its permissions that exist.
"""

from typing import Any

ROLES: dict[str, tuple[str, ...]] = {
    "curator": (
        "datasets_app.view_dataset", "datasets_app.change_dataset", "datasets_app.import_dataset",
        "datasets_app.export_dataset", "datasets_app.check_dataset",
        "datasets_app.view_session", "datasets_app.view_turn", "datasets_app.view_jobrun",
        "datasets_app.view_persona", "datasets_app.add_persona", "datasets_app.change_persona",
        "datasets_app.view_retentionpolicy",
        "annotations_app.view_annotation", "annotations_app.add_annotation",
        "annotations_app.import_annotation", "annotations_app.export_annotation",
    ),
    "annotator": (),
    "lead": (
        "datasets_app.view_dataset", "datasets_app.view_session", "datasets_app.view_turn",
        "datasets_app.view_jobrun", "datasets_app.view_persona",
        "annotations_app.view_annotation", "annotations_app.add_annotation",
        "annotations_app.change_annotation", "annotations_app.import_annotation",
        "annotations_app.export_annotation",
    ),
    "privacy officer": (
        "datasets_app.view_dataset", "datasets_app.change_dataset", "datasets_app.check_dataset",
        "datasets_app.view_session", "datasets_app.view_turn", "datasets_app.view_jobrun",
        "datasets_app.view_auditevent",
        "datasets_app.view_retentionpolicy", "datasets_app.add_retentionpolicy",
        "datasets_app.change_retentionpolicy", "datasets_app.delete_retentionpolicy",
    ),
    "viewer": (
        "datasets_app.view_dataset", "datasets_app.view_session", "datasets_app.view_turn",
        "datasets_app.view_persona",
    ),
}  # fmt: skip


def ensure_roles(using: str = "default", **_: Any) -> None:
    """Make the groups and give them what they lack; nothing an installation added is taken away."""
    from django.contrib.auth.models import Group, Permission

    known = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.using(using).values_list(
            "pk", "content_type__app_label", "codename"
        )
    }
    for role, permissions in ROLES.items():
        group, _created = Group.objects.using(using).get_or_create(name=role)
        group.permissions.add(*(known[name] for name in permissions if name in known))
