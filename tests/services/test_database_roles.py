"""The application's database role can add audit events and read them, but not change the audit log."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from alignmenter_site import embedded
from alignmenter_site.postgresql.roles import RESTRICTED_TABLES, grant_privileges
from datasets_app.auditing.verify_audit import verify_audit
from datasets_app.core import audit
from datasets_app.models import AuditEvent
from tests.conftest import as_owner

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("OWNER" not in connection.settings_dict, reason="this server has one role"),
]
EVENTS, SEALS = "datasets_app_auditevent", "datasets_app_auditseal"
UNSEALED = "datasets_app_audit_unsealed"
REFUSED = (
    *(f"DELETE FROM {table}" for table in RESTRICTED_TABLES),
    *(f"TRUNCATE {table}" for table in RESTRICTED_TABLES),
    *(f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in RESTRICTED_TABLES),
    *(f"ALTER TABLE {table} OWNER TO CURRENT_USER" for table in RESTRICTED_TABLES),
    *(f"DROP TABLE {table} CASCADE" for table in RESTRICTED_TABLES),
    f"UPDATE {EVENTS} SET actor = 'nobody'",
    f"UPDATE {SEALS} SET digest = repeat('a', 64)",
    f"INSERT INTO {SEALS} VALUES (99, 99, 'a', 'b')",
    f"INSERT INTO {UNSEALED} VALUES (1)",
    f"SELECT * FROM {UNSEALED}",
    f"CREATE TRIGGER t BEFORE INSERT ON {EVENTS} EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    f"CREATE RULE r AS ON INSERT TO {EVENTS} DO INSTEAD NOTHING",
    f"ALTER TABLE {EVENTS} ENABLE ROW LEVEL SECURITY",
    "SELECT datasets_app_seal_audit_event(1)",
    "SELECT setval('datasets_app_auditevent_id_seq', 1)",
    "CREATE OR REPLACE FUNCTION datasets_app_audit_event_seal() RETURNS trigger LANGUAGE plpgsql"
    " AS 'BEGIN RETURN NULL; END'",
    "CREATE OR REPLACE FUNCTION datasets_app_audit_event_is_append_only() RETURNS trigger LANGUAGE plpgsql"
    " AS 'BEGIN RETURN NULL; END'",
    "ALTER FUNCTION datasets_app_seal_audit_event(bigint) SECURITY INVOKER",
    "CREATE TABLE shadow (id int)",
    "CREATE SCHEMA alignmenter",
    "SET session_replication_role = replica",
    "SET ROLE alignmenter_owner",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION alignmenter_owner",
    "ALTER ROLE alignmenter SUPERUSER",
    "GRANT alignmenter_owner TO alignmenter",
    "CREATE ROLE other",
    "CREATE DATABASE other",
    "ALTER DATABASE {database} OWNER TO alignmenter",
    "COPY datasets_app_dataset TO PROGRAM 'true'",
)


@pytest.fixture
def session() -> Iterator[psycopg.Connection[Any]]:
    """A session as the application has it, from the first to the last."""
    name = str(connection.settings_dict["NAME"])
    host = str(connection.settings_dict["HOST"])
    with psycopg.connect(host=host, dbname=name, user=embedded.ROLE, autocommit=True) as session:
        yield session


def test_the_applications_role_can_not_change_the_audit_log(session: psycopg.Connection[Any]) -> None:
    for number in range(3):
        audit.record("probe", actor=None, number=number)
    before = verify_audit()
    permitted = []
    for statement in REFUSED:
        try:
            session.execute(statement.replace("{database}", session.info.dbname).encode())
            permitted.append(statement)
        except psycopg.errors.InsufficientPrivilege:
            pass
    assert not permitted
    # PostgreSQL only warns that a role has nothing to grant.
    for table in (EVENTS, SEALS):
        session.execute(f"GRANT ALL ON {table} TO CURRENT_USER".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(f"DELETE FROM {table}".encode())
    assert verify_audit() == before
    assert (before.events, before.fault_count) == (AuditEvent.objects.count(), 0)


def test_functions_that_a_restore_made_are_not_for_everyone(session: psycopg.Connection[Any]) -> None:
    audit.record("probe", actor=None)
    seal = b"SELECT datasets_app_seal_audit_event(max(id)) FROM datasets_app_auditevent"
    with as_owner() as cursor:
        cursor.execute("GRANT EXECUTE ON FUNCTION datasets_app_seal_audit_event(bigint) TO PUBLIC")
        grant_privileges(connection, embedded.ROLE)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(seal)


def test_a_temporary_table_does_not_divert_the_seals(session: psycopg.Connection[Any]) -> None:
    session.execute(f"CREATE TEMPORARY TABLE {SEALS} (LIKE {SEALS})".encode())
    columns, values = "actor, action, dataset_name, details", "'a', 'probe', '', '{}'"
    session.execute(f"INSERT INTO {EVENTS} ({columns}) VALUES ({values})".encode())
    assert session.execute(f"SELECT count(*) FROM pg_temp.{SEALS}".encode()).fetchone() == (0,)
    assert (verify_audit().events, verify_audit().fault_count) == (1, 0)


@pytest.mark.parametrize("at", ["now() - interval '1 month'", "now() + interval '1 month'"])
def test_an_event_added_in_sql_can_not_pretend_to_be_of_another_day(
    session: psycopg.Connection[Any], at: str
) -> None:
    audit.record("probe", actor=None)
    columns, values = (
        "at, actor, action, dataset_name, details",
        f"{at}, 'ben', 'approve_request', '', '{{}}'",
    )
    session.execute(f"INSERT INTO {EVENTS} ({columns}) VALUES ({values})".encode())
    audit.record("probe", actor=None)
    [fault] = verify_audit().faults
    assert (fault.position, "doesn't fit those around it" in fault.message) == (2, True)


def test_migrate_separates_the_roles_of_an_earlier_version(session: psycopg.Connection[Any]) -> None:
    """The test database was created by the application's role, which had done everything until then."""
    owners = session.execute(
        "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " UNION SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()"
    )
    assert owners.fetchall() == [(embedded.OWNER_ROLE,)]
    attributes = "rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls"
    role = session.execute(f"SELECT {attributes} FROM pg_roles WHERE rolname = current_user".encode())
    assert role.fetchall() == [(False,) * 5]


def test_migrate_says_what_to_do_with_tables_of_others() -> None:
    host, name = (str(connection.settings_dict[key]) for key in ("HOST", "NAME"))
    with psycopg.connect(
        host=host, dbname=name, user=embedded.ADMINISTRATOR, autocommit=True
    ) as administrator:
        administrator.execute("CREATE TABLE stray ()")
        try:
            with pytest.raises(CommandError, match="REASSIGN OWNED BY postgres TO alignmenter_owner"):
                call_command("migrate", verbosity=0)
        finally:
            administrator.execute("DROP TABLE stray")
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == (embedded.ROLE,)
