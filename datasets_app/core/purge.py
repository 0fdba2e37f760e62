"""After a scrub or a deletion: what PostgreSQL still keeps of the text that is gone goes from the disk.

An UPDATE or a DELETE leaves the old version of a row in the table's file, values in the planner's
statistics, and both in the write-ahead log. See docs/decisions/0006-remove-old-row-versions.md.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection
from psycopg.conninfo import make_conninfo

from alignmenter_site import embedded
from datasets_app import hooks
from datasets_app.core.progress import ProgressCallback, ignore_progress

log = logging.getLogger(__name__)

# Rows that held raw text, or said something of it.
SCRUB_TABLES = (
    "datasets_app_turn",
    "datasets_app_session",
    "datasets_app_scrubfinding",
    "datasets_app_checkfinding",
    "datasets_app_checkreport",
    "datasets_app_jobfile",
    "datasets_app_jobrun",
    "datasets_app_sourcefile",
    "datasets_app_dataset",
)
# What else goes with a session or with a whole dataset, and may have held what people wrote.
DELETION_TABLES = (
    *SCRUB_TABLES,
    "datasets_app_scrubmark",
    "datasets_app_scrubrun",
    "datasets_app_release",
    "datasets_app_releasefile",
    "datasets_app_sharingreview",
)
# The planner's statistics repeat the commonest values. Last: rewriting the others renews them.
STATISTICS_TABLES = ("pg_catalog.pg_statistic", "pg_catalog.pg_statistic_ext_data")

LOCK_TIMEOUT = timedelta(seconds=5)
MAX_LOCK_TRIES = 5
MAX_SNAPSHOT_WAIT_SECONDS = 30.0
MAX_WAL_TRIES = 3
MAX_WAL_FILES = 1000

# Transactions that may still see row versions older than ours; while there is one, they can't go.
_OLDER_TRANSACTIONS = """
SELECT count(*) FROM (
    SELECT greatest(age(backend_xmin), age(backend_xid)) AS years FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
    UNION ALL SELECT age(transaction) FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL SELECT greatest(age(xmin), age(catalog_xmin)) FROM pg_replication_slots
) others WHERE years >= age(%s::text::xid)
"""
# ANALYZE of a table without rows leaves what was known of it before; this is known since version 18.
_CLEAR_STATISTICS = """
SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats
WHERE schemaname = current_schema() AND tablename IN (
    SELECT %(table)s UNION ALL SELECT indexname FROM pg_indexes WHERE tablename = %(table)s
)
"""
_COUNT_OTHER_WAL = """
SELECT count(*) FROM pg_ls_waldir()
WHERE name ~ '^[0-9A-F]{24}$' AND name <> pg_walfile_name(pg_current_wal_lsn())
"""


def remove_traces(report_progress: ProgressCallback = ignore_progress, *, deleted: bool = False) -> list[str]:
    """Rewrite the tables that held raw text, and have old logs removed. Never raises for what can't be done:
    that is said in the sentences returned; none means that nothing is left.

    After a scrub that is the tables of texts; with ``deleted`` all that sessions were deleted from.

    To be called outside a transaction. ``report_progress`` is called with (0, None) now and then.
    """
    if connection.in_atomic_block:
        return ["Old versions of the rows are still on the disk: this ran within a transaction."]
    try:
        tables = _list_deletion_tables() if deleted else _list_scrub_tables()
        left = [*_wait_for_older_transactions(report_progress), *_rewrite_tables(tables, report_progress)]
        return [*left, *_remove_old_logs()]
    except (DatabaseError, psycopg.Error) as error:
        log.warning("old row versions could not be removed: %s", type(error).__name__)
        connection.close()
        return [
            "Old versions of the rows may still be on the disk: the database did not allow to remove them."
        ]


# --- tables ----------------------------------------------------------------------------------------


def _wait_for_older_transactions(report_progress: ProgressCallback) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::xid::text")
        ours = cursor.fetchone()[0]
        deadline = time.monotonic() + MAX_SNAPSHOT_WAIT_SECONDS
        while True:
            cursor.execute(_OLDER_TRANSACTIONS, [ours])
            if not cursor.fetchone()[0]:
                return []
            if time.monotonic() > deadline:
                return [
                    "Old versions of the rows are still on the disk: a transaction that began before the "
                    "work ended is still open. Once it has ended, VACUUM (FULL) of the tables removes them."
                ]
            report_progress(0, None)
            time.sleep(0.2)


def _list_scrub_tables() -> list[str]:
    return [*SCRUB_TABLES, *(table for part in hooks.scrub_hooks for table in part.tables)]


def _list_deletion_tables() -> list[str]:
    beside = [table for part in hooks.deletion_hooks for table in part.tables]
    return list(dict.fromkeys([*DELETION_TABLES, *beside]))


def _rewrite_tables(tables: list[str], report_progress: ProgressCallback) -> list[str]:
    kept = []
    for table in (*tables, *STATISTICS_TABLES):
        if table == STATISTICS_TABLES[0]:
            _clear_empty_statistics(tables)
        report_progress(0, None)
        if not _rewrite_table(table):
            kept.append(table.removeprefix("pg_catalog."))
    if not kept:
        return []
    return [
        f"Old versions of rows of {', '.join(kept)} are still on the disk: the database did not allow to "
        "rewrite them, or others would not let go. VACUUM (FULL) by its administrator removes them."
    ]


def _rewrite_table(table: str) -> bool:
    """Told by the table's file, which is another afterwards: a refusal may be no more than a warning."""
    for _ in range(MAX_LOCK_TRIES):
        before = _table_filenode(table)
        with suppress(DatabaseError), connection.cursor() as cursor, _lock_timeout(cursor):
            # Not as a parameter: it is no value. The names are those above.
            analyze = "" if table in STATISTICS_TABLES else ", ANALYZE"
            cursor.execute(f"VACUUM (FULL{analyze}) {table}")
        if _table_filenode(table) != before:
            return True
    return False


