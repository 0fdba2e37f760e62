"""During an upgrade, processes of the version before work on a database that the new one has migrated
(docs/backup.md). So migrations only add: what processes no longer use is removed one version later."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.test import Client
from django.urls import reverse

from alignmenter_site.monitoring import health
from datasets_app.backups.manifest import build_manifest, check_manifest
from datasets_app.models import AuditEvent, Dataset
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.retention import apply, erase_session
from tests.conftest import as_owner
from tests.factories import make_dataset, make_sessions

# The last migrations of the version that began this.
LAST_FREE = {"datasets_app": "0001", "annotations_app": "0001"}
# Migrations that the version before can't work with: CHANGELOG.md must tell people to stop it.
WITH_DOWNTIME: set[tuple[str, str]] = set()
_REMOVING = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def test_migrations_only_add() -> None:
    found = {
        key: faults
        for key, migration in MigrationLoader(None).disk_migrations.items()
        if key[0] in LAST_FREE and key[1][:4] > LAST_FREE[key[0]] and key not in WITH_DOWNTIME
        if (faults := find_faults(migration))
    }
    assert not found, "give columns a db_default; remove what is unused one version later"


def find_faults(migration: Any) -> list[str]:
    made = {
        operation.name.lower()
        for operation in migration.operations
        if isinstance(operation, migrations.CreateModel)
    }
    faults = [operation.describe() for operation in migration.operations if isinstance(operation, _REMOVING)]
    for operation in migration.operations:
        if isinstance(operation, migrations.AddField) and operation.model_name.lower() not in made:
            field = operation.field
            if not (field.null or field.has_db_default() or isinstance(field, models.ManyToManyField)):
                faults.append(operation.describe())
    return faults


def test_the_rule_finds_what_the_version_before_cannot_work_with() -> None:
    class Later(migrations.Migration):
        operations = [
            migrations.CreateModel("New", [("id", models.AutoField(primary_key=True))]),
            migrations.AddField("new", "text", models.TextField()),
            migrations.AddField("dataset", "empty", models.TextField(null=True)),
            migrations.AddField("dataset", "defaulted", models.TextField(db_default="")),
            migrations.AddField("dataset", "filled", models.TextField(default="")),
            migrations.RemoveField("dataset", "license"),
        ]

    assert find_faults(Later) == ["Remove field license from dataset", "Add field filled to dataset"]


@pytest.mark.django_db(transaction=True)
def test_a_database_with_the_migrations_that_were_put_together_goes_on() -> None:
    on_disk = MigrationLoader(None).disk_migrations
    together = {key: one.replaces for key, one in on_disk.items() if key[0] in LAST_FREE and one.replaces}
    assert [name for _, name in sorted(together)] == ["0001_squashed_0005", "0001_squashed_0037"]
    with as_owner() as cursor:
        for app, name in together:
            cursor.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", [app, name])
        for before in together.values():
            cursor.executemany(
                "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", before
            )
    assert len(health.list_missing_migrations()) == len(together)
    call_command("migrate", verbosity=0)
    assert health.list_missing_migrations() == []
    before = [".".join(one) for one in together["datasets_app", "0001_squashed_0037"]]
    check_manifest({**build_manifest(""), "migrations": before})


@pytest.fixture
def migrated_by_a_later_version(transactional_db: None) -> Iterator[None]:
    """Every table has a column that this version doesn't know, and there is a table and a migration more."""
    tables = [
        model._meta.db_table
        for model in connection.introspection.installed_models(connection.introspection.table_names())
        if model._meta.app_label in LAST_FREE
    ]
    with as_owner() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ADD COLUMN of_later_version integer NOT NULL DEFAULT 7")
        cursor.execute("CREATE TABLE datasets_app_of_later_version (id bigint)")
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('datasets_app', '9999_later', now())"
        )
    yield
    with as_owner() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE name = '9999_later'")
        cursor.execute("DROP TABLE datasets_app_of_later_version")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DROP COLUMN of_later_version")


def test_this_version_works_with_the_tables_of_a_later_one(
    migrated_by_a_later_version: None, tmp_path: Path, empty_queue: None
) -> None:
    assert health.list_missing_migrations() == []
    call_command("load_demo")
    dataset = make_dataset(tmp_path, make_sessions(3), origin="synthetic")
    release_dataset(dataset, folder=tmp_path, override="a test", actor=None)
    call_command("sanitize_dataset", "--dataset", "support", "--names", "builtin")
    call_command("export_dataset", "support", "--out", str(tmp_path / "out.jsonl"))
    erase_session.erase_session(dataset.sessions.get(session_id="s1"), "Request of 3 May")
    apply.apply_retention(dataset=Dataset.objects.get(name="support"), reason="Contract ended")
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert actions >= {"import", "release", "scrub", "export", "erase_session", "retention"}
    client = Client()
    client.force_login(User.objects.create(username="root", is_superuser=True, is_staff=True))
    demo = Dataset.objects.exclude(name="support").get()
    for address in (
        reverse("admin:index"),
        reverse("admin:datasets_app_dataset_change", args=[demo.pk]),
        reverse("admin:datasets_app_turn_changelist"),
        reverse("admin:annotations_app_campaign_changelist"),
    ):
        assert client.get(address).status_code == 200, address
