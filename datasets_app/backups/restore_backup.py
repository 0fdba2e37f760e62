"""Puts a backup in the place of what the database and the file storage hold.

The backup is read twice: once to see that all of it is right, which changes nothing, then to load it.
Whatever fails before the database commits leaves everything as it was. Afterwards, what was erased or deleted
since the backup was made is deleted again.
"""

import hashlib
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any, NamedTuple

import psycopg
from django.core.management import call_command
from django.db import connections, transaction
from django.utils import timezone
from psycopg import sql

from alignmenter_site.file_storage import BUCKET_SCHEME
from datasets_app.auditing.heads import heads_path
from datasets_app.backups.archive import Handlers, read_archive
from datasets_app.backups.clients import Server, find_server
from datasets_app.backups.manifest import check_manifest
from datasets_app.backups.stored_files import FileRestorer, clear_names
from datasets_app.backups.streams import decrypt_from
from datasets_app.core import audit, places
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, Tally, ignore_progress
from datasets_app.domain.wording import format_count
from datasets_app.models import JobRun
from datasets_app.retention.reapply_erasures import reapply_erasures

# Loads a dump in one transaction, in place of everything that the schema holds.
#
# pg_restore writes the dump as statements, psql executes them. Only once the whole backup was found to be
# right is psql given the COMMIT: until then, nothing that others see has changed.
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
_NEWER_SETTING = b"SET transaction_timeout = 0;\n"
MIN_TIMEOUT_VERSION = 17
_END_SECONDS = 5  # for a statement to end


class DatabaseLoader:
    """Feed it the parts of a dump, then call :meth:`commit`. Left without that, it has changed nothing."""

    def __init__(self, server: Server, schema: str, *, major: int) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by close)
        self._major = major
        self._schema = sql.Identifier(schema).as_string()
        # Errors of statements would quote rows, so only their codes are printed.
        self._psql = subprocess.Popen(
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
        self._restore = subprocess.Popen(
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
                head = head.replace(_NEWER_SETTING, b"", 1)
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


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _close_quietly(stream: IO[bytes]) -> None:
    with suppress(OSError, ValueError):
        stream.close()


class Verified(NamedTuple):
    """``parts``: the SHA-256 of each part of the dump."""

    manifest: dict[str, Any]
    contents: dict[str, Any]
    parts: list[bytes]


def verify_backup(place: str, identities: list[Any]) -> Verified:
    """Decrypt all of it, and compare it with its digests and its signature. Raises :class:`UserError`."""
    manifests: list[dict[str, Any]] = []
    parts: list[bytes] = []
    handlers = Handlers(
        manifest=manifests.append, part=lambda part: parts.append(hashlib.sha256(part).digest())
    )
    contents = read_backup(place, identities, handlers)
    return Verified(manifests[0], contents, parts)


def read_backup(place: str, identities: list[Any], handlers: Handlers) -> dict[str, Any]:
    """Pass on what is in it; returns its list of contents, once all of it was found to be right."""
    if not place.startswith(BUCKET_SCHEME) and not Path(place).is_file():
        raise UserError(f"There is no file {place}.")
    with places.open_place(place) as source, decrypt_from(source, identities) as stream:
        return read_archive(stream, handlers)


_OTHER_SESSIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_EXCHANGED = "The backup was exchanged while it was read. Restore it again."
# A row in one of these is work of people.
_TABLES_OF_WORK = ("auth_user", "datasets_app_dataset", "datasets_app_auditevent", "datasets_app_jobrun")


def load_backup(
    place: str,
    identities: list[Any],
    *,
    replace: bool = False,
    report_progress: ProgressCallback = ignore_progress,
) -> Verified:
    """Verify a backup, then load it. Raises :class:`UserError`, with everything as before, if the backup is
    wrong, if the application is running, or if there is data already and not ``replace``."""
    connections.close_all()  # this process must not wait for itself
    server = find_server("OWNER")
    with psycopg.connect(**server.parameters) as session:
        _refuse_if_in_use(session)
        if not replace:
            _refuse_if_filled(session)
        major = session.info.server_version // 10000
    verified = verify_backup(place, identities)
    check_manifest(verified.manifest)
    connections.close_all()
    _load(place, identities, verified, server, major, report_progress)
    call_command("migrate", interactive=False, verbosity=0)
    return verified


def _load(
    place: str,
    identities: list[Any],
    verified: Verified,
    server: Server,
    major: int,
    report_progress: ProgressCallback,
) -> None:
    files, verified_parts = FileRestorer(), iter(verified.parts)
    progress = Tally(report_progress, verified.contents["database_bytes"])

    def add_part(part: bytes) -> None:
        # Before the database executes any of it.
        if hashlib.sha256(part).digest() != next(verified_parts, None):
            raise UserError(_EXCHANGED)
        loader.add_part(part)
        progress.add(len(part))

    try:
        with DatabaseLoader(server, verified.manifest["schema"], major=major) as loader:
            contents = read_backup(place, identities, Handlers(file=files.store, part=add_part))
            if contents != verified.contents:
                raise UserError(_EXCHANGED)
            loader.commit()
    except BaseException:
        files.undo()
        raise
    files.finish()


def _refuse_if_in_use(session: psycopg.Connection[Any]) -> None:
    row = session.execute(_OTHER_SESSIONS).fetchone()
    if row and row[0]:
        raise UserError(
            f"The application is running: {format_count(row[0], 'other connection')} to the "
            f"database. Stop web "
            "servers, workers and schedulers on all machines, then restore again."
        )


def _refuse_if_filled(session: psycopg.Connection[Any]) -> None:
    for table in _TABLES_OF_WORK:
        found = session.execute("SELECT to_regclass(%s)", [table]).fetchone()
        if found and found[0] and session.execute(f"SELECT FROM {table} LIMIT 1".encode()).rowcount:
            raise UserError(
                "This installation has data, which a restore replaces: nothing was changed. To "
                "replace all of it with the backup, pass --replace."
            )


def finish_restore(
    verified: Verified,
    *,
    erasures: Path | None = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Bring a loaded backup up to date: delete again what was erased or deleted since, and record it.
    Safe to repeat."""
    clear_names(verified.contents["deleted"])
    unfinished = JobRun.objects.filter(operation="backup", state__in=["queued", "running"])
    unfinished.exclude(pk=job_run.pk if job_run else 0).update(state="cancelled", finished_at=timezone.now())
    erased = reapply_erasures(erasures, job_run=job_run, report_progress=report_progress)
    facts = {"made_at": verified.manifest["created_at"], **erased, "audit_heads": _put_heads_away()}
    with transaction.atomic():
        audit.record("restore", actor=None, **{name: value for name, value in facts.items() if value})
    return facts


def _put_heads_away() -> str:
    """Heads recorded after the backup was made are of events that it doesn't have: keep them, under another
    name. Returns that name."""
    path = heads_path()
    if not path.exists():
        return ""
    kept = path.with_name(f"{path.name}.before-restore-{timezone.now():%Y%m%dT%H%M%SZ}")
    path.rename(kept)
    return kept.name
