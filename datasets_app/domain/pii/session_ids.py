"""Session ids as keyed hashes: the same id gives the same hash, and no one guesses it back.

Without the key a hash tells nothing, however few ids there may be; so the key is never written anywhere
beside the hashes. Which key it was is told by its fingerprint.
"""

import hmac
import re
from collections.abc import Iterable

FINGERPRINT_CHARACTERS = 8
# No session id holds a NUL, so a fingerprint is never part of the hash of an id.
_FINGERPRINT_OF = b"\0fingerprint"
_KEY_STATEMENT = "session ids hashed with the key of fingerprint "
_HASH = re.compile(r"[0-9a-f]{64}")


def hash_session_id(session_id: str, key: bytes) -> str:
    """HMAC-SHA-256 of the id's UTF-8 under ``key``, in hex: 64 characters."""
    return hmac.digest(key, session_id.encode("utf-8", "surrogatepass"), "sha256").hex()


def is_hashed_id(session_id: str) -> bool:
    return _HASH.fullmatch(session_id) is not None


def places_of(hashed_id: str, text: str) -> list[tuple[int, int]]:
    """Where ``text`` repeats the hashed id of its session as a word."""
    if hashed_id not in text:
        return []
    return [match.span() for match in re.finditer(rf"(?<!\w){hashed_id}(?!\w)", text)]


def fingerprint_key(key: bytes) -> str:
    """Eight hex characters that tell keys apart and give nothing away of them."""
    return hmac.new(key, _FINGERPRINT_OF, "sha256").hexdigest()[:FINGERPRINT_CHARACTERS]


def format_key_statement(key: bytes) -> str:
    """How a metadata file's ``anonymization`` says which key the ids were hashed with."""
    return format_fingerprint_statement(fingerprint_key(key))


def format_fingerprint_statement(fingerprint: str) -> str:
    return f"{_KEY_STATEMENT}{fingerprint}"


def is_key_statement(text: str) -> bool:
    return text.startswith(_KEY_STATEMENT)


def is_key_stated(key: bytes, anonymization: Iterable[str]) -> bool:
    """Whether ``anonymization`` says that the ids were hashed with this very key."""
    return format_key_statement(key) in anonymization
