"""Answer 503 while the database can't be reached, also on pages that could be shown without it.

A sign-in page that nobody can use would tell people, and what watches the server, that all is well.
"""

from typing import Any

from django.db import connection
from django.http import HttpRequest

from alignmenter_site.middleware.base import Middleware


class DatabaseRequiredMiddleware(Middleware):
    """Views with ``needs_no_database`` are served without it."""

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        if not getattr(view, "needs_no_database", False):
            # Connects, or asks whether the connection still works, which the first query would do.
            connection.cursor().close()
