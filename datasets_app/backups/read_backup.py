"""Reads a stored backup: to verify it, and before anything of it is restored."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from datasets_app.backups import places
from datasets_app.backups.archive import Handlers, read_archive
from datasets_app.backups.manifest import is_signed
from datasets_app.backups.streams import decrypt_from
from datasets_app.core.errors import UserError


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
    if not place.startswith(places.BUCKET_SCHEME) and not Path(place).is_file():
        raise UserError(f"There is no file {place}.")
    with places.open_place(place) as source, decrypt_from(source, identities) as stream:
        return read_archive(stream, handlers, is_signed)
