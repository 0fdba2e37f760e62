"""PostgreSQL's COPY with Django's database exceptions, so that callers handle one set of errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from psycopg import Copy


@contextmanager
def open_copy(query: Any) -> Iterator[Copy]:
    """A COPY on the current connection. Django wraps the errors of ``execute`` but not those of COPY."""
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(query) as copy:
        yield copy
