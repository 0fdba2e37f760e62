"""Statements of SQL that the ORM can't say, and their rows, on the default connection."""

from typing import Any

from django.db import connection


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
