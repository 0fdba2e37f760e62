"""The programs of PostgreSQL that dump and load a database, and how they connect."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import IsolationLevel
from psycopg.conninfo import make_conninfo

from alignmenter_site import embedded
from alignmenter_site.embedded.postgres import find_binaries_dir
from datasets_app.core.errors import UserError

# Options of Django's backend, not of libpq.
_DJANGO_OPTIONS = {"assume_role", "isolation_level", "server_side_binding", "pool"}
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


class Server(NamedTuple):
    """``parameters`` are libpq's; ``binaries`` is a folder with programs that know this version of server.

    ``tls_library`` is a libpq for programs whose own can't encrypt.
    """

    parameters: dict[str, Any]
    binaries: Path
    tls_library: str = ""

    def command(self, program: str, *options: str) -> list[str]:
        """The password isn't in the command, which others could see: it is in :meth:`environment`."""
        place = make_conninfo(
            **{name: value for name, value in self.parameters.items() if name != "password"}
        )
        return [str(self.binaries / program), *options, f"--dbname={place}"]

    def environment(self) -> dict[str, str]:
        """Without the variables by which libpq would look for another server."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        kept |= {"LC_ALL": "C", "PGPASSWORD": str(self.parameters.get("password", ""))}
        return {**kept, "LD_PRELOAD": self.tls_library} if self.tls_library else kept


def find_server(role: str) -> Server:
    """The application's database, as the role that may read all of it ("BACKUP") or owns it ("OWNER").

    Raises :class:`UserError` if it can't be reached, or no client programs of its version are installed.
    """
    database = connection.settings_dict
    if var := database.get("EMBEDDED_VAR_DIR"):
        embedded.ensure_postgres(Path(var))
    own = (settings.BACKUP_DATABASE or {}) if role == "BACKUP" else {}
    owner = database.get("OWNER") or {}
    given = {**database, **(own or owner)}
    options = {name: value for name, value in given.get("OPTIONS", {}).items() if name not in _DJANGO_OPTIONS}
    parameters = {
        "host": given["HOST"],
        "port": given["PORT"],
        "user": given["USER"],
        "password": given["PASSWORD"],
        "dbname": database["NAME"],
        **options,
    }
    parameters = {name: value for name, value in parameters.items() if value}
    try:
        with psycopg.connect(**parameters) as session:
            major = session.info.server_version // 10000
            encrypted = session.pgconn.ssl_in_use
    except psycopg.OperationalError:
        prefix = "ALIGNMENTER_BACKUP_" if own else "ALIGNMENTER_OWNER_" if owner else ""
        raise UserError(
            f"The database can't be reached with the address in {prefix}DATABASE_URL. Start it, or correct "
            "host, name, password or certificates."
        ) from None
    binaries = _find_programs(major, is_embedded=bool(var))
    # The programs that are installed with the application are built without TLS.
    needs_library = encrypted and binaries == find_binaries_dir()
    return Server(parameters, binaries, _find_tls_library(major) if needs_library else "")


def _find_programs(major: int, *, is_embedded: bool) -> Path:
    """Those of the server's own version first; newer ones can read an older server."""
    installed = find_binaries_dir()
    if is_embedded:
        return installed
    found: dict[Path, int] = {}
    if on_path := shutil.which("pg_dump"):
        found[Path(on_path).parent] = _read_version(Path(on_path))
    found[installed] = _read_version(installed / "pg_dump")
    fitting = {folder: version for folder, version in found.items() if version >= major}
    if not fitting:
        raise UserError(
            f"The database server is PostgreSQL {major}, and the newest pg_dump here is of version "
            f"{max(found.values())}, which can't read it. Install the client programs of PostgreSQL {major} "
            "and put them on PATH."
        )
    return min(fitting, key=lambda folder: fitting[folder])


def _read_version(program: Path) -> int:
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = _VERSION.search(shown.stdout)
    return int(version[1]) if version else 0


def _find_tls_library(major: int) -> str:
    """The libpq of psycopg's own package, which the same programs can use on Linux."""
    spec = importlib.util.find_spec("psycopg_binary")
    folders = [Path(f"{place}.libs") for place in (spec and spec.submodule_search_locations) or []]
    found = [str(path) for folder in folders for path in folder.glob("libpq-*.so*")]
    if sys.platform != "linux" or not found:
        raise UserError(
            "The connection to the database is encrypted, and the pg_dump installed with the application "
            f"can't encrypt. Install the client programs of PostgreSQL {major} and put them on PATH."
        )
    return found[0]


class Snapshot(NamedTuple):
    """A moment of the database, which pg_dump and queries of ``session`` see together."""

    session: psycopg.Connection[tuple[Any, ...]]
    name: str
    schema: str


@contextmanager
def open_snapshot(server: Server) -> Iterator[Snapshot]:
    with psycopg.connect(**server.parameters) as session:
        session.isolation_level = IsolationLevel.REPEATABLE_READ
        session.read_only = True
        row = session.execute("SELECT pg_export_snapshot(), current_schema()").fetchone()
        assert row is not None
        yield Snapshot(session, *row)
