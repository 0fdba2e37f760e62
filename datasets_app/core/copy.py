"""COPY, with the database's errors as Django's own: what goes wrong is told apart in one place."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from psycopg import Copy


@contextmanager
def open_copy(query: Any) -> Iterator[Copy]:
    """A COPY on the current connection; to be read from or written to within.

    Django wraps the errors of ``execute``, but knows nothing of COPY.
    """
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(query) as copy:
        yield copy
