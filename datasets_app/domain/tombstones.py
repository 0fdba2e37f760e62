"""Digests by which an erased session is recognized: keyed, so that they tell nothing to others."""

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable

from datasets_app.domain.pii.session_ids import hash_session_id

# Shorter conversations, such as "Hello?", aren't evidence: many people write the same.
MIN_CONTENT_CHARACTERS = 40
_ID, _CONTENT, _DATASET = b"tombstone id\0", b"tombstone content\0", b"tombstone dataset\0"


def digest_ids(session_id: str, dataset_name: str, key: bytes) -> tuple[str, ...]:
    """The digests of an id, taken as a raw id and as a hashed one, within one dataset and everywhere ("")."""
    forms = (hash_session_id(session_id, key), session_id)
    return tuple(_digest_id(form, scope, key) for form in forms for scope in (dataset_name, ""))


def digest_erased_id(session_id: str, scope: str, key: bytes, *, id_hashed: bool) -> str:
    """The digest to store; ``scope`` is the name of a dataset, or "" for all."""
    return _digest_id(session_id if id_hashed else hash_session_id(session_id, key), scope, key)


def digest_content(turns: Iterable[tuple[str, str]], key: bytes) -> str | None:
    """The digest of (role, text) of all turns, ignoring spacing and case; None for short conversations."""
    digest, length = hashlib.sha256(), 0
    for role, text in turns:
        normalized = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
        length += len(normalized)
        digest.update(f"{role}\0{normalized}\0".encode("utf-8", "surrogatepass"))
    if length < MIN_CONTENT_CHARACTERS:
        return None
    return hmac.new(key, _CONTENT + digest.digest(), "sha256").hexdigest()


def digest_dataset(name: str, key: bytes) -> str:
    """The digest of a deleted dataset. Its name is not given to another one."""
    return hmac.new(key, _DATASET + name.encode(), "sha256").hexdigest()


def _digest_id(canonical: str, scope: str, key: bytes) -> str:
    message = _ID + scope.encode() + b"\0" + canonical.encode("utf-8", "surrogatepass")
    return hmac.new(key, message, "sha256").hexdigest()
