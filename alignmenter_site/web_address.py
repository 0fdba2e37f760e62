"""Addresses that people enter."""

from urllib.parse import SplitResult, urlsplit


def split_address(text: str) -> SplitResult | None:
    """The parts of an http or https address without a user and a password; None if it isn't one. Never repeat
    such a text: it may be wrong because it contains a password."""
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        return None
    return parts if is_valid and "@" not in parts.netloc else None