def _clear_empty_statistics(tables: list[str]) -> None:
    """Of tables that hold nothing any more, the planner forgets what they held."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT EXISTS (SELECT FROM {table})")
            if not cursor.fetchone()[0]:
                with suppress(DatabaseError):
                    cursor.execute(_CLEAR_STATISTICS, {"table": table})


def _table_filenode(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_filenode(%s::regclass)", [table])
        return int(cursor.fetchone()[0])


@contextmanager
def _lock_timeout(cursor: Any) -> Iterator[None]:
    cursor.execute(f"SET lock_timeout = {int(LOCK_TIMEOUT.total_seconds() * 1000)}")
    try:
        yield
    finally:
        cursor.execute("RESET lock_timeout")


# --- write-ahead log -------------------------------------------------------------------------------


def _remove_old_logs() -> list[str]:
    try:
        with _open_admin_cursor() as cursor:
            if _remove_logs(cursor):
                return []
            return [
                "Old write-ahead logs are still on the disk: the server keeps them (archiving, replication, "
                "wal_recycle or wal_keep_size). They go as it needs them no more."
            ]
    except (DatabaseError, psycopg.Error):
        return [
            "Old write-ahead logs of the database server are still on its disk: the application's role may "
            "not have them removed. They go by themselves in time; CHECKPOINT by an administrator hastens it."
        ]


@contextmanager
def _open_admin_cursor() -> Iterator[Any]:
    """A cursor of the embedded server's administrator; of the application's own role anywhere else."""
    own = connection.settings_dict
    administrator = embedded.admin_role(settings.VAR_DIR, str(own["HOST"]))
    if administrator is None:
        with connection.cursor() as cursor:
            yield cursor
        return
    place = make_conninfo(host=str(own["HOST"]), user=administrator, dbname=str(own["NAME"]))
    with psycopg.connect(place, autocommit=True) as session, session.cursor() as cursor:
        yield cursor


def _remove_logs(cursor: Any) -> bool:
    """Begin a new file, and have the server forget the ones before it; also those kept for further use,
    which hold what was in them."""
    fewest, in_vain = MAX_WAL_FILES, 0
    while in_vain < MAX_WAL_TRIES:
        cursor.execute("SELECT pg_logical_emit_message(true, '', '')")
        cursor.execute("SELECT pg_switch_wal()")
        cursor.execute("CHECKPOINT")
        cursor.execute(_COUNT_OTHER_WAL)
        left = int(cursor.fetchone()[0])
        if not left:
            return True
        in_vain = 0 if left < fewest else in_vain + 1
        fewest = min(fewest, left)
    return False
