"""Stored files that rows of a snapshot name: into a backup, and out of it."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from uuid import uuid4

from django.apps import apps
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import models
from psycopg import sql

from datasets_app.backups.archive import BLOCK_BYTES, ArchiveWriter
from datasets_app.backups.clients import Snapshot


def write_files(
    archive: ArchiveWriter, snapshot: Snapshot, report_progress: Callable[[int], None]
) -> dict[str, Any]:
    """Stored files never change, and are stored before a row names them: those that the snapshot names can
    only have been deleted since.

    Returns for the list of contents the names of ``deleted`` ones, which no row names any more, and how many
    are ``missing``, although a row still names them, or ``changed``: they differ from their row's digest.
    """
    deleted: list[str] = []
    missing = changed = 0
    for field in list_file_fields():
        for name, sha256 in _list_names(snapshot, field):
            try:
                with default_storage.open(name, "rb") as file:
                    found = archive.write_file(name, file.size, file)
                    report_progress(file.size)
            except FileNotFoundError:
                if field.model._default_manager.filter(**{field.name: name}).exists():
                    missing += 1
                else:
                    deleted.append(name)
            else:
                changed += bool(sha256) and sha256 != found
    return {"deleted": deleted, "missing": missing, "changed": changed}


def list_file_fields() -> list[models.FileField]:
    return [
        field
        for model in apps.get_models()
        for field in model._meta.local_fields
        if isinstance(field, models.FileField)
    ]


def _list_names(snapshot: Snapshot, field: models.FileField) -> Iterator[tuple[str, str]]:
    """(name, SHA-256 or nothing) of each file that a row names."""
    has_digest = any(other.name == "sha256" for other in field.model._meta.local_fields)
    column = sql.Identifier(field.column)
    query = sql.SQL("SELECT {}, {} FROM {} WHERE {} <> '' ORDER BY id").format(
        column,
        sql.Identifier("sha256") if has_digest else sql.Literal(""),
        sql.Identifier(snapshot.schema, field.model._meta.db_table),
        column,
    )
    with snapshot.session.cursor(name=f"files_{field.model._meta.model_name}") as cursor:
        yield from cursor.execute(query)


class FileRestorer:
    """Stores the files of a backup under their names. Nothing that is stored is changed before
    :meth:`finish`, and :meth:`undo` removes what was added."""

    def __init__(self) -> None:
        self._added: list[str] = []
        self._replacements: list[tuple[str, str]] = []

    def store(self, name: str, content: BinaryIO) -> None:
        with _seekable(content) as file:
            if not default_storage.exists(name):
                self._added.append(default_storage.save(name, file))
            elif _hash(file) != _hash_stored(name):
                other = default_storage.save(f"restored/{uuid4().hex}", file)
                self._added.append(other)
                self._replacements.append((name, other))

    def undo(self) -> None:
        for name in self._added:
            default_storage.delete(name)

    def finish(self) -> None:
        """Replace what was stored under a name of the backup with another content."""
        for name, other in self._replacements:
            default_storage.delete(name)
            with default_storage.open(other, "rb") as file:
                default_storage.save(name, file)
            default_storage.delete(other)


def clear_names(names: list[str]) -> None:
    """Rows that name files which the application had deleted while the backup was made, as after that."""
    for field in list_file_fields():
        named = field.model._default_manager.filter(**{f"{field.name}__in": names})
        named.update(**{field.name: ""})


@contextmanager
def _seekable(content: BinaryIO) -> Iterator["File[bytes]"]:
    """A copy of a stream, as storages read their files more than once."""
    with tempfile.SpooledTemporaryFile(BLOCK_BYTES) as copy:
        shutil.copyfileobj(content, copy, BLOCK_BYTES)
        copy.seek(0)
        yield File(copy, "file")


def _hash_stored(name: str) -> str:
    with default_storage.open(name, "rb") as file:
        return _hash(file)


def _hash(file: "File[bytes]") -> str:
    digest = hashlib.file_digest(file, "sha256")
    file.seek(0)
    return digest.hexdigest()
