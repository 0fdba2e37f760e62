"""The default connection: statements that the ORM can't say, COPY, locks, the server's clock."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import connection
from django.utils import timezone
from psycopg import Copy


@contextmanager
def open_copy(query: Any) -> Iterator[Copy]:
    """A COPY on the current connection. Django wraps the errors of ``execute`` but not those of COPY."""
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(query) as copy:
        yield copy


def execute(sql: str, values: Any = None) -> int:
    """How many rows the statement changed or found."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)


def fetch_all(sql: str, values: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def fetch_column(sql: str, values: Any = None) -> list[Any]:
    """The first value of each row."""
    return [row[0] for row in fetch_all(sql, values)]


def fetch_one(sql: str, values: Any = None) -> Any:
    """The first row, or None."""
    return next(iter(fetch_all(sql, values)), None)


def fetch_value(sql: str, values: Any = None) -> Any:
    """The first value of the first row."""
    return fetch_all(sql, values)[0][0]


# Any number: the first half of the lock's name, the second is the person.
_PERSON_LOCK = 7_203_012


def lock_person(user: Any) -> None:
    """Make requests of one person wait for each other, so that a count holds until the row is added."""
    execute("SELECT pg_advisory_xact_lock(%s, %s)", [_PERSON_LOCK, user.pk])


class ConnectionLock:
    """Held until it is released or the connection ends, with the process. ``area`` is the first half of
    PostgreSQL's advisory lock, a primary key the second."""

    def __init__(self, area: int, key: int) -> None:
        self._key = [area, key % (1 << 31)]

    def take(self) -> bool:
        """Whether nobody else has it."""
        return bool(fetch_value("SELECT pg_try_advisory_lock(%s, %s)", self._key))

    def release(self) -> None:
        # With a connection that has gone away, so has the lock.
        with suppress(Exception):
            execute("SELECT pg_advisory_unlock(%s, %s)", self._key)


def measure_clock_difference() -> float:
    """In seconds."""
    return abs(float((timezone.now() - fetch_value("SELECT clock_timestamp()")).total_seconds()))
