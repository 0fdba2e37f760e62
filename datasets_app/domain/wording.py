"""Words that pages, commands and documents share."""

MAX_REASON_CHARACTERS = 500


def normalize_reason(text: str) -> str:
    """``text`` on one line, as the audit log keeps it."""
    return " ".join(text.split())


def format_count(count: int, singular: str, plural: str | None = None) -> str:
    """``1 session``, ``1,200 sessions``; give the ``plural`` where it takes more than an "s"."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


# Characters shown of a digest.
HASH_CHARACTERS = 8
_HASH_DIGITS = frozenset("0123456789abcdef")


def is_hash(value: object) -> bool:
    """Whether a text is a hexadecimal digest, as the ids of scrubbed sessions are."""
    return isinstance(value, str) and len(value) >= 32 and not set(value) - _HASH_DIGITS


def shorten_hash(text: str) -> str:
    """The start of a digest; other text as it is."""
    return f"{text[:HASH_CHARACTERS]}…" if is_hash(text) else text
