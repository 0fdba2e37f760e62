"""Django's PostgreSQL backend, which can start the embedded server when it first needs it."""

from pathlib import Path
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from alignmenter_site.embedded import ensure_postgres


class DatabaseWrapper(base.DatabaseWrapper):
    """The stock backend, unless the database's settings have EMBEDDED_VAR_DIR.

    The server starts with the first connection, so that a command that needs no database starts none.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        var_dir = self.settings_dict.get("EMBEDDED_VAR_DIR")
        if not var_dir:
            return super().get_new_connection(conn_params)
        ensure_postgres(Path(var_dir))
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError:
            # It may have been killed since, and its keeper with it.
            ensure_postgres(Path(var_dir), recheck=True)
            return super().get_new_connection(conn_params)
