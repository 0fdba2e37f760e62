"""The copy of all tombstones outside the database: the file ``erasures`` under var.

A line adds a digest, or lifts one that an override brought back; the last line of a digest counts.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from datasets_app.core.append_file import append_text
from datasets_app.core.errors import UserError
from datasets_app.models import Tombstone


def erasures_path() -> Path:
    return Path(settings.VAR_DIR) / "erasures"


def append(tombstones: Iterable[Tombstone]) -> None:
    _append_lines({"digest": row.digest, "erased_at": row.erased_at.isoformat()} for row in tombstones)


def append_lifted(digests: Iterable[str]) -> None:
    _append_lines({"digest": digest, "lifted": True} for digest in digests)


def read(path: Path | None = None) -> dict[str, datetime]:
    """Digest → when it was erased. Raises UserError if a line can't be read."""
    path = path or erasures_path()
    known: dict[str, datetime] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if entry.get("lifted"):
                known.pop(entry["digest"], None)
            else:
                known[entry["digest"]] = datetime.fromisoformat(entry["erased_at"])
        except (ValueError, KeyError, AttributeError, TypeError):
            raise UserError(
                f"Line {number} of {path.name} can't be read; restore the file from a copy."
            ) from None
    return known


def append_missing() -> int:
    """Add the tombstones of the database that the file lacks; returns how many."""
    known = read()
    missing = [row for row in Tombstone.objects.order_by("erased_at") if row.digest not in known]
    append(missing)
    return len(missing)


def list_missing_in_database(known: dict[str, datetime]) -> list[Tombstone]:
    """As after restoring a backup that is older than an erasure."""
    stored = set(Tombstone.objects.values_list("digest", flat=True))
    return [
        Tombstone(digest=digest, erased_at=erased_at)
        for digest, erased_at in known.items()
        if digest not in stored
    ]


def _append_lines(entries: Iterable[dict[str, Any]]) -> None:
    if text := "".join(json.dumps(entry) + "\n" for entry in entries):
        append_text(erasures_path(), text)
