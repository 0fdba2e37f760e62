"""Removes from the disk what PostgreSQL keeps of scrubbed or deleted text.

An UPDATE or DELETE leaves the old row version in the table's file, values in the planner's statistics, and
both in the write-ahead log. See docs/decisions/0006-remove-old-row-versions.md.
"""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db import DatabaseError, connection

from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.queries import execute, fetch_value
from datasets_app.models.session_data import list_tables

log = logging.getLogger(__name__)

# The planner's statistics contain the most common values. Rewritten last, since the others update them.
STATISTICS_TABLES = ("pg_catalog.pg_statistic", "pg_catalog.pg_statistic_ext_data")

LOCK_TIMEOUT = timedelta(seconds=5)
MAX_LOCK_TRIES = 5
MAX_SNAPSHOT_WAIT_SECONDS = 30.0
MAX_WAL_TRIES = 3
MAX_WAL_FILES = 1000

# Transactions that may still see old row versions, which prevents their removal.
_OLDER_TRANSACTIONS = """
SELECT count(*) FROM (
    SELECT greatest(age(backend_xmin), age(backend_xid)) AS years FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
    UNION ALL SELECT age(transaction) FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL SELECT greatest(age(xmin), age(catalog_xmin)) FROM pg_replication_slots
) others WHERE years >= age(%s::text::xid)
"""
# ANALYZE keeps the old statistics of an empty table. Needs PostgreSQL 18. The view pg_stats would show those
# of indexes to the tables' owner only.
_CLEAR_STATISTICS = """
SELECT pg_clear_attribute_stats(current_schema(), relname, attname, inherited)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
CROSS JOIN (VALUES (false), (true)) AS kinds (inherited)
WHERE attnum > 0 AND NOT attisdropped AND pg_class.oid IN (
    SELECT %(table)s::regclass UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = %(table)s::regclass
)
"""
_COUNT_OTHER_WAL = """
SELECT count(*) FROM pg_ls_waldir()
WHERE name ~ '^[0-9A-F]{24}$' AND name <> pg_walfile_name(pg_current_wal_lsn())
"""


def remove_traces(
    report_progress: ProgressCallback = ignore_progress, *, partitions: Iterable[str], deleted: bool = False
) -> list[str]:
    """Rewrite the tables with old row versions and remove old write-ahead logs.

    Returns a message for everything that couldn't be removed. Rewrites the ``partitions`` of the changed
    datasets and the tables that a scrub changes, or with ``deleted`` all tables that a deletion changes. Call
    it outside a transaction. Calls ``report_progress`` with (0, None) from time to time.
    """
    if connection.in_atomic_block:
        return ["Old row versions are still on the disk: they can't be removed within a transaction."]
    try:
        tables = [*partitions, *list_tables(deleted=deleted)]
        left = [*_wait_for_older_transactions(report_progress), *_rewrite_tables(tables, report_progress)]
        return [*left, *_remove_old_logs()]
    except DatabaseError as error:
        log.warning("old row versions could not be removed: %s", type(error).__name__)
        connection.close()
        return ["Old row versions may still be on the disk: the database refused to remove them."]


# --- tables ----------------------------------------------------------------------------------------


def _wait_for_older_transactions(report_progress: ProgressCallback) -> list[str]:
    ours = fetch_value("SELECT pg_current_xact_id()::xid::text")
    deadline = time.monotonic() + MAX_SNAPSHOT_WAIT_SECONDS
    while fetch_value(_OLDER_TRANSACTIONS, [ours]):
        if time.monotonic() > deadline:
            return [
                "Old row versions are still on the disk: an older transaction is still open. When it has "
                "ended, run VACUUM (FULL) on the tables to remove them."
            ]
        report_progress(0, None)
        time.sleep(0.2)
    return []


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
        f"Old row versions of {', '.join(kept)} are still on the disk: the database refused to rewrite these "
        "tables, or other sessions held locks on them. Ask its administrator to run VACUUM (FULL)."
    ]


def _rewrite_table(table: str) -> bool:
    """Whether VACUUM has replaced the table's file; a refusal may show only as a warning."""
    for _ in range(MAX_LOCK_TRIES):
        before = _table_filenode(table)
        with suppress(DatabaseError), _lock_timeout():
            # A table name can't be a parameter; these come from the code, not from users.
            analyze = "" if table in STATISTICS_TABLES else ", ANALYZE"
            execute(f"VACUUM (FULL{analyze}) {table}")
        if _table_filenode(table) != before:
            return True
    return False


def _clear_empty_statistics(tables: list[str]) -> None:
    """Clear the planner's statistics of empty tables."""
    for table in tables:
        if not fetch_value(f"SELECT EXISTS (SELECT FROM {table})"):  # a table's name, from the code # nosec B608
            with suppress(DatabaseError):
                execute(_CLEAR_STATISTICS, {"table": table})


def _table_filenode(table: str) -> int:
    return int(fetch_value("SELECT pg_relation_filenode(%s::regclass)", [table]))


@contextmanager
def _lock_timeout() -> Iterator[None]:
    execute(f"SET lock_timeout = {int(LOCK_TIMEOUT.total_seconds() * 1000)}")
    try:
        yield
    finally:
        execute("RESET lock_timeout")


# --- write-ahead log -------------------------------------------------------------------------------


def _remove_old_logs() -> list[str]:
    try:
        if _remove_logs():
            return []
        return [
            "Old write-ahead logs are still on the disk: the server keeps them (archiving, replication, "
            "wal_recycle or wal_keep_size) until it needs them no longer."
        ]
    except DatabaseError:
        return [
            "Old write-ahead logs are still on the database server's disk: the application's role can't "
            "remove them. The server removes them in time; an administrator can run CHECKPOINT to hurry it."
        ]


def _remove_logs() -> bool:
    """Switch to new log files until the server has removed all older ones, including those that it keeps
    for reuse, which still have their contents."""
    fewest, failures = MAX_WAL_FILES, 0
    while failures < MAX_WAL_TRIES:
        execute("SELECT pg_logical_emit_message(true, '', '')")
        execute("SELECT pg_switch_wal()")
        execute("CHECKPOINT")
        left = fetch_value(_COUNT_OTHER_WAL)
        if not left:
            return True
        failures = 0 if left < fewest else failures + 1
        fewest = min(fewest, left)
    return False
