"""What migrating does to roles that an administrator has changed."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection

from datasets_app.access import roles

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _migrated() -> Iterator[None]:
    call_command("migrate", verbosity=0)
    yield
    Group.objects.filter(name__in=roles.ROLES).delete()
    roles.ensure_roles()


def names(role: str) -> set[str]:
    found = Group.objects.get(name=role).permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in found}


def permission(name: str) -> Permission:
    app, codename = name.split(".")
    return Permission.objects.get(content_type__app_label=app, codename=codename)


@pytest.mark.parametrize("how", ["migrate", "flush"])
def test_new_groups_have_all_that_their_role_says(how: str) -> None:
    Group.objects.all().delete()
    if how == "flush":
        Permission.objects.all().delete()
        for app in apps.get_app_configs():
            from django.db.models.signals import post_migrate

            if app.models_module is not None:
                post_migrate.send(app, app_config=app, verbosity=0, interactive=False, using="default")
    else:
        call_command("migrate", verbosity=0)
    assert {role: names(role) for role in roles.ROLES} == {
        role: set(permissions) for role, permissions in roles.ROLES.items()
    }


def test_a_permission_that_was_taken_away_stays_away_and_one_that_was_added_stays() -> None:
    taken = ["datasets_app.export_dataset", "annotations_app.export_annotation"]
    added = "datasets_app.view_auditevent"
    group = Group.objects.get(name="curator")
    group.permissions.remove(*map(permission, taken))
    group.permissions.add(permission(added))
    for _ in range(2):
        call_command("migrate", verbosity=0)
    assert names("curator") == set(roles.ROLES["curator"]) - set(taken) | {added}


def test_a_permission_that_a_later_version_brings_arrives_once() -> None:
    group = Group.objects.get(name="curator")
    group.permissions.remove(permission("datasets_app.import_dataset"))
    new = ("annotations_app.add_annotation", "datasets_app.check_dataset")
    for name in new:  # as if it had never been: migrating makes it
        permission(name).delete()
    call_command("migrate", verbosity=0)
    assert names("curator") == set(roles.ROLES["curator"]) - {"datasets_app.import_dataset"}
    group.permissions.remove(permission(new[0]))
    call_command("migrate", verbosity=0)
    assert new[0] not in names("curator")


def test_a_group_that_was_deleted_is_made_again_whole() -> None:
    Group.objects.get(name="viewer").delete()
    call_command("migrate", verbosity=0)
    assert names("viewer") == set(roles.ROLES["viewer"])


def test_a_database_that_has_no_tables_yet_has_no_permissions() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET search_path TO pg_temp")
    try:
        roles.snapshot_permissions()
        assert roles._last_permission_before["default"] == 0
    finally:
        connection.close()
