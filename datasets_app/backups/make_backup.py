"""Writes everything that the database and the file storage hold to one encrypted file.

All of it is as of one moment: the dump and the list of files are read in the same snapshot of the database,
and stored files never change.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Any, BinaryIO

import psycopg
from django.db import transaction
from django.utils import timezone

from datasets_app.backups import keys
from datasets_app.backups.archive import ArchiveWriter, WatchedSource
from datasets_app.backups.clients import Server, Snapshot, find_server, open_snapshot
from datasets_app.backups.manifest import build_manifest
from datasets_app.backups.stored_files import write_files
from datasets_app.backups.streams import DigestSink, encrypt_to
from datasets_app.core import audit, places
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, Tally, ignore_progress
from datasets_app.domain.wording import format_count

MAX_NAMES = 1_000


def make_backup(
    place: str,
    recipients: list[str],
    *,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Write a backup to ``place``, read it again and record it in the audit log. Progress is in bytes.

    Returns its name, size and digest, and counts. Raises :class:`UserError` if it can't be made, or if what
    is stored differs from what was written; then nothing is left at ``place``. Don't call it in a
    transaction.
    """
    public_keys = keys.read_recipients(recipients)
    server = find_server("BACKUP")
    progress = Tally(report_progress)
    with _explain_refusals(), places.create(place) as out:
        sink = DigestSink(out)
        with encrypt_to(sink, public_keys) as encrypted, open_snapshot(server) as snapshot:
            contents = _write_archive(encrypted, server, snapshot, progress)
    if places.hash_place(place) != (sink.hex, sink.size):
        places.delete(place)
        raise UserError(
            "The stored backup differs from what was written, so it was deleted. Check the storage."
        )
    facts = {
        "file": places.place_name(place),
        "bytes": sink.size,
        "sha256": sink.hex,
        **{name: contents[name] for name in ("files", "file_bytes", "database_bytes")},
        **{name: contents[name] for name in ("missing", "changed") if contents[name]},
        "recipients": recipients,
    }
    with transaction.atomic():
        audit.record("backup", actor=actor, **facts)
    return facts


def backup_name(now: datetime | None = None) -> str:
    """Names sort by time."""
    return f"alignmenter-{now or timezone.now():%Y%m%dT%H%M%S.%fZ}.age"


def _write_archive(out: BinaryIO, server: Server, snapshot: Snapshot, progress: Tally) -> dict[str, Any]:
    archive = ArchiveWriter(out)
    try:
        archive.write_manifest(build_manifest(snapshot.schema))
        # First, so that as little as possible is deleted meanwhile.
        absences = write_files(archive, snapshot, progress.add)
        with _dump(server, snapshot) as dump:
            counted = WatchedSource(dump, lambda data: progress.add(len(data)))
            archive.write_database(counted)  # type: ignore[arg-type]
        return archive.finish(absences)
    except BaseException:
        archive.abandon()
        raise


@contextmanager
def _dump(server: Server, snapshot: Snapshot) -> Iterator[IO[bytes]]:
    options = ["--format=custom", "--compress=1", "--no-password"]
    options += [f"--snapshot={snapshot.name}", f"--schema={snapshot.schema}"]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            server.command("pg_dump", *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=server.environment(),
        )
        assert process.stdout is not None
        try:
            yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            code = process.wait()
        if code != 0:
            errors.seek(0)
            raise UserError(_explain_dump(errors.read().decode(errors="replace")))


def _explain_dump(output: str) -> str:
    """pg_dump names tables and roles, and no values."""
    lines = [line.removeprefix("pg_dump: ") for line in output.splitlines() if "error:" in line]
    reason = lines[0].removeprefix("error: ") if lines else "it gave no reason"
    advice = ""
    if "permission denied" in output:
        advice = " Set ALIGNMENTER_BACKUP_DATABASE_URL to a role that may read everything."
    if "out of shared memory" in output:
        advice = " Set max_locks_per_transaction = 1024 on the database server, and restart it."
    return f"pg_dump can't read the database: {reason.rstrip('.')}.{advice}"


@contextmanager
def _explain_refusals() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege:
        raise UserError(
            "The database role may not read all tables. Set ALIGNMENTER_BACKUP_DATABASE_URL to a "
            "role that may."
        ) from None


def describe_backup(facts: dict[str, Any]) -> str:
    return (
        f"{facts['file']}: {format_count(facts['bytes'], 'byte')}, SHA-256 {facts['sha256']}, "
        f"{format_count(facts['files'], 'stored file')}"
    )
