"""Keys of backups, in the format of age: public keys (recipients) encrypt, key files (identities) decrypt.

A server that makes backups needs public keys only, so it can't read its own backups.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyrage

from datasets_app.core.atomic_files import create_private
from datasets_app.core.errors import UserError

_AGE_HEADER = b"age-encryption.org/v1"


def create_key_file(path: Path, passphrase: str = "") -> str:
    """Write a new key to ``path``, encrypted if there is a passphrase; returns its public key."""
    identity = pyrage.x25519.Identity.generate()
    public = str(identity.to_public())
    content = f"# public key: {public}\n{identity}\n".encode()
    if passphrase:
        content = pyrage.passphrase.encrypt(content, passphrase)
    try:
        with create_private(path) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise UserError(f"{path} exists already; keys are never overwritten. Name another file.") from None
    return public


def read_recipients(texts: Iterable[str]) -> list[Any]:
    """Raises :class:`UserError` if there is none, or one that isn't a public key."""
    recipients = []
    for number, text in enumerate(texts, 1):
        try:
            recipients.append(pyrage.x25519.Recipient.from_str(text.strip()))
        except pyrage.RecipientError:
            raise UserError(
                f"Recipient {number} is not a public key: it must begin with age1. "
                "`manage.py backup --new-key FILE` makes a key and prints its public key."
            ) from None
    if not recipients:
        raise UserError(
            "Backups are always encrypted, and no public key is configured. Make a key with "
            "`manage.py backup --new-key FILE`, keep the file elsewhere, and set "
            "ALIGNMENTER_BACKUP_RECIPIENTS "
            "to the public key that this prints, or pass it with --recipient."
        )
    return recipients


def read_identities(path: Path, passphrase: str = "") -> list[Any]:
    """The keys in a file. Raises :class:`UserError`, which never quotes the file."""
    content = path.read_bytes()
    if content.startswith(_AGE_HEADER):
        content = _decrypt_key_file(content, path, passphrase)
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    try:
        identities = [
            pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")
        ]
    except pyrage.IdentityError:
        identities = []
    if not identities:
        raise UserError(f"{path} is not a key file: it must contain a line AGE-SECRET-KEY-1…")
    return identities


def _decrypt_key_file(content: bytes, path: Path, passphrase: str) -> bytes:
    if not passphrase:
        raise UserError(f"{path} is protected by a passphrase. Pass the file with it: --passphrase-file FILE")
    try:
        decrypted: bytes = pyrage.passphrase.decrypt(content, passphrase)
    except pyrage.DecryptError:
        raise UserError(f"The passphrase does not open {path}. Pass the file with the right one.") from None
    return decrypted


def read_passphrase(path: Path) -> str:
    """The first line of a file. Raises :class:`UserError` if it is empty."""
    passphrase = (path.read_text(encoding="utf-8").splitlines() or [""])[0].strip()
    if not passphrase:
        raise UserError(f"The first line of {path} is empty; it must be the passphrase.")
    return passphrase
