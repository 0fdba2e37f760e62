"""Django's PostgreSQL backend, which can start the embedded server when it first needs it."""

from pathlib import Path
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from alignmenter_site.embedded import ensure_postgres

# Seconds until a connection without answers is given up: 30 + 3 × 10, on both ends.
KEEPALIVES = {"idle": 30, "interval": 10, "count": 3}
CLIENT_KEEPALIVES = {f"keepalives_{name}": value for name, value in KEEPALIVES.items()}
# Also while something is being sent; in milliseconds.
CLIENT_KEEPALIVES["tcp_user_timeout"] = 60_000
SERVER_KEEPALIVES = "; ".join(f"SET tcp_keepalives_{name} = {value}" for name, value in KEEPALIVES.items())


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

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        return params if self._is_local() else CLIENT_KEEPALIVES | params

    def init_connection_state(self) -> None:
        """The server ends the session of a machine that is cut off, and with it the locks that it holds.

        Otherwise it would notice after two hours, and the worker that resumes a job of that machine would
        wait."""
        super().init_connection_state()
        if not self._is_local():
            with self.connection.cursor() as cursor:
                cursor.execute(SERVER_KEEPALIVES)
            if not self.get_autocommit():
                self.connection.commit()

    def _is_local(self) -> bool:
        """Whether the server is reached through a Unix socket."""
        return str(self.settings_dict["HOST"])[:1] in ("", "/", "@")
