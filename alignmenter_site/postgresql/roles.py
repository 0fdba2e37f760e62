"""Two database roles: the owner, who migrates, and the application's, which can't change the audit log.

``DATABASES`` names the application's role. Its entry ``OWNER`` has the connection parameters of the owner;
without it, one role does everything.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from alignmenter_site import embedded

# Tables that the application must not change at will; it may read and write all others. Seals are added by
# triggers, which work as the owner.
RESTRICTED_TABLES = {
    "datasets_app_auditevent": "SELECT, INSERT",
    "datasets_app_auditseal": "SELECT",
    "datasets_app_audit_unsealed": "",
    "django_migrations": "SELECT",
}
# They work as the owner of the tables for every caller.
_OWNERS_FUNCTIONS = """
    SELECT oid::regprocedure::text FROM pg_proc
    WHERE prosecdef AND pronamespace = current_schema()::regnamespace AND proowner = current_user::regrole
"""
# With these the application makes and removes partitions: as their owner, they change nothing else.
_PARTITION_FUNCTIONS = """
    SELECT oid::regprocedure::text FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace
      AND proname ~ '^datasets_app_(create|attach|empty|drop)_partition$'
"""
# For VACUUM (FULL), with which a scrub removes old row versions, and for ANALYZE.
_MAINTAIN_SINCE_VERSION = 170_000
_RELATIONS = """
    SELECT relname, relkind = 'S', relowner::regrole::text, pg_has_role(relowner, 'USAGE')
    FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S')
    ORDER BY relname
"""


class RolesError(Exception):
    """The message says what an administrator of the database server must do."""


def application_role(settings: dict[str, Any]) -> str:
    """The role as which the application works."""
    return str(settings.get("OPTIONS", {}).get("assume_role") or settings["USER"])


@contextmanager
def connect_as_owner(connection: Any) -> Iterator[None]:
    """Let Django's ``connection`` work as the owner; at the end, grant the application its rights.

    Raises :class:`RolesError` if the owner doesn't own all tables.
    """
    settings = connection.settings_dict
    if not (owner := settings.get("OWNER")):
        yield
        return
    role = application_role(settings)
    if settings.get("EMBEDDED_VAR_DIR"):
        _prepare_embedded_roles(connection, role, owner["USER"])
    connection.close()
    connection.settings_dict = {**settings, "OPTIONS": {}, **owner}
    try:
        _check_ownership(connection)
        grant_privileges(connection, role)
        yield
        grant_privileges(connection, role)
    finally:
        connection.close()
        connection.settings_dict = settings


def grant_privileges(connection: Any, role: str) -> None:
    """Grant ``role`` what the application needs, and revoke everything else. Only the owner can do this."""
    quote: Callable[[str], str] = connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema(), current_setting('server_version_num')::int")
        schema, version = cursor.fetchone()
        maintain = ", MAINTAIN" if version >= _MAINTAIN_SINCE_VERSION else ""
        cursor.execute(f"GRANT USAGE ON SCHEMA {quote(schema)} TO {quote(role)}")
        cursor.execute(f"REVOKE CREATE ON SCHEMA {quote(schema)} FROM PUBLIC, {quote(role)}")
        cursor.execute(_RELATIONS)
        for name, is_sequence, *_ in cursor.fetchall():
            target = f"{'SEQUENCE ' if is_sequence else ''}{quote(schema)}.{quote(name)}"
            everything = "USAGE, SELECT" if is_sequence else f"SELECT, INSERT, UPDATE, DELETE{maintain}"
            rights = RESTRICTED_TABLES.get(name, everything)
            if rights != everything:
                cursor.execute(f"REVOKE ALL ON {target} FROM PUBLIC, {quote(role)}")
            if rights:
                cursor.execute(f"GRANT {rights} ON {target} TO {quote(role)}")
        # Anyone may execute a function that is created, also by the restore of a backup.
        cursor.execute(_OWNERS_FUNCTIONS)
        for (signature,) in cursor.fetchall():
            cursor.execute(f"REVOKE EXECUTE ON FUNCTION {signature} FROM PUBLIC, {quote(role)}")
        cursor.execute(_PARTITION_FUNCTIONS)
        for (signature,) in cursor.fetchall():
            cursor.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO {quote(role)}")


def _check_ownership(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_RELATIONS)
        others = sorted({owner for _, _, owner, is_ours in cursor.fetchall() if not is_ours})
    if others:
        owner = connection.settings_dict["USER"]
        raise RolesError(
            f"Tables of the database belong to {', '.join(others)}, not to {owner}. As an administrator, run "
            f"in this database: REASSIGN OWNED BY {', '.join(others)} TO {owner}; then migrate again."
        )


# --- embedded server -------------------------------------------------------------------------------

_IS_OWNED_BY = "SELECT FROM pg_database WHERE datname = current_database() AND datdba = %s::regrole"
# The last lines are for removing what a scrub or a deletion leaves in statistics and write-ahead logs.
_PREPARE_ROLES = """
    ALTER ROLE {role} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    GRANT pg_checkpoint TO {role};
    GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO {role};
    GRANT MAINTAIN ON pg_statistic, pg_statistic_ext_data TO {role};
"""


def _prepare_embedded_roles(connection: Any, role: str, owner: str) -> None:
    """As the embedded server's administrator: separate the two roles in a cluster of an earlier version, and
    grant what only an administrator can."""
    settings = connection.settings_dict
    embedded.ensure_postgres(Path(settings["EMBEDDED_VAR_DIR"]))
    place = make_conninfo(host=settings["HOST"], user=embedded.ADMINISTRATOR, dbname=settings["NAME"])
    quote: Callable[[str], str] = connection.ops.quote_name
    with psycopg.connect(place) as session:
        # Two that migrate at once would both make the role.
        session.execute("SELECT pg_advisory_xact_lock(7203012)")
        if not session.execute("SELECT FROM pg_roles WHERE rolname = %s", [owner]).rowcount:
            session.execute(f"CREATE ROLE {quote(owner)} LOGIN CREATEDB".encode())
        if session.execute(_IS_OWNED_BY, [role]).rowcount:
            session.execute(f"REASSIGN OWNED BY {quote(role)} TO {quote(owner)}".encode())
        session.execute(_PREPARE_ROLES.format(role=quote(role)).encode())
