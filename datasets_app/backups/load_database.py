"""Loads a dump in one transaction, in place of everything that the schema holds.

pg_restore writes the dump as statements, psql executes them. Only once the whole backup was found to be
right is psql given the COMMIT: until then, nothing that others see has changed.
"""

import subprocess
import tempfile
from contextlib import suppress
from threading import Thread
from typing import IO, Any

from psycopg import sql

from datasets_app.backups.clients import Server
from datasets_app.core.errors import UserError

BLOCK_BYTES = 1 << 20
# Partitions and what else depends on a table are dropped with it.
_DROP_ALL = """
BEGIN;
SET client_min_messages = warning;
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT c.oid::regclass::text AS name FROM pg_class c
        WHERE relnamespace = '{schema}'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = c.oid AND deptype = 'e')
    LOOP
        EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', one.name);
    END LOOP;
    FOR one IN SELECT c.oid::regclass::text AS name FROM pg_class c
        WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'S'
    LOOP
        EXECUTE format('DROP SEQUENCE IF EXISTS %s CASCADE', one.name);
    END LOOP;
    FOR one IN SELECT p.oid::regprocedure::text AS name FROM pg_proc p
        WHERE pronamespace = '{schema}'::regnamespace
          AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
    LOOP
        EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', one.name);
    END LOOP;
END $$;
"""
# People who were removed since the backup was made must not be signed in for a moment.
_COMMIT = """
DELETE FROM {schema}.django_session;
COMMIT;
\\set ON_ERROR_STOP off
ANALYZE;
"""
# A setting that pg_restore writes for newer servers only.
_NEWER_SETTINGS = (b"SET transaction_timeout = 0;\n",)
MIN_TIMEOUT_VERSION = 17
_END_SECONDS = 5  # for a statement to end


class DatabaseLoader:
    """Feed it the parts of a dump, then call :meth:`commit`. Left without that, it has changed nothing."""

    def __init__(self, server: Server, schema: str, *, major: int) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by close)
        self._major = major
        self._schema = sql.Identifier(schema).as_string()
        # Errors of statements would quote rows, so only their codes are printed.
        self._psql = _start(
            server.command(
                "psql",
                *("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1"),
                "--set=VERBOSITY=sqlstate",
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env=server.environment(),
        )
        self._restore = _start(
            [
                str(server.binaries / "pg_restore"),
                # Another server may have no tablespaces of these names, or not for this role.
                *("--file=-", "--no-owner", "--no-privileges", "--no-tablespaces", f"--schema={schema}"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=server.environment(),
        )
        self._pump = Thread(target=self._copy_statements, args=(schema,), daemon=True)
        self._pump.start()

    def add_part(self, part: bytes) -> None:
        try:
            _pipe(self._restore.stdin).write(part)
        except BrokenPipeError:
            raise self._explain() from None

    def commit(self) -> None:
        """Raises :class:`UserError` if the database refused the dump; then it is as before."""
        try:
            _pipe(self._restore.stdin).close()
            self._pump.join()
            if self._restore.wait() != 0 or self._psql.poll() is not None:
                raise self._explain()
            _pipe(self._psql.stdin).write(_COMMIT.format(schema=self._schema).encode())
            _pipe(self._psql.stdin).close()
        except BrokenPipeError:
            raise self._explain() from None
        if self._psql.wait() != 0:
            raise self._explain()

    def close(self) -> None:
        """End what still runs; the server rolls back what was not committed."""
        self._restore.kill()
        self._restore.wait()
        self._pump.join(_END_SECONDS)
        if not self._pump.is_alive():
            # At the end of its input, psql ends its session; if it is killed, the server goes on for a while.
            _close_quietly(_pipe(self._psql.stdin))
            with suppress(subprocess.TimeoutExpired):
                self._psql.wait(_END_SECONDS)
        self._psql.kill()
        self._psql.wait()
        self._pump.join()
        for process in (self._restore, self._psql):
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close_quietly(stream)
        self._errors.close()

    def __enter__(self) -> "DatabaseLoader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _copy_statements(self, schema: str) -> None:
        source, sink = _pipe(self._restore.stdout), _pipe(self._psql.stdin)
        try:
            sink.write(_DROP_ALL.format(schema=schema.replace("'", "''")).encode())
            head = source.read(BLOCK_BYTES)
            if self._major < MIN_TIMEOUT_VERSION:
                for setting in _NEWER_SETTINGS:
                    head = head.replace(setting, b"", 1)
            sink.write(head)
            while block := source.read(BLOCK_BYTES):
                sink.write(block)
            sink.flush()
        except (OSError, ValueError):  # psql has ended; its exit code and its error tell why
            _close_quietly(source)

    def _explain(self) -> UserError:
        self._psql.kill() if self._psql.poll() is None else None
        self._psql.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        codes = [line.rpartition("ERROR:")[2].strip() for line in lines if "ERROR:" in line]
        reason = f"SQLSTATE {codes[0]}" if codes else (lines or ["no reason given"])[-1]
        advice = ""
        if codes and codes[0] == "53200":
            advice = " Set max_locks_per_transaction = 1024 on the database server, restart it and try again."
        if codes and codes[0].startswith("42501"):
            advice = " The role must own the tables: set ALIGNMENTER_OWNER_DATABASE_URL."
        return UserError(f"The database refused the backup ({reason}); it is as before.{advice}")


def _start(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, **options)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _close_quietly(stream: IO[bytes]) -> None:
    with suppress(OSError, ValueError):
        stream.close()
