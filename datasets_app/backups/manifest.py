"""What a backup says about the installation that made it, and whether it fits this one."""

import hmac
from typing import Any

from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from alignmenter_site.keys import release_key
from alignmenter_site.keys.hash_key import hash_key
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_column, fetch_value
from datasets_app.domain.pii.session_ids import fingerprint_key
from datasets_app.domain.wording import format_count

FORMAT = 1


def build_manifest(schema: str) -> dict[str, Any]:
    migrations = fetch_column("SELECT app || '.' || name FROM django_migrations ORDER BY 1")
    version = fetch_value("SELECT current_setting('server_version')")
    return {
        "format": FORMAT,
        "created_at": timezone.now().isoformat(),
        "postgresql": version,
        "schema": schema,
        "migrations": migrations,
        "keys": key_fingerprints(),
    }


def key_fingerprints() -> dict[str, str]:
    """They tell nothing about the keys, which have at least 32 random characters."""
    return {
        "hash_key": fingerprint_key(hash_key()),
        "release_key": release_key.fingerprint(release_key.public_key()),
        "secret_key": hmac.new(settings.SECRET_KEY.encode(), b"backup", "sha256").hexdigest()[:8],
    }


def check_manifest(manifest: dict[str, Any]) -> None:
    """Raises :class:`UserError` if this version can't restore the backup, or couldn't recognize in it what
    was erased since."""
    if manifest.get("format") != FORMAT:
        raise UserError("A later version of the application made this backup. Install that version first.")
    on_disk = MigrationLoader(None).disk_migrations
    known = {f"{app}.{name}" for key, one in on_disk.items() for app, name in (key, *one.replaces)}
    if unknown := sorted(set(manifest["migrations"]) - known):
        raise UserError(
            f"A later version of the application made this backup: this one doesn't have "
            f"{format_count(len(unknown), 'migration')} of it, such as {unknown[0]}. Install that "
            f"version first."
        )
    if manifest["keys"]["hash_key"] != key_fingerprints()["hash_key"]:
        raise UserError(
            "The key for session ids differs from the one of the installation that made this backup, so what "
            "was erased since could not be recognized. Put that key in place (var/hash_key or "
            "ALIGNMENTER_HASH_KEY) and restore again."
        )


def sign(document: bytes) -> bytes:
    return release_key.sign(b"backup\n" + document)


def is_signed(document: bytes, signature: bytes) -> bool:
    keys = [release_key.public_key(), *release_key.former_keys()]
    return any(release_key.is_valid_signature(b"backup\n" + document, signature, key) for key in keys)
