"""Refuses work for which the disk has no room, before it starts.

The disk is that of ``var``, which holds the embedded database and temporary files. How full the disk of
another database server is, the application can't ask.
"""

import errno
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.conf import settings
from django.db import OperationalError, connection
from django.template.defaultfilters import filesizeformat

from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_value

# Rows and their indexes take this many times the bytes of the file; so does what a file unpacks to.
STORED_FACTOR = 4
UNPACKED_FACTOR = 8
# New versions of the rows, and the tables as they are rewritten without the old ones.
REWRITE_FACTOR = 2
# PostgreSQL's code for it.
_DISK_FULL = "53100"


def is_disk_full(error: BaseException | None) -> bool:
    """Whether there was no room left, or no more than a quota or limit allows."""
    if isinstance(error, OperationalError):
        return getattr(error.__cause__, "sqlstate", None) == _DISK_FULL
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def has_embedded_database() -> bool:
    return "EMBEDDED_VAR_DIR" in connection.settings_dict


def measure_room(folder: Path | str | None = None) -> int:
    """Free bytes on the disk of ``folder``, or of ``var``, without ALIGNMENTER_MIN_FREE_BYTES."""
    return max(0, shutil.disk_usage(folder or settings.VAR_DIR).free - settings.MIN_FREE_BYTES)


def describe_shortage(work: str, needed: int, room: int) -> str:
    return (
        f"{work} needs about {filesizeformat(needed)} of disk space, and {filesizeformat(room)} is free "
        f"besides the reserve of {filesizeformat(settings.MIN_FREE_BYTES)}."
    )


def require_room_for_files(paths: Iterable[Path]) -> None:
    """For an import: files may be sorted on disk, and become rows. Raises :class:`UserError`."""
    unpacked = sum(
        path.stat().st_size * (UNPACKED_FACTOR if path.suffix == ".gz" else 1)
        for path in paths
        if path.is_file()
    )
    _require_room("This import", unpacked * (STORED_FACTOR if has_embedded_database() else 1))


def require_room_to_rewrite(tables: Sequence[str]) -> None:
    """For a scrub. Raises :class:`UserError`."""
    if has_embedded_database():
        size = fetch_value(
            "SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0) FROM unnest(%s::text[]) name",
            [list(tables)],
        )
        _require_room("This scrub", int(size) * REWRITE_FACTOR)


def _require_room(work: str, needed: int) -> None:
    room = measure_room()
    if needed > room:
        raise UserError(
            f"{describe_shortage(work, needed, room)} Nothing was changed. Free disk space, or ask an "
            "administrator, and start it again."
        )
